package plan

import (
	"strings"

	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/software"
)

// fitness is what the software asked for makes of a chip: the first refusal, the first thing of which nothing is known, and what
// runs in general but is not confirmed for the versions asked for.
type fitness struct {
	refusal, blank *software.Verdict
	open           []software.Verdict
}

// softwareOn asks once per chip whether the stack, framework and needs of the workload run there.
func (s *search) softwareOn(a *accelerator.Accelerator) *fitness {
	if f := s.fitness[a]; f != nil {
		return f
	}
	want, f := s.Workload.Software, &fitness{}
	s.fitness[a] = f
	if want.Stack == "" && want.Framework == "" {
		want.Stack = s.portedFrom()
	}
	take := func(v software.Verdict) {
		switch {
		case v.Known && !v.OK && f.refusal == nil:
			f.refusal = &v
		case v.Reason == software.NoData || v.Reason == software.UnknownTarget:
			if f.blank == nil {
				f.blank = &v
			}
		case !v.Known:
			f.open = append(f.open, v)
		}
	}
	if want.Stack != "" && !strings.EqualFold(want.Stack, a.Stack) {
		take(software.Verdict{Known: a.Stack != "", Reason: software.WrongStack, Args: Args{"Name": want.Stack, "Stack": a.Stack, "Want": want.Stack}})
	}
	if want.Framework == "" && s.gguf() {
		want.Framework = "llama.cpp" // whose format it is; a framework that is named decides for itself
	}
	if want.Framework != "" {
		take(s.Software.Supports(want.Framework, want.Version, a))
	}
	for _, need := range append(s.impliedNeeds(a), want.Needs...) {
		take(s.Software.SupportsNeed(need, a))
	}
	return f
}

// portedFrom is the software stack of the device that the work was measured on: what runs there is not taken to run on another
// stack unless the workload names a framework or a stack that says so.
func (s *search) portedFrom() string {
	var on *accelerator.Accelerator
	switch w := s.Workload; {
	case w.Render != nil:
		on = w.Render.On.Device
	case w.Sim != nil:
		on = w.Sim.On.Device
	case w.Custom != nil:
		on = w.Custom.On.Device
	}
	if on == nil {
		return ""
	}
	return on.Stack
}

// impliedNeeds is the software that a method or a format of weights cannot do without, whoever runs it: its kernels were written for
// some chips only. What a chip can hold it cannot for that reason run.
func (s *search) impliedNeeds(a *accelerator.Accelerator) []string {
	w := s.Workload
	if w.Kind == workload.Finetune && w.Method == workload.QLoRA {
		return []string{"bitsandbytes"}
	}
	if w.Kind != workload.Serve && w.Kind != workload.BatchInfer {
		return nil
	}
	switch w.Format {
	case "awq", "gptq":
		return []string{string(w.Format)}
	case "nf4":
		return []string{"bitsandbytes"}
	case "fp8":
		if !a.Peak[accelerator.FP8].Known() {
			return []string{"marlin"} // widened to 16 bit while it multiplies
		}
	case "nvfp4":
		return []string{"cuda"} // older chips of the maker unpack it; nobody else's do
	}
	return nil
}

// gguf says that the weights are held in a format of GGUF files.
func (s *search) gguf() bool {
	f, w := string(s.Workload.Format), s.Workload.Kind
	return (w == workload.Serve || w == workload.BatchInfer) && len(f) > 1 && f[0] == 'q' && f[1] >= '2' && f[1] <= '8'
}

func (s *search) softwareLimits() []limit {
	return []limit{func(o *catalog.Offer, _ *place) (miss, bool) {
		f := s.softwareOn(o.Accelerator)
		switch {
		case f.refusal != nil:
			return miss{reason: BySoftware, because: &Warning{f.refusal.Reason, f.refusal.Args}}, false
		case f.blank != nil:
			return miss{reason: BySoftwareUnknown, because: &Warning{f.blank.Reason, f.blank.Args}}, false
		}
		return miss{}, true
	}}
}

func (s *search) softwareWarnings(o *catalog.Offer) (ws []Warning) {
	for _, v := range s.softwareOn(o.Accelerator).open {
		ws = append(ws, Warning{v.Reason, v.Args})
	}
	if d := s.Workload.Software.Driver; d != "" {
		ws = append(ws, Warning{"driver_to_check", Args{"Driver": s.newerDriver(d, o.Accelerator)}})
	}
	return ws
}

// unnamedStack says that nothing in the workload names its software, and that the chip runs another stack than most code is
// written for.
func (s *search) unnamedStack(o *catalog.Offer) bool {
	want := s.Workload.Software
	return s.Workload.Model != nil && want.Stack == "" && want.Framework == "" && len(want.Needs) == 0 &&
		o.Accelerator.Stack != "" && o.Accelerator.Stack != "CUDA"
}

// newerDriver is the later of the driver that the image needs and the one that came with the first toolkit to know the chip. No provider's list says
// which driver a machine comes with, so it can only be told to be checked.
func (s *search) newerDriver(image string, a *accelerator.Accelerator) string {
	chip, known := s.Software.MinDriver(a.MinToolkit)
	want, err := software.ParseVersion(image)
	least, errChip := software.ParseVersion(chip.Bundled)
	if a.Stack != "CUDA" || !known || err != nil || errChip != nil || least.Compare(want) <= 0 {
		return image
	}
	return chip.Bundled
}
