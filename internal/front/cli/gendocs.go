package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/config"
	"github.com/rackrate/rackrate/internal/front/say"
)

// newGenDocs writes docs/cli.md, docs/accuracy.md, docs/formats/workload.md and their siblings in each other language.
func newGenDocs(d *deps) *cobra.Command {
	cmd := d.command("gen_docs", "gen-docs DIR", groupManage)
	cmd.Hidden = true
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		for _, lang := range say.Langs() {
			ending := ".md"
			if lang != say.English {
				ending = "." + string(lang) + ".md"
			}
			for name, text := range map[string]string{"cli": reference(d, lang), filepath.Join("formats", "workload"): workloadReference(say.For(lang)),
				"accuracy": accuracyReference(say.For(lang), estimate.EmbeddedCurves())} {
				if err := d.Files.Create(filepath.Join(args[0], name+ending), []byte(text), true); err != nil {
					return problem.New(problem.Internal, "cli.cannot_write", problem.Args{"Error": err.Error()}).Wrap(err)
				}
			}
		}
		return nil
	}
	return cmd
}

// reference is the reference of every command in a language.
func reference(d *deps, lang say.Lang) string {
	spoken := &deps{App: &app.App{Outside: d.Outside, Config: d.Config, Say: say.For(lang), Today: d.Today}}
	root := newRoot(spoken)
	s := spoken.Say
	var b strings.Builder
	b.WriteString("# " + s.Text("docs.title") + "\n\n" + s.Text("docs.generated") + "\n\n" + root.Long + "\n")
	section(&b, spoken, root, 2)
	b.WriteString("\n## " + s.Text("docs.settings.title") + "\n\n" + s.Text("docs.settings") + "\n\n")
	for _, k := range config.Keys() {
		fallback := k.Default()
		if fallback != "" {
			fallback = " · `" + fallback + "`"
		}
		b.WriteString("- `" + string(k) + "` · `" + k.Env() + "`" + fallback + " · " + s.Text("setting."+string(k)) + "\n")
	}
	b.WriteString("\n## " + s.Text("docs.exit.title") + "\n\n" + s.Text("docs.exit") + "\n")
	return b.String()
}

// section writes the commands below cmd, those that only hold others as headings.
func section(b *strings.Builder, d *deps, cmd *cobra.Command, level int) {
	for _, c := range cmd.Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		b.WriteString("\n" + strings.Repeat("#", level) + " " + c.CommandPath() + "\n\n" + c.Long + "\n")
		if holdsOthers(c) {
			section(b, d, c, level+1)
			continue
		}
		b.WriteString("\n```\n" + usageLine(c) + "\n```\n")
		if c.Example != "" {
			b.WriteString("\n" + d.Say.Text("help.examples") + "\n\n```sh\n" + c.Example + "\n```\n")
		}
		for _, part := range d.flagSections(c) {
			if len(part.flags) > 0 && part.title != d.Say.Text("help.global") {
				flagTable(b, d, part)
			}
		}
		section(b, d, c, level+1)
	}
	if level == 2 {
		sections := d.flagSections(cmd)
		flagTable(b, d, sections[len(sections)-1])
	}
}

func flagTable(b *strings.Builder, d *deps, part flagSection) {
	b.WriteString("\n**" + part.title + "**\n\n| | |\n| --- | --- |\n")
	for _, f := range part.flags {
		b.WriteString("| `" + strings.TrimSpace(flagForm(f)) + "` | " + cell(d.flagText(f)) + " |\n")
	}
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// workloadReference lists the keys of workload files, from the table that reads them.
func workloadReference(s *say.Speaker) string {
	var b strings.Builder
	b.WriteString("# " + s.Text("docs.workload.title") + "\n\n" + s.Text("docs.generated") + "\n\n" + s.Text("docs.workload") + "\n\n```yaml\n")
	b.Write(workload.Example(workload.Finetune, string(s.Lang())))
	b.WriteString("```\n\n" + s.Text("docs.workload.columns") + "\n| --- | --- | --- | --- |\n")
	for _, f := range workload.Fields() {
		kinds := make([]string, len(f.Kinds))
		for i, k := range f.Kinds {
			kinds[i] = string(k)
		}
		value := f.Type
		if len(f.Enum) > 0 {
			value = strings.Join(f.Enum, ", ")
		}
		if f.Required {
			value += " *"
		}
		row := []string{"`" + f.Path + "`", value, strings.Join(kinds, ", "), f.Doc.In(string(s.Lang()))}
		for i := range row {
			row[i] = cell(row[i])
		}
		if f.Default != "" {
			row[3] += " (" + f.Default + ")"
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}
