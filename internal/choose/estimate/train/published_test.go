package train

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// networks is the usual fabric of the machines the measurements ran on, in Gbit/s a machine.
var networks = map[string]float64{"A100-SXM-80GB": 1600, "A100-SXM-40GB": 1600, "H100-SXM-80GB": 3200, "H200-SXM-141GB": 3200,
	"B200": 3200, "MI300X": 3200, "MI355X": 3200}

// asWorkload builds the workload and group that a row states; false where it leaves too much open.
func asWorkload(p sharedtest.Row) (*workload.Workload, estimate.Group, bool) {
	chip, ok := accelerator.Embedded().Get(p["accelerator"])
	gbps, known := networks[p["accelerator"]]
	if !ok || !known || p.Num("tokens_per_s_total") == 0 || p["layers"] == "" || p["ffn"] == "" || p["vocab"] == "" || p["ep"] != "" {
		return nil, estimate.Group{}, false
	}
	config := fmt.Sprintf(`{"model_type":"llama","num_hidden_layers":%s,"hidden_size":%s,"num_attention_heads":%s,"num_key_value_heads":%s,"intermediate_size":%d,"vocab_size":%s,"max_position_embeddings":131072}`,
		p["layers"], p["hidden"], p["heads"], p["kv_heads"], p.Int("ffn"), p["vocab"])
	if strings.HasPrefix(p["model"], "MPT") {
		config = fmt.Sprintf(`{"model_type":"mpt","n_layers":%s,"d_model":%s,"n_heads":%s,"expansion_ratio":4,"vocab_size":%s,"max_seq_len":%s}`,
			p["layers"], p["hidden"], p["heads"], p["vocab"], p["seq_len"])
	}
	m, err := model.ParseConfig(p["model"], []byte(config))
	if err != nil {
		return nil, estimate.Group{}, false
	}
	n := p.Int("accelerator_count")
	per := min(n, 8)
	if n == 0 || n%per != 0 || p.Int("global_batch") == 0 || p.Int("seq_len") == 0 {
		return nil, estimate.Group{}, false
	}
	w := &workload.Workload{Kind: workload.Train, Model: m, Format: model.Format(p["precision"]), Method: workload.Full, Optimizer: workload.AdamW,
		Sequence: p.Int("seq_len"), GlobalBatch: p.Int("global_batch"), Tokens: 1e9}
	w.Layout = workload.LayoutPin{TP: p.Int("tp"), PP: p.Int("pp"), CP: p.Int("cp"), MicroBatch: p.Int("micro_batch"), Virtual: max(1, p.Int("vp")), ZeRO: -1}
	if strings.Contains(p["workload"], "LoRA") {
		w.Kind, w.Method, w.LoRARank = workload.Finetune, workload.LoRA, 16
	}
	switch p["activation_recompute"] {
	case "full", "none", "selective":
		w.Layout.Recompute = p["activation_recompute"]
	}
	g := estimate.Group{Chip: chip, PerNode: per, Nodes: n / per, Topology: catalog.NVSwitch, Network: catalog.InfiniBand, NetworkGbps: unit.Some(gbps)}
	if strings.HasPrefix(chip.Name, "MI") {
		g.Topology = catalog.XGMI
	}
	return w, g, true
}

// The first form must be of the right size on the chips that most teams rent; the errors are held down, with the held-out groups,
// by the accuracy command.
func TestPublishedTraining(t *testing.T) {
	ratios := map[string][]float64{}
	skipped := map[string]int{}
	for _, p := range sharedtest.Rows(t, "truth", "training_throughput.csv") {
		w, g, ok := asWorkload(p)
		if !ok {
			skipped["open"]++
			continue
		}
		j, err := New(w, estimate.EmbeddedCurves())
		if err != nil {
			skipped["refused"]++
			continue
		}
		e, refusal, _ := j.Best(g)
		if refusal != nil {
			skipped[string(refusal.Reason)]++
			continue
		}
		r := p.Num("tokens_per_s_total") / e.Speed.Value
		key := p["accelerator"] + " " + p["precision"]
		ratios[key] = append(ratios[key], r)
		ratios["all"] = append(ratios["all"], r)
	}
	for _, key := range slices.Sorted(func(yield func(string) bool) {
		for k := range ratios {
			if !yield(k) {
				return
			}
		}
	}) {
		r := ratios[key]
		slices.Sort(r)
		t.Logf("%-24s n %3d  measured/predicted p10 %.2f median %.2f p90 %.2f", key, len(r), r[len(r)/10], r[len(r)/2], r[len(r)*9/10])
	}
	t.Log("left out:", skipped)
	all := ratios["all"]
	if m := all[len(all)/2]; m < 0.7 || m > 1.4 {
		t.Errorf("median of measured over predicted is %.2f", m)
	}
}
