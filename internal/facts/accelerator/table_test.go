package accelerator

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

func TestEmbeddedRows(t *testing.T) {
	chips := Embedded().All()
	if len(chips) < 110 {
		t.Errorf("%d chips, want at least 110", len(chips))
	}
	vendors := map[string]bool{}
	for _, a := range chips {
		vendors[a.Vendor] = true
		if got, ok := Embedded().Get(a.Name); !ok || got != a {
			t.Errorf("Get(%s) = %v, %v", a.Name, got, ok)
		}
		if a.Kind != GPU && a.MIG.Or(false) {
			t.Errorf("%s: only NVIDIA GPUs have MIG", a.Name)
		}
		if f := formWords[a.FormFactor]; a.FormFactor != "" && f == nil {
			t.Errorf("%s: nobody can write form factor %s", a.Name, a.FormFactor)
		}
		if vendorWords[a.Vendor] == nil {
			t.Errorf("%s: no words for vendor %s", a.Name, a.Vendor)
		}
	}
	for v := range vendorWords {
		if !vendors[v] {
			t.Errorf("words for vendor %s, which has no chip", v)
		}
	}
}

// An accelerator that is not a GPU must not be sold as one.
func TestKinds(t *testing.T) {
	for _, a := range Embedded().All() {
		want := a.Kind
		switch a.Vendor {
		case "Google":
			want = TPU
		case "AWS", "Huawei", "Cambricon", "Enflame", "Baidu Kunlun":
			want = NPU
		case "NVIDIA", "AMD":
			want = GPU
		}
		if strings.HasPrefix(a.Name, "Gaudi") {
			want = NPU
		}
		if a.Kind != want {
			t.Errorf("%s is a %s, want %s", a.Name, a.Kind, want)
		}
	}
}

