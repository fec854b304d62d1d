package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// count3 prints a number of things as models and tokens are counted: 200M.
func count3(v float64) string { return unit.Count(v) }

// layout prints how work is cut over a group in the shorthand of the field: "tp8 pp1 dp2 mb1 z1 selective".
func layout(l estimate.Layout) string {
	var parts []string
	add := func(name string, n, hide int) {
		if n > hide {
			parts = append(parts, name+strconv.Itoa(n))
		}
	}
	add("tp", l.TP, 1)
	add("pp", l.PP, 1)
	add("dp", l.DP, 1)
	add("cp", l.CP, 1)
	add("ep", l.EP, 1)
	add("vp", l.Virtual, 1)
	add("mb", l.MicroBatch, 0)
	add("zero", l.ZeRO, 0)
	add("r", l.Replicas, 1)
	add("b", l.Batch, 0)
	if l.Recompute != "" && l.Recompute != "none" {
		parts = append(parts, l.Recompute)
	}
	if len(parts) == 0 {
		return "1"
	}
	return strings.Join(parts, " ")
}

// memoryUse prints "68.2/80 GiB".
func memoryUse(m estimate.Memory) string {
	if m.Capacity == 0 {
		return say.Unknown
	}
	gib := func(b unit.Bytes) string { return unit.Sig3(float64(b) / float64(unit.GiB)) }
	return gib(m.Used) + "/" + gib(m.Capacity) + " GiB"
}

// speed prints "8,210 tokens/s".
func speed(s *say.Speaker, v estimate.Speed) string {
	if v.Value == 0 {
		return say.Unknown
	}
	return s.Number(v.Value) + " " + s.Term("unit", v.Unit)
}

// byShare says "compute 71% · network 12%", leaving out what rounds to nothing.
func byShare(s *say.Speaker, b estimate.Shares) string {
	var parts []string
	for _, share := range wire.Shares(b) {
		if share.Value >= 0.005 {
			parts = append(parts, fmt.Sprintf("%s %s", s.Term("share", share.Name), s.Percent(share.Value)))
		}
	}
	return strings.Join(parts, " · ")
}
