package cli

import (
	"context"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// refreshOptions are the flags of the commands that bring prices in.
type refreshOptions struct{ dryRun, strict, force bool }

// AddFlags declares the flags.
func (o *refreshOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.BoolVar(&o.dryRun, "dry-run", false, s.Text("option.dry-run"))
	f.BoolVar(&o.strict, "strict", false, s.Text("option.strict"))
	f.BoolVar(&o.force, "force", false, s.Text("option.force-refresh"))
	storeFlag(f, s)
}

func newCatalogUpdate(d *deps) *cobra.Command {
	cmd := d.command("catalog_update", "update [SOURCE...]", "")
	opts := &refreshOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		return runCatalogUpdate(cmd.Context(), args, opts, d)
	})
	return cmd
}

func runCatalogUpdate(ctx context.Context, sources []string, o *refreshOptions, d *deps) error {
	defer thrifty()()
	watch := d.progress()
	u, err := d.UpdateCatalog(ctx, app.UpdateRequest{Sources: sources, DryRun: o.dryRun, Force: o.force, Watch: watch})
	watch.Close()
	if err != nil {
		return err
	}
	if err := d.show(&render.Refreshed{Updated: u, Top: d.top(), Age: d.AgeDays}); err != nil {
		return err
	}
	return o.verdict(u)
}

// verdict is the failure of a refresh that had nothing to read or of which nothing came, or, where the user asked for it, of which not everything did.
func (o *refreshOptions) verdict(u *app.Updated) error {
	failed, all := 0, len(u.Results)
	for _, r := range u.Results {
		if r.Err != nil {
			failed++
		}
	}
	if all == 0 {
		return problem.New(problem.NoMatch, "refresh.no_sources", nil)
	}
	if failed == all {
		return problem.New(problem.Internal, "refresh.all_failed", problem.Args{"Count": failed})
	}
	if n := u.Failed(); o.strict && n > 0 {
		return problem.New(problem.Internal, "refresh.some_failed", problem.Args{"Count": n, "Of": all})
	}
	return nil
}

// thrifty trades time for memory while feeds are read, of which one may have a gigabyte, and gives back what was before.
func thrifty() (restore func()) {
	before := debug.SetGCPercent(100)
	return func() { debug.SetGCPercent(before) }
}
