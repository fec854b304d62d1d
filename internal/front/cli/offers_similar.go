package cli

import (
	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/front/cli/render"
)

// maxSimilar is how many stand-ins are looked for where the user asks for all: further ones resemble nothing.
const maxSimilar = 50

func newOffersSimilar(d *deps) *cobra.Command {
	cmd := d.command("offers_similar", "similar INSTANCE", "")
	viewFlags(cmd.Flags(), d.Say)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(_ *cobra.Command, args []string) error {
		if err := oneInstance(args); err != nil {
			return err
		}
		n := d.Config.Int("top")
		if n == 0 {
			n = maxSimilar
		}
		like, rows, err := d.Similar(args[0], n)
		if err != nil {
			return err
		}
		return d.show(&render.Similar{Like: like, Found: rows, AsOf: d.Today})
	})
	return cmd
}
