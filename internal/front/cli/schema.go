package cli

import (
	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/choose/workload"
)

func newSchema(d *deps) *cobra.Command {
	cmd := d.command("schema", "schema", groupManage)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_, err := d.Out.Write(workload.Schema())
		return err
	}
	return cmd
}
