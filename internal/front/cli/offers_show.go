package cli

import (
	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/front/cli/render"
)

func newOffersShow(d *deps) *cobra.Command {
	cmd := d.command("offers_show", "show INSTANCE", "")
	viewFlags(cmd.Flags(), d.Say)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(_ *cobra.Command, args []string) error {
		if err := oneInstance(args); err != nil {
			return err
		}
		o, err := d.Offer(args[0])
		if err != nil {
			return err
		}
		return d.show(&render.Offer{Offer: o, AsOf: d.Today, Age: d.AgeDays})
	})
	return cmd
}
