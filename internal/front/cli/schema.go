package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/choose/workload"
)

func newSchema(d *deps) *cobra.Command {
	cmd := d.command("schema", "schema", groupManage)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		out := json.NewEncoder(d.Out)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		return out.Encode(workload.Schema())
	}
	return cmd
}
