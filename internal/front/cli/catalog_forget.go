package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/front/say"
)

func newCatalogForget(d *deps) *cobra.Command {
	cmd := d.command("catalog_forget", "forget SOURCE", "")
	yes := false
	cmd.Flags().BoolVar(&yes, "yes", false, d.Say.Text("option.forget-yes"))
	storeFlag(cmd.Flags(), d.Say)
	cmd.Args = d.oneArg("SOURCE")
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		return runCatalogForget(cmd.Context(), args[0], yes, d)
	})
	return cmd
}

// runCatalogForget says first what would go: the history of a source cannot be read again.
func runCatalogForget(ctx context.Context, name string, yes bool, d *deps) error {
	gone, err := d.ForgetSource(ctx, name, yes)
	if err != nil {
		return err
	}
	terms := ""
	if gone.Terms > 0 {
		terms = d.Say.Value(gone.Terms)
	}
	if yes {
		d.note(d.Say.Say("forget.done", say.Args{"Name": name}))
	} else {
		d.note(d.Say.Say("forget.would", say.Args{"Name": name, "Prices": gone.Prices, "Terms": terms, "Day": gone.AsOf}))
	}
	return nil
}
