package software_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/software"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// chips by the little that decides: stack, target and least toolkit.
var (
	k80    = &accelerator.Accelerator{Name: "K80", Stack: "CUDA", Compute: "3.7", MinToolkit: "6.5"}
	p100   = &accelerator.Accelerator{Name: "P100", Stack: "CUDA", Compute: "6.0", MinToolkit: "8.0"}
	v100   = &accelerator.Accelerator{Name: "V100", Stack: "CUDA", Compute: "7.0", MinToolkit: "9.0"}
	t4     = &accelerator.Accelerator{Name: "T4", Stack: "CUDA", Compute: "7.5", MinToolkit: "10.0"}
	a100   = &accelerator.Accelerator{Name: "A100", Stack: "CUDA", Compute: "8.0", MinToolkit: "11.0"}
	l4     = &accelerator.Accelerator{Name: "L4", Stack: "CUDA", Compute: "8.9", MinToolkit: "11.8"}
	h100   = &accelerator.Accelerator{Name: "H100", Stack: "CUDA", Compute: "9.0", MinToolkit: "11.8"}
	b200   = &accelerator.Accelerator{Name: "B200", Stack: "CUDA", Compute: "10.0", MinToolkit: "12.8"}
	b300   = &accelerator.Accelerator{Name: "B300", Stack: "CUDA", Compute: "10.3", MinToolkit: "12.9"}
	rubin  = &accelerator.Accelerator{Name: "Rubin", Stack: "CUDA"}
	mi300  = &accelerator.Accelerator{Name: "MI300X", Stack: "ROCm", Compute: "gfx942", MinToolkit: "6.0"}
	mi355  = &accelerator.Accelerator{Name: "MI355X", Stack: "ROCm", Compute: "gfx950", MinToolkit: "7.0"}
	v620   = &accelerator.Accelerator{Name: "V620", Stack: "ROCm", Compute: "gfx1030", MinToolkit: "5.2"}
	tpu    = &accelerator.Accelerator{Name: "TPU-v5e", Stack: "JAX/XLA"}
	trn2   = &accelerator.Accelerator{Name: "Trainium2", Stack: "Neuron"}
	ascend = &accelerator.Accelerator{Name: "Ascend-910B", Stack: "CANN"}
	biren  = &accelerator.Accelerator{Name: "BR100", Stack: "BIRENSUPA"}
	noname = &accelerator.Accelerator{Name: "mystery"}
)

func TestSupports(t *testing.T) {
	for _, c := range []struct {
		framework, constraint string
		chip                  *accelerator.Accelerator
		ok, known             bool
		reason                string
	}{
		{"pytorch", "", h100, true, true, ""},
		{"torch", ">=2.6", a100, true, true, ""},
		{"pytorch", ">=2.6", b200, true, true, ""},
		{"pytorch", "==2.5.1", b200, false, true, software.ToolkitTooOld}, // wheels up to CUDA 12.4
		{"pytorch", "<2.7", b200, false, true, software.ToolkitTooOld},
		{"pytorch", "==2.7.1", b200, true, true, ""},                      // cu128
		{"pytorch", "==2.7.1", b300, false, true, software.ToolkitTooOld}, // needs 12.9
		{"pytorch", "==2.8.0", b300, true, true, ""},                      // sm_100 code in cu129 runs on 10.3
		{"pytorch", "==2.8.0", p100, true, true, ""},                      // cu126 still has sm_60
		{"pytorch", "==2.8.0", l4, true, true, ""},                        // sm_86 code runs on 8.9
		{"pytorch", "==2.13.0", v100, true, true, ""},                     // the 12.6 binary
		{"pytorch", ">=99", h100, false, false, software.UnknownVersion},
		{"pytorch", "==2.0.1", k80, false, false, software.Unconfirmed},
		{"pytorch", "", rubin, false, false, software.UnknownTarget},
		{"pytorch", "", noname, false, false, software.UnknownTarget},
		{"pytorch", "nonsense", h100, false, false, software.UnknownVersion},
		{"pytorch", "", mi300, true, true, ""},
		{"pytorch", "", mi355, true, true, ""},
		{"pytorch", "==2.9.1", mi355, false, true, software.ToolkitTooOld}, // ROCm 6.4
		{"pytorch", "==2.7.1", mi300, true, true, ""},                      // ROCm 6.3
		{"pytorch", "==2.5.1", mi300, false, false, software.UnknownVersion},
		{"pytorch", "", tpu, true, true, ""},
		{"pytorch", ">=2.6", trn2, false, false, software.Unconfirmed},
		{"pytorch", "", ascend, true, true, ""},
		{"pytorch", "", biren, false, false, software.NoData},
		{"tensorflow", "==2.15.0", h100, true, true, ""},
		{"tensorflow", "==2.4.0", h100, false, false, software.Unconfirmed}, // may compile on the spot
		{"tf", ">=2.18", b200, false, false, software.Unconfirmed},
		{"vllm", "", v100, true, true, ""},
		{"vllm", ">=0.6", p100, false, true, software.ChipTooOld},
		{"vllm", ">=0.6", h100, true, true, ""},
		{"vllm", ">=0.6", b200, false, false, software.Unconfirmed},
		{"vllm", "", mi300, true, true, ""},
		{"vllm", "", v620, false, true, software.WrongChip},
		{"tensorrt-llm", "", t4, false, true, software.ChipTooOld},
		{"TRT-LLM", ">=0.19", h100, true, true, ""},
		{"tensorrt-llm", "", mi300, false, true, software.WrongStack},
		{"tensorrt-llm", "", tpu, false, true, software.WrongStack},
		{"sglang", "", v100, false, false, software.Unverified}, // an unverified row may warn, not reject
		{"jax", "", tpu, true, true, ""},
		{"blender", ">=5.0", mi300, false, true, software.WrongChip}, // HIP on RDNA only
		{"blender", "", v620, true, true, ""},
		{"no such thing", "", h100, false, false, software.NoData},
	} {
		v := software.Embedded().Supports(c.framework, c.constraint, c.chip)
		if v.OK != c.ok || v.Known != c.known || v.Reason != c.reason {
			t.Errorf("%s %s on %s: %+v; want ok %v, known %v, %q", c.framework, c.constraint, c.chip.Name, v, c.ok, c.known, c.reason)
		}
	}
}

