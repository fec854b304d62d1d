package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/config"
	"github.com/rackrate/rackrate/internal/front/say"
)

// diffOptions are the flags of catalog diff.
type diffOptions struct{ from, to string }

// AddFlags declares the flags.
func (o *diffOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringVar(&o.from, "from", "", s.Text("option.diff-from"))
	f.StringVar(&o.to, "to", "", s.Text("option.diff-to"))
	called(f, "from", "DAY")
	called(f, "to", "DAY")
	f.String(config.Source.Flag(), "", s.Text("option.source"))
	called(f, config.Source.Flag(), "NAME")
	storeFlag(f, s)
}

// weekAgo is how many days back a comparison starts where nothing says when.
const weekAgo = 7

func newCatalogDiff(d *deps) *cobra.Command {
	cmd := d.command("catalog_diff", "diff", "")
	opts := &diffOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	cmd.RunE = d.settled(func(*cobra.Command, []string) error { return runCatalogDiff(opts, d) })
	return cmd
}

func runCatalogDiff(o *diffOptions, d *deps) error {
	if o.from == "" {
		o.from = d.DaysAgo(weekAgo)
	}
	diff, err := d.CatalogDiff(app.DiffQuery{From: o.from, To: o.to})
	if err != nil {
		return err
	}
	return d.show(&render.Changes{Difference: diff, Top: d.top()})
}
