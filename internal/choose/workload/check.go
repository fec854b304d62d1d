package workload

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// check finds values that are each sound and contradict each other.
func (r *reader) check() {
	r.checkModel()
	r.checkTraining()
	r.checkLayout()
	r.checkService()
	r.checkCounts()
	r.checkPlaces()
	r.checkCheckpoint()
}

// read says whether every one of the keys was given and could be read, so that it may be held against others.
func (r *reader) read(paths ...string) bool {
	for _, p := range paths {
		if !r.has(p) || !r.good[p] {
			return false
		}
	}
	return true
}

func (r *reader) clash(path, code string, args problem.Args) {
	args["Key"] = path
	r.fault(r.given[path], code, args)
}

// runs says which classes of network each kind of work can run.
var runs = map[Kind][]model.Class{
	Train:      discriminative,
	Finetune:   discriminative,
	Serve:      discriminative,
	BatchInfer: discriminative,
	Diffuse:    {model.Generator},
}

var discriminative = []model.Class{
	model.Decoder, model.Encoder, model.EncoderDecoder, model.Vision, model.Speech, model.Recommender, model.Graph,
}

// onTokens says that a network is trained on sequences of tokens.
func onTokens(m *model.Model) bool { return readsText(m) || m.Transcribes() }

// readsText says that the requests of a network are sequences of tokens, writesText that its answers are counted in them, too. One that
// transcribes takes so much speech.
func readsText(m *model.Model) bool { return m.Class == model.Encoder || writesText(m) }
func writesText(m *model.Model) bool {
	return m.Class == model.Decoder || m.Class == model.EncoderDecoder && !m.Transcribes()
}

// checkKeys finds keys that the workload's network has no use for.
func (r *reader) checkKeys() {
	for i := range table {
		if f := &table[i]; f.of(r.kind) && r.read(f.Path) && !r.suits(f) {
			class := r.draft.Model.Class
			if r.draft.Model.Transcribes() {
				class = model.Speech // by what is asked of it
			}
			r.clash(f.Path, codeNotForModel, problem.Args{"Model": r.draft.Model.Name, "Class": string(class)})
		}
	}
}

func (r *reader) checkModel() {
	m := r.draft.Model
	if !r.read("model") || m == nil {
		return
	}
	if classes, ok := runs[r.kind]; ok && !slices.Contains(classes, m.Class) {
		r.clash("model", codeModelClass, problem.Args{"Model": m.Name, "Class": string(m.Class), "Kind": string(r.kind)})
		return
	}
	r.checkKeys()
	if r.read("kv_precision") {
		f := string(r.draft.KVFormat)
		// llama.cpp holds its cache in the plain formats of its files; others only store weights.
		if info, err := r.facts.Format(f); err == nil && info.WeightOnly && !strings.HasSuffix(f, "_0") {
			r.clash("kv_precision", codeNotCache, problem.Args{"Format": f})
		}
	}
	in, out := "input_tokens", "output_tokens"
	sum := r.draft.batch.InputTokens + r.draft.batch.OutputTokens
	if r.kind == Serve {
		in, out = "traffic.input_tokens", "traffic.output_tokens"
		sum = r.draft.traffic.InputTokens + r.draft.traffic.OutputTokens
		if t := r.draft.traffic.Trace; t != nil {
			in, out, sum = "traffic.trace", "traffic.trace", t.Longest()
		}
	}
	// Training past the context is how a model's context is extended; inference past it cannot work.
	if m.MaxContext > 0 && r.read(in) && (r.read(out) || !writesText(m)) && sum > m.MaxContext {
		r.clash(in, codeContext, problem.Args{"Tokens": sum, "Limit": m.MaxContext, "Model": m.Name})
	}
}

