package cli

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/front/say"
)

// initOptions are the flags of init.
type initOptions struct {
	file  string
	force bool

	kind   workload.Kind
	stdout bool
}

// AddFlags declares the flags.
func (o *initOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringVarP(&o.file, "file", "f", "", s.Text("option.init-file"))
	called(f, "file", "FILE")
	f.BoolVar(&o.force, "force", false, s.Text("option.force"))
}

// Validate reads the arguments: a kind of work, and "-" for standard output, in either order.
func (o *initOptions) Validate(args []string) error {
	o.kind = ""
	for _, arg := range args {
		if arg == "-" && !o.stdout {
			o.stdout = true
			continue
		}
		if o.kind != "" || arg == "-" {
			return problem.New(problem.Input, "cli.extra_argument", problem.Args{"Argument": arg, "Command": "rackrate init"})
		}
		kind, err := parseKind(arg)
		if err != nil {
			return err
		}
		o.kind = kind
	}
	if o.kind == "" {
		o.kind = workload.Train
	}
	o.stdout = o.stdout || o.file == "-"
	if o.file == "" {
		o.file = string(o.kind) + ".yaml"
	}
	return nil
}

func parseKind(text string) (workload.Kind, error) {
	var names []string
	for _, k := range workload.Kinds() {
		if string(k) == text {
			return k, nil
		}
		names = append(names, string(k))
	}
	return "", problem.New(problem.Input, "cli.one_of", problem.Args{"What": "KIND", "Names": names}).
		With(problem.Nearest(text, names, 2)...)
}

func newInit(d *deps) *cobra.Command {
	cmd := d.command("init", "init [KIND] [-]", groupManage)
	opts := &initOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	cmd.Args = cobra.ArbitraryArgs
	for _, k := range workload.Kinds() {
		cmd.ValidArgs = append(cmd.ValidArgs, string(k))
	}
	cmd.RunE = d.settled(func(_ *cobra.Command, args []string) error {
		if err := opts.Validate(args); err != nil {
			return err
		}
		return runInit(opts, d)
	})
	return cmd
}

func runInit(o *initOptions, d *deps) error {
	text := workload.Example(o.kind, string(d.Say.Lang()))
	if o.stdout {
		_, err := d.Out.Write(text)
		return err
	}
	err := d.Files.Create(o.file, text, o.force)
	switch {
	case errors.Is(err, fs.ErrExist):
		return problem.New(problem.Input, "cli.exists", problem.Args{"Path": o.file})
	case err != nil:
		return problem.New(problem.Internal, "cli.cannot_write", problem.Args{"Error": err.Error()}).Wrap(err)
	}
	d.note(d.Say.Say("init.written", say.Args{"Path": o.file}))
	return nil
}
