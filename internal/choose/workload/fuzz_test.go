package workload

import "testing"

// FuzzParse: no input panics or hangs, and what is read is written and read back alike.
func FuzzParse(f *testing.F) {
	for _, data := range fixtures(f, "*.yaml") {
		f.Add(data)
	}
	for _, k := range Kinds() {
		f.Add(Example(k, "en"))
		f.Add(Example(k, "zh"))
	}
	facts := fakeFacts()
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := Parse("w.yaml", data, oneFile, facts)
		if err != nil {
			checkFaults(t, err)
			return
		}
		checkRoundTrip(t, "w.yaml", w)
	})
}

func BenchmarkParse(b *testing.B) {
	files := map[string][]byte{"finetune": Example(Finetune, "en"), "serve": Example(Serve, "en")}
	for path, data := range fixtures(b, "limits.good.yaml") {
		files[path] = data
	}
	facts := fakeFacts()
	for name, data := range files {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := Parse("w.yaml", data, oneFile, facts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseFaults(b *testing.B) {
	facts := fakeFacts()
	for path, data := range fixtures(b, "contradictions.bad.yaml") {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse("w.yaml", data, oneFile, facts); err == nil {
					b.Fatal("no fault")
				}
			}
		})
	}
}
