package serve

import (
	"maps"
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// setup builds the job and group that a row states; false where it leaves too much open.
func setup(p sharedtest.Row, w *workload.Workload) (estimate.Job, estimate.Group, bool) {
	chip, ok := accelerator.Embedded().Get(p["accelerator"])
	n := int(p.Num("accelerator_count"))
	m, err := model.Embedded().Get(p["model"])
	f, errF := model.LookupFormat(p["precision"])
	if !ok || err != nil || errF != nil || n == 0 || n > 8 || m.Class != model.Decoder {
		return nil, estimate.Group{}, false
	}
	w.Model, w.Format = m, f.Name
	w.Layout = workload.LayoutPin{TP: int(p.Num("tp")), ZeRO: -1}
	j, err := New(w, estimate.EmbeddedCurves())
	g := estimate.Group{Chip: chip, PerNode: n, Nodes: 1, Topology: catalog.PCIeOnly, NetworkGbps: unit.Some(3200.0), Network: catalog.InfiniBand}
	switch {
	case n == 1:
		g.Topology = catalog.Single
	case chip.Vendor == "AMD":
		g.Topology = catalog.XGMI
	case chip.LinkBidir.Known():
		g.Topology = catalog.NVSwitch
	}
	return j, g, err == nil
}

type tally map[string][]float64

func (y tally) add(key string, r float64) { y[key], y["all"] = append(y[key], r), append(y["all"], r) }

func (y tally) log(t *testing.T) {
	for _, key := range slices.Sorted(maps.Keys(y)) {
		r := y[key]
		slices.Sort(r)
		t.Logf("%-34s n %4d  measured/predicted p10 %.2f median %.2f p90 %.2f", key, len(r), r[len(r)/10], r[len(r)/2], r[len(r)*9/10])
	}
	all := y["all"]
	if m := all[len(all)/2]; m < 0.6 || m > 1.6 {
		t.Errorf("median of measured over predicted is %.2f", m)
	}
}

// The first form must be of the right size on the chips that most teams rent; the errors are held down, with the held-out
// groups, by the accuracy command.
func TestPublishedOffline(t *testing.T) {
	y := tally{}
	for _, p := range sharedtest.Rows(t, "truth", "inference_throughput.csv") {
		if p["scenario"] != "offline-max-throughput" || p.Num("isl") == 0 || p.Num("osl") == 0 || p.Num("output_tokens_per_s") == 0 {
			continue
		}
		w := &workload.Workload{Kind: workload.BatchInfer, Batch: &workload.Batch{Requests: 1e6, InputTokens: int(p.Num("isl")), OutputTokens: int(p.Num("osl"))}}
		j, g, ok := setup(p, w)
		if !ok {
			continue
		}
		if e, refusal, _ := j.Best(g); refusal == nil {
			y.add(p["accelerator"]+" "+p["precision"], p.Num("output_tokens_per_s")/(e.Speed.Value*p.Num("osl")))
		}
	}
	y.log(t)
}

func TestPublishedServing(t *testing.T) {
	tpot, ttft := tally{}, tally{}
	for _, p := range sharedtest.Rows(t, "truth", "inference_serving.csv") {
		if p["serving_mode"] != "aggregated" || p.Num("isl") == 0 || p.Num("osl") < 2 || p.Num("concurrency_or_batch") == 0 {
			continue
		}
		if p["precision"] == "" {
			p["precision"] = "bf16"
		}
		w := &workload.Workload{Kind: workload.BatchInfer, Batch: &workload.Batch{Requests: p.Num("concurrency_or_batch"), InputTokens: int(p.Num("isl")), OutputTokens: int(p.Num("osl"))}}
		made, g, ok := setup(p, w)
		if !ok {
			continue
		}
		j := made.(*job)
		r, refusal := j.base(g)
		if refusal != nil {
			continue
		}
		r.t, r.p = max(1, int(p.Num("tp"))), 1
		if j.fit(g, &r) != nil {
			continue
		}
		l := j.at(&r, p.Num("concurrency_or_batch"))
		tpot.add(p["accelerator"]+" "+p["precision"], p.Num("tpot_ms")/1000/l.tpot)
		ttft.add(p["accelerator"]+" "+p["precision"], p.Num("ttft_ms")/1000/l.ttft)
	}
	t.Log("TPOT")
	tpot.log(t)
	t.Log("TTFT")
	for _, k := range slices.Sorted(maps.Keys(ttft)) {
		r := ttft[k]
		slices.Sort(r)
		t.Logf("%-34s n %4d  p10 %.2f median %.2f p90 %.2f", k, len(r), r[len(r)/10], r[len(r)/2], r[len(r)*9/10])
	}
}
