package cli

import (
	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/base/problem"
)

func newOffers(d *deps) *cobra.Command {
	return d.family("offers", groupChoose, newOffersList(d), newOffersShow(d), newOffersSimilar(d))
}

// oneInstance wants the name of one instance type.
func oneInstance(args []string) error {
	if len(args) != 1 {
		return problem.New(problem.Input, "cli.wants_instance", nil)
	}
	return nil
}
