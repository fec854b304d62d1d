package render

import (
	"strconv"

	"github.com/rackrate/rackrate/internal/front/config"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Settings is the answer of config show.
type Settings struct {
	Config config.Config
	Origin bool // also say where each value came from
}

// Text writes the settings for people.
func (d *Settings) Text(p *Printer, wide bool) { d.grid(p.Say, wide).Write(p) }

// Markdown writes the table as a piece of a document.
func (d *Settings) Markdown(p *Printer) { d.grid(p.Say, false).Markdown(p) }

func (d *Settings) grid(s *say.Speaker, wide bool) *Grid {
	g := &Grid{Columns: []Column{{Head: s.Text("column.setting")}, {Head: s.Text("column.value")}}}
	origin := d.Origin || wide
	if origin {
		g.Columns = append(g.Columns, Column{Head: s.Text("column.origin")})
	}
	for _, k := range config.Keys() {
		text := d.Config.Shown(k)
		if text == "" {
			text = say.Unknown
		}
		row := []string{string(k), text}
		if origin {
			row = append(row, originText(d.Config.Get(k).Origin, s))
		}
		g.Add(row...)
	}
	return g
}

func originText(o config.Origin, s *say.Speaker) string {
	name := o.Name
	if o.Line > 0 {
		name += ":" + strconv.Itoa(o.Line)
	}
	return s.Say("origin."+string(o.Layer), say.Args{"Name": name})
}

// Wire gives the JSON.
func (d *Settings) Wire(*say.Speaker) any {
	out := wire.Settings{Schema: wire.SettingsSchema, Settings: []wire.Setting{}}
	for _, k := range config.Keys() {
		v := d.Config.Get(k)
		out.Settings = append(out.Settings, wire.Setting{
			Key: string(k), Value: d.Config.Shown(k), Layer: string(v.Origin.Layer), From: v.Origin.Name, Line: v.Origin.Line,
		})
	}
	return out
}

// Rows gives one row a setting, the heads first.
func (d *Settings) Rows() [][]string {
	rows := [][]string{{"key", "value", "layer", "from", "line"}}
	for _, k := range config.Keys() {
		v := d.Config.Get(k)
		rows = append(rows, []string{string(k), d.Config.Shown(k), string(v.Origin.Layer), v.Origin.Name, strconv.Itoa(v.Origin.Line)})
	}
	return rows
}
