package render

import (
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Size is the answer of size.
type Size struct {
	Size *app.Size
	// Canonical is the workload with every default filled in, for JSON; nil for a model by itself.
	Canonical any
}

// usualFormats are the formats weights are usually held in; JSON and -o wide list every one.
var usualFormats = []model.Format{"bf16", "fp8", "nvfp4", "awq", "q4_k_m"}

// Text writes what is needed for people.
func (d *Size) Text(p *Printer, wide bool) {
	if w := d.Size.Workload; w != nil {
		p.Para(p.Bold(Asked(w, p.Say)), 2)
		if line := NeedsLine(d.Size.Sizing.Needs, p.Say); line != "" {
			p.Para(line, 2)
		}
		p.Gap()
	}
	if m := d.Size.Model; m != nil {
		d.model(p, m, wide)
	}
	if s := d.Size.Sizing; s != nil && s.Group.Chip != nil {
		p.Gap()
		d.on(p)
	}
	if d.Size.Workload == nil {
		p.Gap()
		p.Para(p.Dim(p.Say.Text("size.next")), 0)
	}
}

func (d *Size) model(p *Printer, m *model.Model, wide bool) {
	s := p.Say
	modelHead(p, m)
	if n, ok := m.Published.Get(); ok && n != m.Params.Total {
		p.Line(s.Say("size.published", say.Args{"Published": n}))
	}
	if d.Size.Workload != nil && !wide { // the work is what was asked about
		return
	}
	p.Gap()
	d.parameters(s, m).Write(p)
	p.Gap()
	d.weights(s, m, wide).Write(p)
}

// modelHead writes a model's name, shape and cache, and what was assumed in counting it.
func modelHead(p *Printer, m *model.Model) {
	s := p.Say
	active := ""
	if m.Params.Active != m.Params.Total {
		active = count3(float64(m.Params.Active))
	}
	p.Para(p.Bold(s.Say("size.model", say.Args{"Name": m.Name, "Total": count3(float64(m.Params.Total)), "Active": active})), 2)
	p.Para(s.Say("size.shape", say.Args{
		"Class": s.Term("class", string(m.Class)), "Layers": orNothing(s, m.Layers), "Hidden": m.Hidden, "Vocab": orNothing(s, m.Vocab), "Context": orNothing(s, m.MaxContext),
	}), 2)
	for _, note := range say.ModelNotes(m) {
		p.Para(p.Alert(s.Text("model_note."+note)), 2)
	}
	kvLine(p, m)
}

// orNothing leaves a figure out that a model has no use for.
func orNothing(s *say.Speaker, n int) string {
	if n == 0 {
		return ""
	}
	return s.Value(n)
}

func kvLine(p *Printer, m *model.Model) {
	perToken := m.KVBytesPerToken(16)
	if perToken == 0 {
		p.Line(p.Say.Text("size.kv_none"))
		return
	}
	p.Para(p.Say.Say("size.kv", say.Args{
		"Token": unit.Bytes(perToken).Decimal(), "Token8": unit.Bytes(m.KVBytesPerToken(8)).Decimal(),
		"Context": unit.Bytes(m.KVBytes(m.MaxContext, 16)).Decimal(), "Tokens": orNothing(p.Say, m.MaxContext),
	}), 2)
}

// parts lists a model's parameters by part, leaving out what it does not have.
func paramParts(m *model.Model) []struct {
	Name  string
	Count int64
} {
	p := m.Params
	return []struct {
		Name  string
		Count int64
	}{
		{"embedding", p.Embedding}, {"head", p.Head}, {"attention", p.Attention}, {"mlp", p.MLP}, {"routed", p.Routed},
		{"router", p.Router}, {"norm", p.Norm}, {"other", p.Other}, {"total", p.Total}, {"active", p.Active},
	}
}

func (d *Size) parameters(s *say.Speaker, m *model.Model) *Grid {
	g := &Grid{Columns: []Column{{Head: s.Text("size.parts")}, {Right: true}, {Right: true}}}
	for _, part := range paramParts(m) {
		if part.Count > 0 {
			g.Add("  "+s.Text("params."+part.Name), s.Int(part.Count), s.Percent(float64(part.Count)/float64(m.Params.Total)))
		}
	}
	return g
}

func (d *Size) weights(s *say.Speaker, m *model.Model, wide bool) *Grid {
	g := &Grid{Columns: []Column{{Head: s.Text("size.weights")}, {Right: true}}}
	for _, w := range weightsOf(m) {
		usual := w.Format == string(m.NativeFormat)
		for _, f := range usualFormats {
			usual = usual || w.Format == string(f)
		}
		if usual || wide {
			g.Add("  "+w.Format, unit.Bytes(w.Bytes).Decimal())
		}
	}
	return g
}

func weightsOf(m *model.Model) []wire.Weights {
	out := []wire.Weights{}
	for _, f := range model.EmbeddedFormats().All() {
		out = append(out, wire.Weights{Format: string(f.Name), Bytes: int64(m.WeightBytes(f))})
	}
	return out
}

// on writes the memory of the fullest accelerator by parts, or by how much the work does not fit.
func (d *Size) on(p *Printer) {
	s, z := p.Say, d.Size.Sizing
	shown := ""
	if z.Estimate != nil {
		shown = layout(z.Estimate.Layout)
		if words := layoutWords(z.Estimate.Layout, s); words != shown {
			shown = words
		} else {
			shown = "" // one accelerator, and nothing to cut
		}
	}
	p.Para(p.Bold(s.Say("size.on", say.Args{"Count": z.Group.Accelerators(), "Chip": z.Group.Chip.Name, "Layout": shown})), 2)
	if r := z.Refusal; r != nil {
		if r.Reason == estimate.NoMemory {
			p.Para(p.Alert(s.Say("size.fits_not", say.Args{
				"Short": unit.Bytes(r.Want - r.Have).Binary(), "Want": unit.Bytes(r.Want).Binary(), "Have": unit.Bytes(r.Have).Binary(),
			})), 2)
			return
		}
		p.Para(p.Alert(s.Say("size.refused", say.Args{"Reason": r.Reason})), 2)
		return
	}
	m := z.Estimate.Memory
	p.Line(s.Say("size.fits", say.Args{"Used": m.Used.Binary(), "Capacity": m.Capacity.Binary(), "Free": m.Free().Binary()}))
	d.memory(s).Write(p)
	for _, n := range z.Estimate.Notes {
		p.Para(s.Note(n), 2)
	}
}

func (d *Size) memory(s *say.Speaker) *Grid {
	g := &Grid{Columns: []Column{{}, {Right: true}, {Right: true}}}
	m := d.Size.Sizing.Estimate.Memory
	for _, part := range m.Parts {
		g.Add("  "+s.Term("part", part.Name), part.Bytes.Binary(), s.Percent(float64(part.Bytes)/float64(m.Used)))
	}
	return g
}

// Markdown writes the tables as a piece of a document.
func (d *Size) Markdown(p *Printer) {
	if w := d.Size.Workload; w != nil {
		p.Line("## ", Asked(w, p.Say))
		p.Gap()
		p.Line(NeedsLine(d.Size.Sizing.Needs, p.Say))
		p.Gap()
	}
	if m := d.Size.Model; m != nil {
		d.parameters(p.Say, m).Markdown(p)
		p.Gap()
		d.weights(p.Say, m, true).Markdown(p)
	}
	if s := d.Size.Sizing; s != nil && s.Estimate != nil {
		p.Gap()
		d.memory(p.Say).Markdown(p)
	}
}

// Wire gives the JSON.
func (d *Size) Wire(s *say.Speaker) any {
	out := wire.Size{Schema: wire.SizeSchema, Workload: d.Canonical, Weights: []wire.Weights{}}
	if m := d.Size.Model; m != nil {
		out.Model, out.Parameters, out.Weights = wire.ModelOf(m), &m.Params, weightsOf(m)
		out.KVPerToken, out.KVPerToken8 = wire.Positive(m.KVBytesPerToken(16)), wire.Positive(m.KVBytesPerToken(8))
	}
	if z := d.Size.Sizing; z != nil {
		needs := wire.FromNeeds(z.Needs)
		out.Needs = &needs
		if z.Group.Chip != nil {
			out.On = wire.SizeOnOf(z.Group, z.Estimate, z.Refusal, s)
		}
	}
	return out
}

// Rows gives one row a figure, the heads first.
func (d *Size) Rows() [][]string {
	rows := [][]string{{"set", "name", "value", "unit"}}
	if m := d.Size.Model; m != nil {
		for _, part := range paramParts(m) {
			rows = append(rows, []string{"parameters", part.Name, strconv.FormatInt(part.Count, 10), "parameters"})
		}
		for _, w := range weightsOf(m) {
			rows = append(rows, []string{"weights", w.Format, strconv.FormatInt(w.Bytes, 10), "bytes"})
		}
		rows = append(rows, []string{"kv_cache", "per_token", float(m.KVBytesPerToken(16)), "bytes"})
	}
	if s := d.Size.Sizing; s != nil && s.Estimate != nil {
		for _, part := range s.Estimate.Memory.Parts {
			rows = append(rows, []string{"memory", strings.ToLower(part.Name), strconv.FormatInt(int64(part.Bytes), 10), "bytes"})
		}
	}
	return rows
}
