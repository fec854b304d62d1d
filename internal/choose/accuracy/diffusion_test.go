package accuracy

import (
	"math"
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/diffuse"
)

const diffusionHead = "model,device,count,resolution,steps,batch,precision,engine,s_per_image,it_per_s,frames,source,notes\n"

// An image takes its steps and what is around them; a figure in steps a second leaves the rest out.
func TestDiffusionRow(t *testing.T) {
	s := read(t, diffusionHead+
		"SDXL-1.0,RTX 4090,1,1024x1024,20,1,fp16,torch.compile,2,,,a/b x.md,\n"+
		"SDXL-1.0,RTX 4090,1,1024x1024,20,1,fp16,torch.compile,,9,,a/b x.md,\n"+
		"SDXL-1.0,RTX 4090,1,1024x1024,,1,fp16,onediff,1,,,a/b x.md,\n")
	if len(s.Cases) != 3 || s.Cases[0].Measured != 0.5 || s.Cases[1].Measured != 9 || !slices.Equal(s.Cases[2].Assumed, []string{"steps", "frames", "guidance"}) {
		t.Fatalf("%+v %+v", s.Cases, s.Skipped)
	}
	c := estimate.EmbeddedCurves()
	image, _ := s.Cases[0].Predict(c)
	step, _ := s.Cases[1].Predict(c)
	if steps := 20 / step.Value; 1/image.Value <= steps || 1/image.Value > 1.5*steps {
		t.Errorf("an image takes %v s, its steps %v s", 1/image.Value, steps)
	}
	if s.Cases[0].Tags.Framework != "compiled" || s.Cases[2].Tags.Framework != "fused" || s.Cases[0].Tags.Structure != "unet" {
		t.Errorf("%+v", s.Cases[0].Tags)
	}
}

func TestDrawingEngine(t *testing.T) {
	for text, want := range map[string]diffuse.Engine{
		"diffusers": diffuse.Eager, "diffusers torch.compile+vae": diffuse.Compiled, "onediff nexfort": diffuse.Fused, "sd-webui TensorRT 9.0.1": diffuse.Fused,
		"AUTO1111 WebUI SDPA": diffuse.WebUI, "cache-dit Ulysses-2 + compile": diffuse.Compiled, "TensorRT 10.11, CUDA 12.8": diffuse.Fused,
	} {
		if got := drawingEngine(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]bool{"cache-dit baseline": false, "FBCache rdt=0.06": true, "cache-dit Ulysses-4 fp8 all2all + cache": true, "diffusers": false} {
		if got := skipsSteps(text); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestDiffusionSkips(t *testing.T) {
	leavesOut(t, diffusionHead, estimate.Diffusion, map[string]Skip{
		"SVD,RTX 4090,1,1024x576,25,1,,diffusers,9,,,a/b,":                        NoModel,
		"SD1.5,Abacus,1,512x512,20,1,,diffusers,9,,,a/b,":                         NoChip,
		"SD1.5,RTX 4090,1,,,1,,ComfyUI,9,,,a/b,":                                  NoSize,
		"SD1.5,RTX 4090,1,512x512,20,1,,diffusers,,,,a/b,":                        NoFigure,
		"SD1.5,RTX 4090,1,512x512,20,1,,diffusers,9,,,a/b,with CPU offload":       NotModelled,
		"SD1.5,RTX 4090,1,512x512,20,1,,diffusers,9,,,a/b,SUSPECT: printed twice": Suspect,
	})
}

func TestDiffusionTable(t *testing.T) {
	s := wholeTable(t, "truth2", "diffusion.csv", estimate.Diffusion)
	for _, k := range sharedSet(t, "truth/inference_other.csv").Cases {
		if k.Target == estimate.Diffusion {
			s.Cases = append(s.Cases, k)
		}
	}
	asFitted(t, s, estimate.Diffusion, 0.15)
	// What a run is made of explains most of it before any term: half the rows within a sixth.
	raw := ErrorOf(Measure(s, estimate.EmbeddedCurves().Without(estimate.Diffusion)).Results)
	if raw.MdAPE > 0.17 || math.Abs(raw.Bias) > 0.1 {
		t.Errorf("without the calibration: %+v", raw)
	}
}
