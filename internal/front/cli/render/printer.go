package render

import (
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/rackrate/rackrate/internal/front/say"
)

// DefaultWidth is what text is laid out for where the terminal does not say.
const DefaultWidth = 100

// Printer collects text for people.
type Printer struct {
	Say   *say.Speaker
	Width int
	color bool
	b     strings.Builder
}

// NewPrinter makes a printer; a width of 0 is DefaultWidth.
func NewPrinter(o Options) *Printer {
	if o.Width <= 0 {
		o.Width = DefaultWidth
	}
	return &Printer{Say: o.Say, Width: o.Width, color: o.Color}
}

// Flush writes what was collected.
func (p *Printer) Flush(w io.Writer) error {
	_, err := io.WriteString(w, p.b.String())
	return err
}

// Line writes one line as it is.
func (p *Printer) Line(parts ...string) {
	p.b.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.b.WriteByte('\n')
}

// Gap writes an empty line, once.
func (p *Printer) Gap() {
	if s := p.b.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		p.b.WriteByte('\n')
	}
}

// Para writes text wrapped to the width; lines after the first are indented by so many columns.
func (p *Printer) Para(text string, indent int) {
	for i, line := range Wrap(text, p.Width-indent) {
		if i > 0 {
			line = strings.Repeat(" ", indent) + line
		}
		p.Line(line)
	}
}

// Named writes what there is to say of something by its name, wrapped.
func (p *Printer) Named(name, text string) {
	p.Para(p.Say.Say("list.named", say.Args{"Name": p.Bold(name), "Text": text}), 2)
}

// Hang writes text wrapped beside a label that stands once, in a column of so many columns.
func (p *Printer) Hang(label, text string, column int) {
	head := pad(label, column, false)
	for i, line := range Wrap(text, p.Width-column) {
		if i > 0 {
			head = strings.Repeat(" ", column)
		}
		p.Line(head, line)
	}
}

// Bold and Dim mark text where the terminal shows colour.
func (p *Printer) Bold(s string) string { return p.style("1", s) }

// Dim marks text that matters less.
func (p *Printer) Dim(s string) string { return p.style("2", s) }

// Alert marks text that needs attention.
func (p *Printer) Alert(s string) string { return p.style("33", s) }

func (p *Printer) style(code, s string) string {
	if !p.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// width is how many columns s takes, not counting colour.
func width(s string) int {
	return displaywidth.Options{ControlSequences: true}.String(s)
}

// pad fills s with spaces to so many columns.
func pad(s string, columns int, right bool) string {
	n := columns - width(s)
	if n <= 0 {
		return s
	}
	if right {
		return strings.Repeat(" ", n) + s
	}
	return s + strings.Repeat(" ", n)
}

// Wrap breaks text into lines of at most so many columns: between words, and between Han characters, which have
// no spaces. A word that is longer than a line keeps its own line, so that it can be copied.
func Wrap(text string, columns int) []string {
	var lines []string
	for _, para := range strings.Split(text, "\n") {
		lines = append(lines, wrapLine(para, max(columns, 20))...)
	}
	return lines
}

func wrapLine(text string, columns int) []string {
	var lines []string
	line, used := "", 0
	for _, piece := range pieces(text) {
		w := width(piece)
		if used > 0 && used+width(strings.TrimRight(piece, " ")) > columns {
			lines = append(lines, strings.TrimRight(line, " "))
			line, used = "", 0
			piece = strings.TrimLeft(piece, " ")
			w = width(piece)
		}
		line += piece
		used += w
	}
	return append(lines, strings.TrimRight(line, " "))
}

// pieces cuts text where a line may break: after spaces, and after each wide character unless punctuation follows,
// which must not begin a line.
func pieces(text string) []string {
	var out []string
	runes := []rune(text)
	start := 0
	for i, r := range runes {
		last := i+1 == len(runes)
		switch {
		case last:
		case r == ' ' && runes[i+1] != ' ':
		case displaywidth.Rune(r) == 2 && !closing(runes[i+1]) && !opening(r):
		case displaywidth.Rune(runes[i+1]) == 2 && r != ' ' && !closing(runes[i+1]) && !opening(r):
		default:
			continue
		}
		out = append(out, string(runes[start:i+1]))
		start = i + 1
	}
	return out
}

func closing(r rune) bool {
	return strings.ContainsRune("，。、；：！？）」』》〉】％ ,.;:!?)%", r)
}
func opening(r rune) bool { return strings.ContainsRune("（「『《〈【(", r) }
