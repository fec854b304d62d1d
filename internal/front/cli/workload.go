package cli

import (
	"context"
	"maps"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/software"
	"github.com/rackrate/rackrate/internal/front/say"
)

// workloadOptions are the flags that say what is to be run: a file, or the same keys as flags, or a file with flags
// laid over it.
type workloadOptions struct {
	file   string
	values map[string]*fieldValue
	set    *pflag.FlagSet
}

// AddFlags declares -f and one flag for each key of a workload. A key whose flag is taken by every command, or by
// this one, stays a key of the file.
func (o *workloadOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	o.set, o.values = f, map[string]*fieldValue{}
	f.StringVarP(&o.file, "file", "f", "", s.Text("option.file"))
	called(f, "file", "FILE")
	for _, flag := range workload.Flags() {
		if f.Lookup(flag.Name) != nil {
			continue
		}
		first := flag.Fields[0]
		v := &fieldValue{kind: first.Type, list: first.List}
		o.values[flag.Name] = v
		declared := f.VarPF(v, flag.Name, "", fieldUsage(flag, s))
		declared.Annotations = map[string][]string{annotationSection: {fieldSection(flag, s)}}
		if first.Type == "bool" {
			declared.NoOptDefVal = "true"
		}
	}
}

// complete offers the words that the keys allow, and the known models.
func (o *workloadOptions) complete(cmd *cobra.Command, d *deps) {
	for _, flag := range workload.Flags() {
		if o.values[flag.Name] == nil {
			continue
		}
		words := func() []string { return flag.Fields[0].Enum }
		switch flag.Name {
		case "model":
			words = d.modelNames
		case "gpu", "on":
			words = d.chipNames
		case "providers", "not-providers":
			words = d.providerNames
		case "framework":
			words = func() []string { return software.Embedded().Frameworks() }
		case "needs":
			words = func() []string { return software.Embedded().KnownNeeds() }
		}
		// A flag that is not there cannot be completed; these were declared above.
		_ = cmd.RegisterFlagCompletionFunc(flag.Name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return words(), cobra.ShellCompDirectiveDefault
		})
	}
}

func (d *deps) chipNames() []string {
	var names []string
	for _, a := range d.Chips().All() {
		names = append(names, a.Name)
	}
	return names
}

func (d *deps) providerNames() []string {
	var names []string
	for _, p := range d.Providers().Providers() {
		names = append(names, p.ID)
	}
	return names
}

func (d *deps) modelNames() []string {
	var names []string
	for _, m := range d.Models().All() {
		names = append(names, m.Name)
	}
	return names
}

// Validate takes the file from the argument or from -f.
func (o *workloadOptions) Validate(args []string, command string) error {
	if len(args) > 1 || len(args) == 1 && o.file != "" {
		return problem.New(problem.Input, "cli.extra_argument", problem.Args{"Argument": args[len(args)-1], "Command": command})
	}
	if len(args) == 1 {
		o.file = args[0]
	}
	return nil
}

// given says whether the user said anything about what is to be run.
func (o *workloadOptions) given() bool { return o.file != "" || len(o.flags()) > 0 }

// flags are the keys that were given as flags.
func (o *workloadOptions) flags() map[string]string {
	flags := map[string]string{}
	for name, v := range o.values {
		if o.set.Changed(name) {
			flags[name] = v.String()
		}
	}
	return flags
}

// read gives the workload, with further flags laid over those that were given.
func (o *workloadOptions) read(ctx context.Context, d *deps, more map[string]string) (*workload.Workload, error) {
	flags := o.flags()
	maps.Copy(flags, more)
	if o.file == "" && len(flags) == 0 {
		return nil, problem.New(problem.Input, "cli.no_workload", nil)
	}
	if o.file == "" {
		return withModel(ctx, d, func() (*workload.Workload, error) {
			return workload.FromFlags(flags, d.Files.Read, d.WorkloadFacts())
		})
	}
	name, data, err := d.ReadInput(o.file)
	if err != nil {
		return nil, err
	}
	return withModel(ctx, d, func() (*workload.Workload, error) {
		return workload.ParseWith(name, data, flags, d.Beside(o.file), d.WorkloadFacts())
	})
}

// fieldValue is a flag of a workload's key: its text, which the workload's own decoder reads. Given twice, a list
// grows; any other key takes the last.
type fieldValue struct {
	kind string
	list bool
	text string
}

func (v *fieldValue) String() string { return v.text }
func (v *fieldValue) Type() string   { return v.kind }

func (v *fieldValue) Set(text string) error {
	if v.list && v.text != "" {
		text = v.text + "," + text
	}
	v.text = text
	return nil
}

// fieldUsage is what a flag means, for each kind of work that has it in another meaning.
func fieldUsage(flag workload.Flag, s *say.Speaker) string {
	var meanings []string
	kinds := map[string][]string{}
	for _, f := range flag.Fields {
		text := strings.TrimRight(f.Doc.In(string(s.Lang())), ".。")
		if len(f.Enum) > 0 && len(f.Enum) <= 9 {
			text += s.Say("field.enum", say.Args{"Names": strings.Join(f.Enum, " | ")})
		}
		if f.Default != "" && f.Default != "false" {
			text += s.Say("help.default", say.Args{"Value": f.Default})
		}
		meanings = append(meanings, text)
		for _, k := range f.Kinds {
			kinds[text] = append(kinds[text], string(k))
		}
	}
	meanings = unique(meanings)
	if len(meanings) > 1 { // which kind of work has which meaning
		for i, text := range meanings {
			meanings[i] = s.Say("field.of", say.Args{"Kinds": kinds[text], "Text": text})
		}
	}
	return strings.Join(meanings, s.Text("field.or"))
}

// fieldSection is the heading of a key in the help: its group in the file, else the kinds of work that have it.
func fieldSection(flag workload.Flag, s *say.Speaker) string {
	f := flag.Fields[0]
	if group, _, in := strings.Cut(f.Path, "."); in {
		return s.Term("section", group)
	}
	if len(f.Kinds) == 0 {
		return s.Text("section.general")
	}
	return s.Text("section.work")
}

func unique(texts []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range texts {
		if !seen[t] {
			out = append(out, t)
		}
		seen[t] = true
	}
	return out
}