func TestSupportsNeed(t *testing.T) {
	for _, c := range []struct {
		need      string
		chip      *accelerator.Accelerator
		ok, known bool
		reason    string
	}{
		{"flash-attention", a100, true, true, ""}, {"flash-attn", t4, false, true, software.ChipTooOld},
		{"flash-attention-2", mi300, true, true, ""}, {"flash-attention", v620, false, true, software.WrongChip},
		{"flash-attention", tpu, false, false, software.NoData},
		{"flash-attention-3", h100, true, true, ""}, {"fa3", a100, false, true, software.WrongChip},
		{"flash-attention-3", b200, false, true, software.WrongChip}, {"fa3", mi300, false, true, software.WrongStack},
		{"fp8", h100, true, true, ""}, {"fp8", l4, true, true, ""}, {"fp8", a100, false, true, software.ChipTooOld}, {"fp8", mi300, true, true, ""},
		{"nvfp4", b200, true, true, ""}, {"nvfp4", h100, false, true, software.WrongChip},
		{"bf16", t4, false, true, software.ChipTooOld}, {"bf16", a100, true, true, ""},
		{"cuda", a100, true, true, ""}, {"cuda", mi300, false, true, software.WrongStack},
		{"tensor-cores", p100, false, true, software.ChipTooOld},
		{"unheard-of", h100, false, false, software.NoData},
	} {
		v := software.Embedded().SupportsNeed(c.need, c.chip)
		if v.OK != c.ok || v.Known != c.known || v.Reason != c.reason {
			t.Errorf("%s on %s: %+v; want ok %v, known %v, %q", c.need, c.chip.Name, v, c.ok, c.known, c.reason)
		}
	}
}

func TestMinDriver(t *testing.T) {
	for cuda, want := range map[string][2]string{
		"12.4": {"550.54.14", "525.60.13"}, "12.4.1": {"550.54.14", "525.60.13"}, "12.7": {"", "525.60.13"},
		"13.0": {"580.65.06", "580"}, "11.8": {"520.61.05", "450.80.02"}, "9.0": {"384.81", ""}, "13.2": {"", "580"},
	} {
		d, ok := software.Embedded().MinDriver(cuda)
		if !ok || d.Bundled != want[0] || d.Floor != want[1] || d.Source == "" {
			t.Errorf("CUDA %s: %+v", cuda, d)
		}
	}
	for _, cuda := range []string{"", "7.5", "99.0", "twelve"} {
		if d, ok := software.Embedded().MinDriver(cuda); ok {
			t.Errorf("CUDA %q: %+v", cuda, d)
		}
	}
}

