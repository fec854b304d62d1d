package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/config"
	"github.com/rackrate/rackrate/internal/front/say"
)

// The groups of commands in the help, in their order.
const (
	groupChoose = "choose"
	groupManage = "manage"
)

// globals are the flags that every command takes; each is a setting.
type globals struct{ set *pflag.FlagSet }

// globalKeys are the settings that are flags of every command.
var globalKeys = []config.Key{config.Output, config.Top, config.Lang, config.Currency, config.Color}

// AddFlags declares the flags of every command.
func (g *globals) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	g.set = f
	for _, k := range globalKeys {
		short := ""
		if k == config.Output {
			short = "o"
		}
		f.StringP(k.Flag(), short, "", s.Text("option."+k.Flag()))
		f.Lookup(k.Flag()).DefValue = k.Default()
	}
	called(f, "output", "FORMAT")
	called(f, "top", "N")
	called(f, "lang", "LANG")
	called(f, "currency", "CODE")
	called(f, "color", "WHEN")
}

// given are the settings that flags changed. Commands may add flags of their own that are settings; a key of a workload
// that is called alike is the workload's.
func given(f *pflag.FlagSet) map[config.Key]string {
	flags := map[config.Key]string{}
	for _, k := range config.Keys() {
		fl := f.Lookup(k.Flag())
		if fl == nil || !fl.Changed {
			continue
		}
		if _, workloads := fl.Value.(*fieldValue); !workloads {
			flags[k] = fl.Value.String()
		}
	}
	return flags
}

func newRoot(d *deps) *cobra.Command {
	root := &cobra.Command{
		Use:           "rackrate",
		Short:         d.Say.Text("cmd.rackrate.short"),
		Long:          d.Say.Text("cmd.rackrate.long"),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          d.noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddGroup(
		&cobra.Group{ID: groupChoose, Title: d.Say.Text("group.choose")},
		&cobra.Group{ID: groupManage, Title: d.Say.Text("group.manage")},
	)
	d.global.AddFlags(root.PersistentFlags(), d.Say)
	root.PersistentFlags().BoolP("help", "h", false, d.Say.Text("option.help"))
	root.SetFlagErrorFunc(d.flagProblem)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { d.help(cmd) })
	root.SetHelpCommand(newHelp(d))
	completeGlobals(root)
	root.AddCommand(
		newPlan(d), newSize(d), newCommit(d), newTCO(d), newOffers(d), newSpot(d), newAccuracy(d),
		newInit(d), newCatalog(d), newModel(d), newConfig(d), newSchema(d), newCompletion(d), newVersion(d), newGenDocs(d),
	)
	return root
}

// command makes a command of a name in the catalogue of messages; its first word is the name there.
func (d *deps) command(id, use, group string) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, GroupID: group,
		Short: d.Say.Text("cmd." + id + ".short"), Long: d.Say.Text("cmd." + id + ".long"),
		Args: d.noArgs,
	}
	cmd.Flags().SortFlags = false // they are declared in the order a reader needs them
	if d.Say.Has("cmd." + id + ".example") {
		cmd.Example = d.Say.Text("cmd." + id + ".example")
	}
	return cmd
}

// family makes a command that only holds others.
func (d *deps) family(id, group string, members ...*cobra.Command) *cobra.Command {
	cmd := d.command(id, id, group)
	cmd.Args = d.noSuchCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(members...)
	return cmd
}

// settled runs a command once the settings are known, its own flags over them. Commands that need none run without, so that they
// work with settings that are at fault.
func (d *deps) settled(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := d.Override(given(cmd.Flags()))
		if d.faults != nil {
			return d.faults
		}
		if err != nil {
			return err
		}
		return run(cmd, args)
	}
}

// noArgs refuses arguments to a command that takes none.
func (d *deps) noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return problem.New(problem.Input, "cli.extra_argument", problem.Args{"Argument": args[0], "Command": cmd.CommandPath()})
}

// oneArg refuses any other number of arguments than one.
func (d *deps) oneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return problem.New(problem.Input, "cli.missing_argument", problem.Args{"Argument": name, "Command": cmd.CommandPath()})
		case 1:
			return nil
		}
		return problem.New(problem.Input, "cli.extra_argument", problem.Args{"Argument": args[1], "Command": cmd.CommandPath()})
	}
}

// noSuchCommand refuses a name that is no command, with what was probably meant.
func (d *deps) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return problem.New(problem.Input, "cli.unknown_command", problem.Args{"Command": args[0], "Of": cmd.CommandPath()}).
		With(problem.Nearest(args[0], names, 2)...)
}

func completeGlobals(root *cobra.Command) {
	fixed := func(flag string, names ...string) {
		// A flag that is not there cannot be completed; the names above are this package's own.
		_ = root.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	}
	fixed("output", render.Names()...)
	fixed("lang", string(say.English), string(say.Chinese))
	fixed("currency", "USD", "CNY", "EUR")
	fixed("color", "auto", "always", "never")
}
