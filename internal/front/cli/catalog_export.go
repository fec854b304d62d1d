package cli

import (
	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
)

func newCatalogExport(d *deps) *cobra.Command {
	cmd := d.command("catalog_export", "export FILE", "")
	over := false
	viewFlags(cmd.Flags(), d.Say)
	cmd.Flags().BoolVar(&over, "force", false, d.Say.Text("option.force-export"))
	cmd.Args = d.oneArg("FILE")
	cmd.RunE = d.settled(func(_ *cobra.Command, args []string) error {
		return runCatalogExport(args[0], over, d)
	})
	return cmd
}

func runCatalogExport(path string, over bool, d *deps) error {
	n, err := d.ExportCatalog(app.ExportRequest{Path: path, Over: over})
	if err != nil {
		return err
	}
	d.note(d.Say.Say("export.done", say.Args{"Path": path, "Offers": n}))
	return nil
}