func TestFind(t *testing.T) {
	table := software.Embedded()
	for text, want := range map[string]string{"PyTorch": "pytorch", "torch": "pytorch", "TensorRT-LLM": "tensorrt-llm", "tf": "tensorflow", "飞桨": "paddlepaddle", "Blender": "blender-cycles"} {
		if got, err := table.FindFramework(text); err != nil || got != want {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	_, err := table.FindFramework("pytroch")
	var e *problem.Error
	if !errors.As(err, &e) || e.Code != "software.unknown_framework" || !slices.Contains(e.Suggest, "pytorch") {
		t.Errorf("%v", err)
	}
	_, err = table.FindNeed("flash-atention")
	if !errors.As(err, &e) || e.Code != "software.unknown_need" || !slices.Contains(e.Suggest, "flash-attention") {
		t.Errorf("%v", err)
	}
	if !slices.Contains(table.KnownNeeds(), "flash-attention") || !slices.Contains(table.Frameworks(), "vllm") {
		t.Error("a need or framework is not listed")
	}
}

// Every real chip gets an answer to every question, and a refusal always has its reason and source.
func TestEveryChipGetsAnAnswer(t *testing.T) {
	chips, err := accelerator.Load(data.FS)
	if err != nil {
		t.Fatal(err)
	}
	table := software.Embedded()
	for _, a := range chips.All() {
		var all []software.Verdict
		for _, f := range table.Frameworks() {
			all = append(all, table.Supports(f, "", a), table.Supports(f, ">=1.0,<3", a))
		}
		for _, n := range table.KnownNeeds() {
			all = append(all, table.SupportsNeed(n, a))
		}
		for _, v := range all {
			if v.OK && (!v.Known || v.Reason != "" || v.Source == "") || !v.OK && v.Reason == "" || v.Known && !v.OK && v.Source == "" {
				t.Fatalf("%s: %+v", a.Name, v)
			}
		}
	}
}

// The stacks named here are those of the chips, so that a renamed stack cannot silently become unknown.
func TestStacksAreThoseOfTheChips(t *testing.T) {
	chips, err := accelerator.Load(data.FS)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, a := range chips.All() {
		known[a.Stack] = true
	}
	table := software.Embedded()
	for _, name := range table.Frameworks() {
		for _, f := range table.Facts(software.Framework, name) {
			for _, stack := range strings.Split(f.Value, "|") {
				if f.Requirement == "stacks" && !known[stack] {
					t.Errorf("%s runs on %q, which no chip has", name, stack)
				}
			}
		}
	}
}

func TestLoadReportsAllFaults(t *testing.T) {
	const head = "kind,component,version,requirement,value,confidence,as_of,source\n"
	_, err := software.Load(fstest.MapFS{"software.csv": {Data: []byte(head +
		"framework,x,>=oops,stacks,CUDA,unverified,2026-01-01,s\n" +
		"gadget,x,,wishes,CUDA,sure,someday,s\n" +
		"need,y,,min_compute_capability,new,verified,2026-01-01,\n" +
		"need,y\n")}})
	var got []string
	for _, e := range problem.All(err) {
		got = append(got, problem.New(e.Kind, e.Code, nil).At(e.File, e.Line).Error())
	}
	want := []string{
		"software.csv:2: data.value",
		"software.csv:3: data.value", "software.csv:3: data.value", "software.csv:3: data.value", "software.csv:3: data.value",
		"software.csv:4: data.missing", "software.csv:4: data.value",
		"software.csv:5: data.cells",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// Every CUDA binary of PyTorch in the reference table is known here.
func TestWheelsAgreeWithReference(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(sharedtest.Dir(t), "truth", "frameworks.csv"))
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, f := range software.Embedded().Facts(software.Framework, "pytorch") {
		if f.Requirement == "cuda_wheels" {
			have[f.Versions.String()] = f.Value
		}
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(line, ",")
		if cells[0] != "PyTorch" || cells[2] != "cuda_wheels" {
			continue
		}
		n++
		release, _, _ := strings.Cut(cells[1], " ")
		if have["=="+release] != cells[3] {
			t.Errorf("PyTorch %s: %q, want %q", release, have["=="+release], cells[3])
		}
	}
	if n != 29 {
		t.Errorf("compared %d releases", n)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := software.Load(data.FS); err != nil {
			b.Fatal(err)
		}
	}
}