func TestWellKnownFigures(t *testing.T) {
	tests := []struct {
		name    string
		gb, gbs float64
		p       Precision
		tflops  float64
		watts   float64
		compute string
	}{
		{"T4", 16, 320, FP16, 65, 70, "7.5"},
		{"V100-SXM2-32GB", 32, 900, FP16, 125, 300, "7.0"},
		{"A100-SXM-80GB", 80, 2039, BF16, 312, 400, "8.0"},
		{"A10G", 24, 600, BF16, 70, 300, "8.6"},
		{"L4", 24, 300, FP8, 242, 72, "8.9"},
		{"L40S", 48, 864, BF16, 362, 350, "8.9"},
		{"RTX-4090", 24, 1008, BF16, 165.2, 450, "8.9"},
		{"H100-SXM-80GB", 80, 3350, BF16, 989, 700, "9.0"},
		{"H100-PCIe-80GB", 80, 2000, BF16, 756, 350, "9.0"},
		{"H200-SXM-141GB", 141, 4800, FP8, 1979, 700, "9.0"},
		{"B200", 180, 7700, FP4, 9000, 1000, "10.0"},
		{"GB300", 279, 8000, FP4, 15000, 1400, "10.3"},
		{"RTX-PRO-6000-Blackwell-Server", 96, 1597, FP8, 935.6, 600, "12.0"},
		{"MI300X", 192, 5300, BF16, 1307.4, 750, "gfx942"},
		{"MI355X", 288, 8000, FP8, 5033.2, 1400, "gfx950"},
		{"TPU-v4", 32, 1200, BF16, 275, 192, ""},
		{"K80", 12, 240, FP32, 4.37, 150, "3.7"},
		{"RTX-3080-10GB", 10, 760, FP32, 29.8, 320, "8.6"},
	}
	for _, tt := range tests {
		a, ok := Embedded().Get(tt.name)
		if !ok {
			t.Errorf("no %s", tt.name)
			continue
		}
		got := []any{a.NominalGB.Or(0), float64(a.Bandwidth.Or(0)) / 1e9, float64(a.Peak[tt.p].Or(0)) / 1e12, float64(a.TDP.Or(0)), a.Compute}
		want := []any{tt.gb, tt.gbs, tt.tflops, tt.watts, tt.compute}
		for i := range got {
			if g, ok := got[i].(float64); ok && near(g, want[i].(float64)) {
				got[i] = want[i] // scaling by 1e12 and back is not exact
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func near(a, b float64) bool { return a-b <= 1e-6*b && b-a <= 1e-6*b }

// The matrix rate of a chip without matrix units is unknown, not its vector rate.
func TestPascalHasNoFP16(t *testing.T) {
	for _, a := range Embedded().All() {
		if (a.Arch == "Pascal" || a.Arch == "Maxwell" || a.Arch == "Kepler") && a.Peak[FP16].Known() {
			t.Errorf("%s has an fp16 rate", a.Name)
		}
	}
}

func TestLoadReportsEveryFault(t *testing.T) {
	header := strings.Join(columnNames[:], ",") + "\n"
	good := mustRead(t)[1]
	cells := strings.Split(good, ",")
	set := func(c column, v string) string {
		bad := append([]string(nil), cells...)
		bad[c] = v
		return strings.Join(bad, ",")
	}
	file := header + strings.Join([]string{
		good,
		set(colMemory, "0"),
		"short,row",
		set(colFP32, "1e3"),
		set(colKind, "xpu"),
		set(colMIGMax, "7"),
		set(colAsOf, "30.11.2026"),
		set(colSource, ""),
		set(colMIG, "maybe"),
		set(colTDP, "-5"),
		set(colYear, "20x6"),
	}, "\n") + "\n"
	_, err := Load(fstest.MapFS{File: {Data: []byte(file)}})
	var got []string
	for _, p := range problem.All(err) {
		if p.Kind != problem.Internal {
			t.Errorf("%v is not internal", p)
		}
		if p.Code != "data.duplicate" { // all rows share one name
			got = append(got, p.Error())
		}
	}
	want := []string{
		"accelerators.csv:3: data.bad_cell Column=memory_gb Reason=number Value=0",
		"accelerators.csv:4: data.bad_row Got=2 Want=43",
		"accelerators.csv:5: data.bad_cell Column=fp32 Reason=number Value=1e3",
		"accelerators.csv:6: data.bad_cell Column=kind Reason=unknown_value Value=xpu",
		"accelerators.csv:7: data.bad_cell Column=mig_max Reason=contradiction Value=7",
		"accelerators.csv:8: data.bad_cell Column=as_of Reason=date Value=30.11.2026",
		"accelerators.csv:9: data.bad_cell Column=source Reason=required Value=",
		"accelerators.csv:10: data.bad_cell Column=mig Reason=yes_no Value=maybe",
		"accelerators.csv:11: data.bad_cell Column=tdp_w Reason=number Value=-5",
		"accelerators.csv:12: data.bad_cell Column=year Reason=whole Value=20x6",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestLoadRefusesTheFile(t *testing.T) {
	lines := mustRead(t)
	tests := []struct{ name, file, want string }{
		{"empty", "", "data.unreadable"},
		{"other header", strings.Replace(lines[0], "vendor", "maker", 1), "data.bad_header"},
		{"missing column", strings.TrimSuffix(lines[0], ",notes"), "data.bad_header"},
		{"extra column", lines[0] + ",more", "data.bad_header"},
		{"broken quotes", lines[0] + "\n\"P4", "data.unreadable"},
		{"twice", lines[0] + "\n" + lines[1] + "\n" + lines[1], "data.duplicate"},
	}
	for _, tt := range tests {
		_, err := Load(fstest.MapFS{File: {Data: []byte(tt.file)}})
		if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	if _, err := Load(fstest.MapFS{}); err == nil {
		t.Error("no file, no error")
	}
}

func TestPrecisions(t *testing.T) {
	for p := range NumPrecisions {
		if want := columnNames[colFP64+column(p)]; fold(want) != fold(p.String()) {
			t.Errorf("precision %s is read from column %s", p, want)
		}
	}
	a, _ := Embedded().Get("V100-SXM2-16GB")
	if p, rate, ok := a.Best(BF16, FP16, FP32); p != FP16 || rate != 125e12 || !ok {
		t.Errorf("Best = %v %v %v, want fp16 125 TFLOPS", p, rate, ok)
	}
	if _, _, ok := a.Best(FP4); ok {
		t.Error("a V100 has no fp4")
	}
}

func TestMemoryAndHostLink(t *testing.T) {
	a, _ := Embedded().Get("H100-SXM-80GB")
	if m, ok := a.Memory(); m != 80*unit.GiB || !ok {
		t.Errorf("memory %v", m)
	}
	if r, ok := a.PCIe(); !ok || !near(float64(r), 63.008e9) {
		t.Errorf("PCIe %v", r)
	}
	b, _ := Embedded().Get("MI308X")
	if _, ok := b.Memory(); ok {
		t.Error("an unknown memory is known")
	}
}

func mustRead(t testing.TB) []string {
	t.Helper()
	b, err := data.FS.ReadFile(File)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(data.FS); err != nil {
			b.Fatal(err)
		}
	}
}

// The tables of words are not folded when read.
func TestWordsAreFolded(t *testing.T) {
	tables := [][]string{plainWords}
	for _, words := range vendorWords {
		tables = append(tables, words)
	}
	for _, words := range formWords {
		tables = append(tables, words)
	}
	for _, words := range tables {
		for _, w := range words {
			if w == "" || w != fold(w) {
				t.Errorf("%q is not folded", w)
			}
		}
	}
}

// Every command loads the table first: 3 ms is the budget, and allocations are what it is spent on, at well under
// half a microsecond each.
func TestLoadIsCheap(t *testing.T) {
	allocs := testing.AllocsPerRun(3, func() {
		if _, err := Load(data.FS); err != nil {
			t.Fatal(err)
		}
	})
	if limit := 8000.0; allocs > limit {
		t.Errorf("Load allocates %.0f times, want at most %.0f", allocs, limit)
	}
}
