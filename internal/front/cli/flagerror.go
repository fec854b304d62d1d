package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// flagProblem turns what the flag parser says into a problem that can be said in the reader's language.
func (d *deps) flagProblem(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			return problem.New(problem.Input, "cli.unknown_flag", problem.Args{"Flag": "-" + name, "Command": cmd.CommandPath()})
		}
		return problem.New(problem.Input, "cli.unknown_flag", problem.Args{"Flag": "--" + name, "Command": cmd.CommandPath()}).
			With(problem.Nearest("--"+name, flagNames(cmd), 2)...)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return problem.New(problem.Input, "cli.flag_needs_value", problem.Args{"Flag": "--" + missing.GetFlag().Name})
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return problem.New(problem.Input, "cli.bad_flag_value", problem.Args{
			"Flag": "--" + bad.GetFlag().Name, "Value": bad.GetValue(), "Type": flagExample(bad.GetFlag()),
		})
	}
	return problem.New(problem.Input, "cli.bad_flag", problem.Args{"Flag": strings.TrimPrefix(err.Error(), "bad flag syntax: ")}).Wrap(err)
}

// flagExample is what a value of a flag looks like.
func flagExample(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "1, 2, 8 …"
	case "float64":
		return "8, 96, 0.5 …"
	case "bool":
		return "true | false"
	}
	return f.Value.Type()
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}
