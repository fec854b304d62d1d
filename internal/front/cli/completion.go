package cli

import (
	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/base/problem"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(d *deps) *cobra.Command {
	cmd := d.command("completion", "completion SHELL", groupManage)
	cmd.ValidArgs = shells
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return problem.New(problem.Input, "cli.one_of", problem.Args{"What": "SHELL", "Names": shells})
		}
		root, out := cmd.Root(), cmd.OutOrStdout()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(out, true)
		case "zsh":
			return root.GenZshCompletion(out)
		case "fish":
			return root.GenFishCompletion(out, true)
		case "powershell":
			return root.GenPowerShellCompletionWithDesc(out)
		}
		return problem.New(problem.Input, "cli.one_of", problem.Args{"What": "SHELL", "Names": shells}).
			With(problem.Nearest(args[0], shells, 1)...)
	}
	return cmd
}
