package render

import (
	"strconv"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Model is the answer of model show, and of model add: the model as it is kept.
type Model struct{ Known *app.Known }

// Text writes the model for people.
func (d *Model) Text(p *Printer, wide bool) {
	s, m := p.Say, d.Known.Model
	if line := d.change(s); line != "" {
		p.Para(p.Bold(line), 2)
		p.Gap()
	}
	modelHead(p, m)
	p.Gap()
	(&Size{}).weights(s, m, wide).Write(p)
	p.Gap()
	for _, fact := range d.facts(s) {
		p.Hang(fact[0], fact[1], labelColumn)
	}
	p.Gap()
	for _, remark := range ModelRemarks(d.Known, s) {
		p.Para(p.Alert(remark), 2)
	}
	p.Gap()
	p.Para(p.Dim(s.Say("model.next", say.Args{"Name": m.Name})), 0)
}

// ModelRemarks are what a user should know before relying on a model: that its count is not the checkpoint's or could not be held
// against it, and what it stands before.
func ModelRemarks(k *app.Known, s *say.Speaker) (out []string) {
	if gap, known := k.CheckpointGap(); known && !k.CountHolds() {
		out = append(out, s.Say("model.gap", say.Args{"Counted": k.Params.Total, "Published": k.Published.Or(0), "Share": s.Percent(max(gap, -gap))}))
	}
	if k.Packed {
		out = append(out, s.Text("model.packed"))
	}
	if k.Hides {
		out = append(out, s.Say("model.hides", say.Args{"Name": k.Name}))
	}
	return out
}

// change says what was done; nothing where a model is only shown.
func (d *Model) change(s *say.Speaker) string {
	if d.Known.Change == "" {
		return ""
	}
	return s.Say("model.change."+string(d.Known.Change), say.Args{"Name": d.Known.Name})
}

// facts are where the model is from, with a label each.
func (d *Model) facts(s *say.Speaker) [][2]string {
	k := d.Known
	out := [][2]string{{s.Text("model.source"), s.Say("explain.source", say.Args{"Source": k.Source, "AsOf": k.AsOf, "Confidence": s.Term("confidence", k.Confidence)})}}
	if k.Own {
		out = append(out, [2]string{s.Text("model.kept"), s.Say("model.own_file", say.Args{"File": k.File})})
	} else {
		out = append(out, [2]string{s.Text("model.kept"), s.Text("model.built_in")})
	}
	if k.License != "" {
		out = append(out, [2]string{s.Text("model.license"), k.License})
	}
	if k.CountHolds() {
		out = append(out, [2]string{s.Text("model.check"), s.Say("model.holds", say.Args{"Published": k.Published.Or(0)})})
	}
	return out
}

// Markdown writes it as a piece of a document.
func (d *Model) Markdown(p *Printer) {
	s, m := p.Say, d.Known.Model
	p.Line("## ", m.Name)
	p.Gap()
	g := &Grid{Columns: []Column{{Head: s.Text("column.figure")}, {Head: s.Text("column.value")}}}
	g.Add(s.Text("params.total"), s.Int(m.Params.Total))
	g.Add(s.Text("params.active"), s.Int(m.Params.Active))
	g.Add(s.Text("column.context"), orDash(s, m.MaxContext))
	for _, fact := range d.facts(s) {
		g.Add(fact[0], fact[1])
	}
	g.Markdown(p)
	p.Gap()
	(&Size{}).weights(s, m, false).Markdown(p)
}

// orDash is a count, or a dash where there is none.
func orDash(s *say.Speaker, n int) string {
	if n == 0 {
		return say.Unknown
	}
	return s.Int(int64(n))
}

// Wire gives the JSON.
func (d *Model) Wire(*say.Speaker) any {
	k := d.Known
	return wire.KnownModel{
		Schema: wire.ModelSchema, Change: wire.Text(string(k.Change)), Model: wire.ListedModelOf(k), Shape: wire.ModelOf(k.Model),
		Parameters: &k.Params, MTP: k.MTP, Check: wire.ModelCheckOf(k.Model),
		KVPerToken: wire.Positive(k.KVBytesPerToken(16)), KVPerToken8: wire.Positive(k.KVBytesPerToken(8)), Weights: weightsOf(k.Model),
		Source: wire.Text(k.Source), License: wire.Text(k.License), File: wire.Text(k.File),
	}
}

// Rows gives the one row of a list, the heads first.
func (d *Model) Rows() [][]string {
	return modelRows([]*app.Known{d.Known})
}

// Models is the answer of model list.
type Models struct {
	List *app.ModelList
	Top  int // rows shown; 0 is all
}

func (d *Models) shown() []*app.Known {
	if d.Top > 0 && d.Top < len(d.List.Found) {
		return d.List.Found[:d.Top]
	}
	return d.List.Found
}

// Text writes the list for people.
func (d *Models) Text(p *Printer, _ bool) {
	s := p.Say
	p.Line(s.Say("models.title", say.Args{"Found": len(d.List.Found), "Total": d.List.Total, "Own": d.List.Own, "Text": d.List.Text}))
	if len(d.List.Found) == 0 {
		return
	}
	p.Gap()
	d.grid(s).Write(p)
	if more := len(d.List.Found) - len(d.shown()); more > 0 {
		p.Line(p.Dim(s.Say("offers.more", say.Args{"Count": more})))
	}
	p.Gap()
	p.Para(p.Dim(s.Text("models.next")), 0)
}

func (d *Models) grid(s *say.Speaker) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{
		{Head: head("model"), Shrink: true}, {Head: head("params"), Right: true}, {Head: head("active"), Right: true}, {Head: head("context"), Right: true},
		{Head: head("class"), Drop: 3}, {Head: head("format"), Drop: 4}, {Head: "bf16", Right: true, Drop: 2}, {Head: head("origin")},
		{Head: head("dated"), Drop: 1},
	}}
	for _, k := range d.shown() {
		active, kept := "", s.Text("model.kept.built_in")
		if k.Params.Active != k.Params.Total {
			active = count3(float64(k.Params.Active))
		}
		if k.Own {
			kept = s.Text("model.kept.own")
		}
		g.Add(k.Name, count3(float64(k.Params.Total)), active, orDash(s, k.MaxContext), s.Term("class", string(k.Class)), string(k.NativeFormat),
			weightsIn(k.Model, "bf16"), kept, k.AsOf)
	}
	return g
}

