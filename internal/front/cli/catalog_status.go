package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/config"
	"github.com/rackrate/rackrate/internal/front/say"
)

// storeFlag declares the flag that says which store is used; it is a setting.
func storeFlag(f *pflag.FlagSet, s *say.Speaker) {
	f.String(config.DB.Flag(), "", s.Text("option.db"))
	called(f, config.DB.Flag(), "URL")
}

// viewFlags declares the flags that say which prices count; each is a setting.
func viewFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.String(config.Source.Flag(), "", s.Text("option.source"))
	f.String(config.AsOf.Flag(), "", s.Text("option.as-of"))
	called(f, config.Source.Flag(), "NAME")
	called(f, config.AsOf.Flag(), "DAY")
	storeFlag(f, s)
}

func newCatalogStatus(d *deps) *cobra.Command {
	cmd := d.command("catalog_status", "status", "")
	storeFlag(cmd.Flags(), d.Say)
	cmd.RunE = d.settled(func(cmd *cobra.Command, _ []string) error { return runCatalogStatus(cmd.Context(), d) })
	return cmd
}

func runCatalogStatus(ctx context.Context, d *deps) error {
	st, err := d.CatalogStatus(ctx)
	if err != nil {
		return err
	}
	return d.show(&render.Status{CatalogStatus: st, Today: d.Today, Age: d.AgeDays})
}
