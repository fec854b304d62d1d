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
func count3(v float64) string {
	if v >= 1e21 { // beyond the letters
		return strings.Replace(strconv.FormatFloat(v, 'e', 2, 64), "e+", "e", 1)
	}
	return unit.Count(v)
}

// layoutMark is one mark of a layout in the shorthand of the field, such as tp8; up to hide it goes without saying.
type layoutMark struct {
	mark    string
	n, hide int
}

func (m layoutMark) shown() bool { return m.n > m.hide }

// layoutMarks are the numbers of a layout, in the order they are written. Each mark has a message of its name.
func layoutMarks(l estimate.Layout) []layoutMark {
	return []layoutMark{
		{"tp", l.TP, 1}, {"pp", l.PP, 1}, {"dp", l.DP, 1}, {"cp", l.CP, 1}, {"ep", l.EP, 1}, {"vp", l.Virtual, 1},
		{"mb", l.MicroBatch, 0}, {"zero", l.ZeRO, 0}, {"r", l.Replicas, 1}, {"b", l.Batch, 0},
	}
}

// layout prints how work is cut over a group in the shorthand of the field: "tp8 dp2 mb1 zero1 selective".
func layout(l estimate.Layout) string {
	return written(l, func(m layoutMark) string { return m.mark + strconv.Itoa(m.n) }, " ", func(what string) string { return what })
}

// layoutWords says the same in words: "tensor parallel 8 · data parallel 2".
func layoutWords(l estimate.Layout, s *say.Speaker) string {
	return written(l, func(m layoutMark) string { return s.Text("layout."+m.mark) + " " + strconv.Itoa(m.n) }, " · ",
		func(what string) string {
			return s.Say("layout.recompute", say.Args{"What": s.Term("recompute", what)})
		})
}

func written(l estimate.Layout, mark func(layoutMark) string, between string, recompute func(string) string) string {
	var parts []string
	for _, m := range layoutMarks(l) {
		if m.shown() {
			parts = append(parts, mark(m))
		}
	}
	if l.Recompute != "" && l.Recompute != "none" {
		parts = append(parts, recompute(l.Recompute))
	}
	if len(parts) == 0 {
		return "1"
	}
	return strings.Join(parts, between)
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