// weightsIn is what the weights take in a format.
func weightsIn(m *model.Model, name string) string {
	f, err := model.LookupFormat(name)
	if err != nil {
		return say.Unknown
	}
	return unit.Bytes(m.WeightBytes(f)).Decimal()
}

// Markdown writes the list as a piece of a document.
func (d *Models) Markdown(p *Printer) { d.grid(p.Say).Markdown(p) }

// Wire gives the JSON.
func (d *Models) Wire(*say.Speaker) any {
	out := wire.ModelList{
		Schema: wire.ModelsSchema, Total: d.List.Total, Own: d.List.Own, Matched: len(d.List.Found), Models: []wire.ListedModel{},
	}
	for _, k := range d.shown() {
		out.Models = append(out.Models, wire.ListedModelOf(k))
	}
	return out
}

// Rows gives one row a model, the heads first.
func (d *Models) Rows() [][]string { return modelRows(d.shown()) }

func modelRows(models []*app.Known) [][]string {
	rows := [][]string{{
		"name", "own", "hf", "family", "class", "parameters", "active_parameters", "layers", "max_context", "native_format",
		"kv_bytes_per_token", "source", "as_of", "confidence", "license",
	}}
	whole := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	for _, k := range models {
		kv := ""
		if v := k.KVBytesPerToken(16); v > 0 {
			kv = float(v)
		}
		rows = append(rows, []string{
			k.Name, strconv.FormatBool(k.Own), k.HF, k.Family, string(k.Class), whole(k.Params.Total), whole(k.Params.Active), whole(int64(k.Layers)),
			whole(int64(k.MaxContext)), string(k.NativeFormat), kv, k.Source, k.AsOf, k.Confidence, k.License,
		})
	}
	return rows
}
