package model_test

import (
	"math"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/model"
	"pgregory.net/rapid"
)

func about(t *testing.T, what string, got, want, slack float64) {
	t.Helper()
	if math.Abs(got-want) > slack*math.Abs(want) {
		t.Errorf("%s: %v, want %v within %v", what, got, want, slack)
	}
}

func format(t testing.TB, name string) model.FormatInfo {
	t.Helper()
	f, err := model.LookupFormat(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func anyModel(t *rapid.T) *model.Model {
	return rapid.SampledFrom(model.Embedded().All()).Draw(t, "model")
}

// The MLA cache holds latent and rope key once a layer: 27 x (512 + 64) x 2 bytes x 32768 tokens, 1.02 GB rather
// than the 4.5 GB of expanded keys and values.
func TestLatentCacheAt32K(t *testing.T) {
	m := get(t, "deepseek-v2-lite")
	if got := m.KVBytes(32768, 16); got != 27*576*2*32768 {
		t.Errorf("%v bytes", got)
	}
	if got := m.KVRankBytes(32768, 16, 8); got != 27*576*2*32768 {
		t.Errorf("a rank of eight holds %v: a latent is not divided", got)
	}
	// Per layer and token, expanded: 2 (192 + 128) x 16 heads; absorbed: 2 (2 x 512 + 64) x 16 heads.
	about(t, "prefill", float64(m.SequenceFLOPs(1000))-2000*m.MatmulParams(), 27*2*320*16*1000*1001/2, 1e-9)
	about(t, "decode", float64(m.DecodeAttentionFLOPs(1000)), 27*2*1088*16*1000, 0)
}

func TestWindowsBoundTheCache(t *testing.T) {
	m := get(t, "gemma-3-27b") // 10 full layers, 52 windows of 1024; 2 x 16 heads x 128 x 2 bytes
	const layer = 2 * 16 * 128 * 2
	if got := m.KVBytes(32768, 16); got != 10*layer*32768+52*layer*1024 {
		t.Errorf("%v bytes", got)
	}
	whisper := get(t, "whisper-large-v3")
	if got, want := whisper.KVBytes(0, 16), 32.*2*1280*2*1500; got != want {
		t.Errorf("cross-attention holds %v, want %v", got, want)
	}
	if mamba := get(t, "mamba-130m"); mamba.KVBytes(1, 16) != mamba.KVBytes(1<<20, 16) || mamba.KVBytes(1, 16) != 24*2*(1536*16+1536*3) {
		t.Errorf("state of %v bytes", mamba.KVBytes(1, 16))
	}
}

func TestHeadsAreDealtWhole(t *testing.T) {
	m := get(t, "llama-3.1-70b") // eight key/value heads
	for tp, want := range map[int]float64{0: 1, 1: 1, 2: 0.5, 3: 3. / 8, 8: 1. / 8, 16: 1. / 8} {
		if got := m.KVRankBytes(1000, 16, tp) / m.KVBytes(1000, 16); got != want {
			t.Errorf("share of one of %d ranks %v, want %v", tp, got, want)
		}
	}
}

// Sizes of published checkpoints, in bytes, from their hub listings.
func TestWeightBytes(t *testing.T) {
	for _, c := range []struct {
		model, format string
		want, slack   float64
	}{
		{"llama-3.1-70b", "bf16", 141.1e9, 0.001},
		{"llama-3.1-8b", "fp32", 32.1e9, 0.001},
		{"gpt-oss-120b", "mxfp4", 65.25e9, 0.005},
		{"gpt-oss-20b", "mxfp4", 13.76e9, 0.01},
		{"llama-3.1-8b", "q4_k_m", 4.92e9, 0.02},
		{"llama-3.1-8b", "q8_0", 8.54e9, 0.01},
		{"llama-3.1-8b", "awq", 5.73e9, 0.02},
		{"llama-3.1-70b", "fp8", 72.7e9, 0.01},
	} {
		got := get(t, c.model).WeightBytes(format(t, c.format))
		about(t, c.model+" "+c.format, float64(got), c.want, c.slack)
	}
}

// ViT's arithmetic is counted from its shape; torchvision prints 17.56 and 61.55 G multiply-adds.
func TestVisionWork(t *testing.T) {
	for name, gmac := range map[string]float64{"vit-b-16": 17.56, "vit-l-16": 61.55} {
		got, _ := get(t, name).PerSample.Get()
		about(t, name, float64(got), 2*gmac*1e9, 0.01)
	}
	if _, known := get(t, "resnet-50").PerSample.Get(); !known {
		t.Error("ResNet-50 has no arithmetic")
	}
}

// FLUX's step from its shape: 2 operations a weight of the blocks and token, and the attention products.
func TestFluxWork(t *testing.T) {
	const h, image, text = 3072, 4096, 512
	const tokens = image + text
	blocks := 57 * (2*tokens*12*h*h + 4*tokens*tokens*h)
	got, _ := get(t, "flux.1-dev").PerSample.Get()
	about(t, "flux.1-dev", float64(got), float64(blocks), 0.002)
}

// forward is one token's pass that sees so many, with attention as decoding runs it.
func forward(m *model.Model, context int) float64 {
	return 2*m.MatmulParams() + float64(m.DecodeAttentionFLOPs(float64(context)))
}

func TestForward(t *testing.T) {
	m := get(t, "llama-3.1-8b")
	// All weights but the input embedding, and norms aside: 2 x 7.504e9, and 4 x 32 heads x 128 x 32 layers a visible token.
	weights := 8030261248. - 128256*4096 - (2*32+1)*4096
	about(t, "weights", forward(m, 0), 2*weights, 0)
	about(t, "attention", float64(m.DecodeAttentionFLOPs(4096)), 32*4*4096*4096, 0)
	moe := get(t, "mixtral-8x7b")
	about(t, "active", moe.MatmulParams(), float64(moe.Params.Active-moe.Params.Embedding-moe.Params.Norm), 0)
	tied := get(t, "llama-3.2-1b")
	about(t, "tied head", tied.HeadParams(), 128256*2048, 0)
	if get(t, "bert-large").HeadParams() != 0 {
		t.Error("an encoder has a head")
	}
}

func TestSequenceFLOPs(t *testing.T) {
	// Summed by brute force, token by token.
	for _, name := range []string{"llama-3.1-8b", "gemma-3-1b", "gpt-oss-20b"} {
		m := get(t, name)
		const n = 700
		var want float64
		for i := 1; i <= n; i++ {
			want += forward(m, i)
		}
		about(t, name, float64(m.SequenceFLOPs(n)), want, 1e-9)
	}
	scout := get(t, "llama-4-scout")
	if got, open := scout.SequenceFLOPs(16384), 2*scout.SequenceFLOPs(8192); got <= open {
		t.Error("full layers do not grow")
	}
	bert := get(t, "bert-base")
	about(t, "bidirectional", float64(bert.SequenceFLOPs(512)), 512*forward(bert, 512), 1e-12)
}

func TestLayers(t *testing.T) {
	m := get(t, "deepseek-v3")
	if len(m.Stack) != 2 || m.Stack[0].Count != 3 || m.Stack[1].Count != 58 || !m.Stack[1].MoE {
		t.Fatalf("%+v", m.Stack)
	}
	if m.Layer() != m.Stack[1].Params.Total {
		t.Errorf("largest %d", m.Layer())
	}
	// The checkpoint is 684.53B with its own copy of embedding and head for the extra layer.
	about(t, "with MTP", float64(m.Params.Total+m.MTP+2*129280*7168), 684.53e9, 1e-4)
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyModel(t)
		n := rapid.IntRange(0, 1<<20).Draw(t, "tokens")
		more := n + rapid.IntRange(0, 1<<20).Draw(t, "more")
		tp := rapid.IntRange(1, 64).Draw(t, "tp")
		if m.Params.Sum() != m.Params.Total {
			t.Fatalf("parts of %s do not sum", m.Name)
		}
		if m.KVBytes(n, 16) > m.KVBytes(more, 16) {
			t.Fatalf("the cache of %s shrinks", m.Name)
		}
		if m.KVBytes(n, 8) > m.KVBytes(n, 16) {
			t.Fatalf("an 8-bit cache of %s is larger", m.Name)
		}
		whole, part := m.KVBytes(n, 16), m.KVRankBytes(n, 16, tp)
		if part > whole || part*float64(tp) < whole*(1-1e-9) {
			t.Fatalf("%d ranks of %s hold %v each of %v", tp, m.Name, part, whole)
		}
		if forward(m, n) > forward(m, more) {
			t.Fatalf("less work with more context")
		}
	})
}

func TestTouchedExperts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyModel(t)
		n := rapid.Float64Range(0, 1e6).Draw(t, "tokens")
		f := rapid.SampledFrom(model.EmbeddedFormats().All()).Draw(t, "format")
		got := m.TouchedExperts(n)
		if m.MoE == nil && got != 0 || m.MoE != nil && got > float64(m.MoE.Experts) {
			t.Fatalf("%s touches %v", m.Name, got)
		}
		touched, all := m.WeightBytesTouched(f, n), m.WeightBytes(f)
		if touched > all+unit.Bytes(m.HeadParams()*4) {
			t.Fatalf("%s reads %v of %v", m.Name, touched, all)
		}
	})
	m := get(t, "mixtral-8x7b")
	about(t, "one token", m.TouchedExperts(1), 2, 1e-12)
	about(t, "many tokens", m.TouchedExperts(1e4), 8, 1e-12)
	about(t, "two tokens", m.TouchedExperts(2), 8*(1-0.75*0.75), 1e-12)
}

func BenchmarkSequenceFLOPs(b *testing.B) {
	m := get(b, "gemma-3-27b")
	b.ReportAllocs()
	for b.Loop() {
		m.SequenceFLOPs(32768)
	}
}
