package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// historyOptions are the flags of catalog history.
type historyOptions struct {
	regions, billing []string
	svg              string
}

// AddFlags declares the flags.
func (o *historyOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringSliceVar(&o.regions, "region", nil, s.Text("option.history-region"))
	f.StringSliceVar(&o.billing, "billing", nil, s.Text("option.billing"))
	f.StringVar(&o.svg, "svg", "", s.Text("option.history-svg"))
	called(f, "region", "REGION")
	called(f, "billing", "MODE")
	called(f, "svg", "FILE")
	viewFlags(f, s)
}

func newCatalogHistory(d *deps) *cobra.Command {
	cmd := d.command("catalog_history", "history INSTANCE", "")
	opts := &historyOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	cmd.Args = d.oneArg("INSTANCE")
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		return runCatalogHistory(cmd.Context(), args[0], opts, d)
	})
	return cmd
}

func runCatalogHistory(ctx context.Context, instance string, o *historyOptions, d *deps) error {
	ways, err := modes(o.billing)
	if err != nil {
		return err
	}
	h, err := d.PriceHistory(ctx, app.HistoryQuery{Instance: instance, Regions: o.regions, Modes: ways})
	if err != nil {
		return err
	}
	doc := &render.History{History: h, Today: d.Today, Top: d.top()}
	if err := d.show(doc); err != nil || o.svg == "" {
		return err
	}
	if err := d.Files.Create(o.svg, doc.Chart(d.Say).SVG(), true); err != nil {
		return problem.New(problem.Internal, "cli.cannot_write", problem.Args{"Error": err.Error()}).Wrap(err)
	}
	d.note(d.Say.Say("tco.written", say.Args{"Path": o.svg}))
	return nil
}
