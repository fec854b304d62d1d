package kernelfit

import (
	"io"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// lookback is a measured attention: of new tokens where step is 0, else of one token over step cached ones.
type lookback struct {
	batch, length, step, heads, kvHeads, headDim float64
	x                                            estimate.Attention // without its curves
}

// decodes is how attention over cached contexts is fitted. Overlap is held: the measurements do not tell it from the shares, and
// at this value the shares agree with the rates of the longest reads.
func decodes() kind[estimate.DecodeCurve, lookback] {
	return kind[estimate.DecodeCurve, lookback]{
		start: estimate.DecodeCurve{Compute: 0.3, Bandwidth: 0.85, FixedUS: 10, Pad: 100, SerialNS: 0.2, Overlap: 0.9},
		knobs: func(c *estimate.DecodeCurve) []knob {
			return []knob{upTo(1, &c.Compute), upTo(0.97, &c.Bandwidth), positive(&c.FixedUS), positive(&c.Pad), positive(&c.SerialNS)}
		},
		time: func(c *estimate.DecodeCurve, s *sample[lookback]) float64 {
			r := &s.row
			x := r.x
			x.Decode = *c
			return x.DecodeSeconds(r.batch, r.step+1, r.heads, r.kvHeads, r.headDim)
		},
		fitted: func(c *estimate.DecodeCurve) *estimate.Fitted { return &c.Fitted },
		pool:   600,
		source: "aiconfigurator generation attention",
	}
}

// prefills is how attention of prompts is fitted. Overlap and the share of the bandwidth are held: the measurements do not tell
// them from the number of reads.
func prefills() kind[estimate.PrefillCurve, lookback] {
	return kind[estimate.PrefillCurve, lookback]{
		start: estimate.PrefillCurve{Compute: 0.6, Bandwidth: 0.9, FixedUS: 10, QueryPad: 50, KeyPad: 50, KeyReads: 3, SerialNS: 15, Overlap: 0},
		knobs: func(c *estimate.PrefillCurve) []knob {
			return []knob{
				upTo(2, &c.Compute), positive(&c.FixedUS), positive(&c.QueryPad), positive(&c.KeyPad), positive(&c.KeyReads), positive(&c.SerialNS),
			}
		},
		time: func(c *estimate.PrefillCurve, s *sample[lookback]) float64 {
			r := &s.row
			x := r.x
			x.Prefill = *c
			return x.PrefillSeconds(r.batch, r.length, 0, r.heads, r.kvHeads, r.headDim)
		},
		fitted: func(c *estimate.PrefillCurve) *estimate.Fitted { return &c.Fitted },
		pool:   600,
		source: "aiconfigurator context attention",
	}
}

// cacheable is the sizes, in bytes, of a layer's cache that repeated runs may find in the chip's own cache, though a decode
// step, which reads all other layers in between, will not. Smaller ones show the latency and larger ones the bandwidth.
var cacheable = [2]float64{8 << 20, 256 << 20}

// caches are the formats of a cache by the name that the measurements give them, with their bits an element.
var caches = map[string]struct {
	kind string
	bits float64
}{"bfloat16": {"bf16", 16}, "fp8": {"fp8", 8}}

// readAttention is the measured attention by the format of the cache.
func readAttention(r io.Reader, chips *accelerator.Table) (map[string][]sample[lookback], error) {
	out := map[string][]sample[lookback]{}
	prepared := map[string]estimate.Attention{}
	err := each(r, chips, func(l *line) {
		cache, ok := caches[l.cells[1]]
		if !ok {
			return
		}
		key := l.chip.Name + " " + cache.kind
		x, ok := prepared[key]
		if !ok {
			if k := bare(l.chip); k != nil {
				x, _ = k.Attention(accelerator.BF16, cache.bits)
			}
			prepared[key] = x
		}
		row := lookback{batch: l.num(2), length: l.num(3), step: l.num(4), heads: l.num(5), kvHeads: l.num(6), headDim: l.num(7), x: x}
		read := 2 * row.batch * row.step * row.kvHeads * row.headDim * cache.bits / 8
		if x.Peak == 0 || read > cacheable[0] && read < cacheable[1] {
			return
		}
		out[cache.kind] = append(out[cache.kind], sample[lookback]{chip: l.chip, shape: int(row.heads) + int(row.kvHeads), seconds: l.num(8) * 1e-3, row: row})
	}, "system", "kv_cache_dtype", "batch_size", "isl", "step", "num_heads", "num_key_value_heads", "head_dim", "latency_ms")
	return out, err
}
