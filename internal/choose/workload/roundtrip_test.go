package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRoundTrip writes every good file and example out and reads it back.
func TestRoundTrip(t *testing.T) {
	files := fixtures(t, "*.good.yaml")
	for _, k := range Kinds() {
		files["testdata/"+string(k)+".yaml"] = Example(k, "en")
	}
	for path, data := range files {
		w, err := Parse(path, data, oneFile, fakeFacts())
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		checkRoundTrip(t, path, w)
	}
}

func checkRoundTrip(t interface {
	Helper()
	Fatalf(string, ...any)
}, path string, w *Workload) {
	t.Helper()
	out, err := Marshal(w)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	back, err := Parse(path, out, oneFile, fakeFacts())
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, out)
	}
	if diff := cmp.Diff(w, back, same); diff != "" {
		t.Fatalf("%s (-first +back):\n%s\n%s", path, diff, out)
	}
}
