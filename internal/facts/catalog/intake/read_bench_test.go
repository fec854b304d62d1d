package intake_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// regional is a file like a large cloud's: so many rows over a thousand types and sixty regions, one in sixty with accelerators, half with
// an unquoted list in the last column.
func regional(rows int) []byte {
	var b bytes.Buffer
	b.WriteString("InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,Generation\n")
	for i := range rows {
		generation := "V1"
		if i%2 == 0 {
			generation = "V1,V2"
		}
		kind, region := i/60, i%60
		if kind%60 == 0 {
			fmt.Fprintf(&b, "Standard_X%d_v5,A100-80GB,8,96,900,\"{'Gpus': [{'Name': 'A100-80GB', 'Manufacturer': 'NVIDIA', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 81920}}], "+
				"'TotalGpuMemoryInMiB': 655360}\",%d.5,6.25,region%d,%s\n", kind, 20+kind%7, region, generation)
			continue
		}
		fmt.Fprintf(&b, "Standard_D%d_v5,,,%d,%d,,0.%d,0.00924,region%d,%s\n", kind, 2<<(kind%6), 8<<(kind%6), 100+kind%800, region, generation)
	}
	return b.Bytes()
}

// Rows a second of a whole reading: cut, taken in, checked and folded.
func BenchmarkRead(b *testing.B) {
	text := regional(56_000)
	known, err := catalog.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	o := intake.ReadOptions{Provider: "azure", Providers: provider.Embedded(), Chips: accelerator.Embedded(), Known: known}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		in := options(known)
		if err := intake.Read("vms.csv", bytes.NewReader(text), in, o); err != nil {
			b.Fatal(err)
		}
		if r := in.Result(); r.Tally.Kept == 0 || r.Tally.Read != 56_000 {
			b.Fatalf("%+v", r.Tally)
		}
	}
	b.ReportMetric(56_000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