func (r *reader) checkTraining() {
	d := r.draft
	if slices.Contains(training, r.kind) && r.read("precision") {
		if info, err := r.facts.Format(string(d.Format)); err == nil && info.WeightOnly {
			r.clash("precision", codeNotTrainable, problem.Args{"Format": string(d.Format)})
		}
	}
	if r.read("lora_rank") && r.good["method"] && d.Method == Full {
		r.clash("lora_rank", codeNotWith, problem.Args{"Other": "method", "Value": string(Full)})
	}
	parts := max(1, d.Layout.DP) * max(1, d.Layout.MicroBatch)
	if r.read("global_batch") && (r.read("layout.dp") || r.read("layout.micro_batch")) && d.GlobalBatch%parts != 0 {
		r.clash("global_batch", codeBatchDivide, problem.Args{"Batch": d.GlobalBatch, "Parts": parts})
	}
}

func (r *reader) checkLayout() {
	l := r.draft.Layout
	if r.read("layout.virtual", "layout.pp") && l.Virtual > 1 && l.PP == 1 {
		r.clash("layout.virtual", codeNoPipeline, problem.Args{"Other": "layout.pp"})
	}
	// The product of what is fixed is the least number of accelerators; expert parallelism shares the others' ranks.
	product, last := 1, ""
	for _, p := range []struct {
		path string
		size int
	}{{"layout.tp", l.TP}, {"layout.pp", l.PP}, {"layout.dp", l.DP}, {"layout.cp", l.CP}} {
		if r.read(p.path) && p.size > 1 {
			product, last = product*p.size, p.path
		}
	}
	if r.read("limits.max_gpus") && product > r.draft.Limits.MaxCount {
		r.clash(last, codeAboveLimit, problem.Args{"Accelerators": product, "Other": "limits.max_gpus", "Limit": r.draft.Limits.MaxCount})
	}
}

func (r *reader) checkService() {
	s := r.draft.SLO
	for _, part := range []struct {
		path  string
		value unit.Hours
	}{{"slo.ttft_p99", s.TTFTp99}, {"slo.tpot_p99", s.TPOTp99}} {
		if r.read(part.path, "slo.e2e_p99") && part.value > s.E2Ep99 {
			r.clash(part.path, codeMinAboveMax, problem.Args{
				"Value": printHours(part.value), "Other": "slo.e2e_p99", "OtherValue": printHours(s.E2Ep99)})
		}
	}
}

func (r *reader) checkCounts() {
	l := r.draft.Limits
	if r.read("limits.min_gpus", "limits.max_gpus") && l.MinCount > l.MaxCount {
		r.clash("limits.min_gpus", codeMinAboveMax, problem.Args{
			"Value": strconv.Itoa(l.MinCount), "Other": "limits.max_gpus", "OtherValue": strconv.Itoa(l.MaxCount)})
	}
	if !r.read("limits.gpu", "limits.max_gpus") {
		return
	}
	least := l.Accelerators[0].MinCount
	for _, s := range l.Accelerators {
		least = min(least, s.MinCount)
	}
	if least > float64(l.MaxCount) {
		r.clash("limits.gpu", codeAboveLimit, problem.Args{"Accelerators": least, "Other": "limits.max_gpus", "Limit": l.MaxCount})
	}
}

func (r *reader) checkPlaces() {
	l := r.draft.Limits
	if r.read("limits.providers", "limits.not_providers") {
		for _, p := range l.NotProviders {
			if slices.Contains(l.Providers, p) {
				r.clash("limits.not_providers", codeAllowedBanned, problem.Args{"Value": p, "Other": "limits.providers"})
			}
		}
	}
	if !r.read("limits.regions", "limits.residency") {
		return
	}
	for _, place := range l.Regions {
		laws, known := r.facts.Laws(place)
		for _, law := range l.Residency {
			if known && !slices.Contains(laws, law) {
				r.clash("limits.regions", codeOutsideLaw, problem.Args{"Value": place, "Law": law})
			}
		}
	}
}

func (r *reader) checkCheckpoint() {
	every, deadline := r.draft.Data.CheckpointEvery, r.draft.Limits.Deadline
	if r.read("data.checkpoint_every", "limits.deadline") && every > deadline {
		r.clash("data.checkpoint_every", codeCheckpoint, problem.Args{
			"Value": printHours(every), "Other": "limits.deadline", "OtherValue": printHours(deadline)})
	}
}
