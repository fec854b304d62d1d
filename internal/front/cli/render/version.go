package render

import (
	"strings"

	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Version is the answer of version.
type Version struct{ Version wire.Version }

// Text writes it in one line.
func (d *Version) Text(p *Printer, _ bool) {
	v := d.Version
	p.Line(strings.Join([]string{"rackrate " + v.Version, v.Go, v.Platform}, " · "))
}

// Markdown writes it in one line.
func (d *Version) Markdown(p *Printer) { d.Text(p, false) }

// Wire gives the JSON.
func (d *Version) Wire(*say.Speaker) any { return d.Version }

// Rows gives one row, the heads first.
func (d *Version) Rows() [][]string {
	v := d.Version
	return [][]string{{"version", "revision", "time", "go", "platform"}, {v.Version, v.Revision, v.Time, v.Go, v.Platform}}
}
