package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/front/cli/render"
)

// help writes the help of a command in the reader's language.
func (d *deps) help(cmd *cobra.Command) {
	width, color := d.Terminal()
	p := render.NewPrinter(render.Options{Width: width, Color: color, Say: d.Say})
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	p.Para(text, 0)
	p.Gap()
	p.Line(p.Bold(d.Say.Text("help.usage")))
	p.Line("  ", usageLine(cmd))
	if cmd.Example != "" {
		p.Gap()
		p.Line(p.Bold(d.Say.Text("help.examples")))
		for line := range strings.SplitSeq(strings.TrimSpace(cmd.Example), "\n") {
			p.Line("  ", line)
		}
	}
	d.helpCommands(p, cmd)
	d.helpFlags(p, cmd)
	if err := p.Flush(cmd.OutOrStdout()); err != nil {
		fmt.Fprintln(d.Err, err)
	}
}

func usageLine(cmd *cobra.Command) string {
	if holdsOthers(cmd) {
		return cmd.CommandPath() + " <command>"
	}
	line := cmd.UseLine()
	if cmd.HasAvailableFlags() && !strings.Contains(line, "[flags]") {
		line += " [flags]"
	}
	return line
}

// holdsOthers says that a command does nothing by itself: one that does shows its arguments or flags in its use.
func holdsOthers(cmd *cobra.Command) bool {
	return cmd.HasAvailableSubCommands() && !strings.Contains(cmd.Use, " ")
}

// helpCommands lists the commands below cmd by group.
func (d *deps) helpCommands(p *render.Printer, cmd *cobra.Command) {
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: d.Say.Text("help.commands")}}
	}
	column := 0
	for _, c := range cmd.Commands() {
		column = max(column, len(c.Name())+4)
	}
	for _, g := range groups {
		first := true
		for _, c := range cmd.Commands() {
			if !c.IsAvailableCommand() || c.GroupID != g.ID {
				continue
			}
			if first {
				p.Gap()
				p.Line(p.Bold(g.Title))
			}
			first = false
			p.Hang("  "+c.Name(), c.Short, column+2)
		}
	}
}

// helpFlags lists the flags of cmd, its own before those of every command.
func (d *deps) helpFlags(p *render.Printer, cmd *cobra.Command) {
	for _, section := range d.flagSections(cmd) {
		if len(section.flags) == 0 {
			continue
		}
		p.Gap()
		p.Line(p.Bold(section.title))
		for _, f := range section.flags {
			form := "  " + flagForm(f)
			if len(form) > flagColumn-2 { // too long to stand beside its text
				p.Line(form)
				form = ""
			}
			p.Hang(form, d.flagText(f), flagColumn)
		}
	}
}

type flagSection struct {
	title string
	flags []*pflag.Flag
}

// flagSections sorts the flags of a command under headings: those without one first, then by heading in the order
// of their first flag, then those of every command.
func (d *deps) flagSections(cmd *cobra.Command) []flagSection {
	sections := []flagSection{{title: d.Say.Text("help.flags")}}
	global := flagSection{title: d.Say.Text("help.global")}
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || !cmd.HasParent() {
			return
		}
		title := sections[0].title
		if t := f.Annotations[annotationSection]; len(t) > 0 {
			title = t[0]
		}
		for i := range sections {
			if sections[i].title == title {
				sections[i].flags = append(sections[i].flags, f)
				return
			}
		}
		sections = append(sections, flagSection{title, []*pflag.Flag{f}})
	})
	cmd.Root().PersistentFlags().SortFlags = false
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) { global.flags = append(global.flags, f) })
	return append(sections, global)
}

// annotationSection names the heading of a flag in the help, annotationValue what its value is called.
const (
	annotationSection = "section"
	annotationValue   = "value"
)

// called names the value of a flag in the help.
func called(f *pflag.FlagSet, flag, value string) {
	fl := f.Lookup(flag)
	if fl.Annotations == nil {
		fl.Annotations = map[string][]string{}
	}
	fl.Annotations[annotationValue] = []string{value}
}

// flagColumn is where the text of a flag begins.
const flagColumn = 32

// valueNames are what the help calls the values of flags, by type.
var valueNames = map[string]string{
	"bool": "", "int": "N", "float64": "N", "integer": "N", "number": "N", "count": "N", "string": "VALUE", "stringSlice": "VALUE",
	"enum": "WORD", "bytes": "SIZE", "hours": "TIME", "days": "TIME", "seconds": "TIME", "flop": "FLOP", "money": "MONEY",
	"money per time": "MONEY/TIME",
}

// flagForm is a flag as it is written: "-o, --output FORMAT".
func flagForm(f *pflag.Flag) string {
	form := "    --" + f.Name
	if f.Shorthand != "" {
		form = "-" + f.Shorthand + ", --" + f.Name
	}
	name, known := valueNames[f.Value.Type()]
	if !known {
		name = strings.ToUpper(f.Value.Type())
	}
	if own := f.Annotations[annotationValue]; len(own) > 0 {
		name = own[0]
	}
	switch {
	case name == "":
	case f.NoOptDefVal != "":
		form += "[=" + name + "]"
	default:
		form += " " + name
	}
	return form
}

// flagText is what a flag does, with its default where it has one.
func (d *deps) flagText(f *pflag.Flag) string {
	if f.DefValue == "" || f.DefValue == "false" || f.DefValue == "0" || f.DefValue == "[]" {
		return f.Usage
	}
	return f.Usage + d.Say.Say("help.default", map[string]any{"Value": f.DefValue})
}

// newHelp is "rackrate help [command]".
func newHelp(d *deps) *cobra.Command {
	cmd := d.command("help", "help [command]", groupManage)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		found, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return d.noSuchCommand(found, rest)
		}
		return found.Help()
	}
	return cmd
}
