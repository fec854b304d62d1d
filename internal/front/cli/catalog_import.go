package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// importOptions are the flags of catalog import.
type importOptions struct {
	refreshOptions
	provider, quoted, day, name string
}

// AddFlags declares the flags.
func (o *importOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringVar(&o.provider, "provider", "", s.Text("option.import-provider"))
	f.StringVar(&o.quoted, "quoted-in", "", s.Text("option.quoted-in"))
	f.StringVar(&o.day, "dated", "", s.Text("option.dated"))
	f.StringVar(&o.name, "name", "", s.Text("option.source-name"))
	called(f, "provider", "ID")
	called(f, "quoted-in", "CODE")
	called(f, "dated", "DAY")
	called(f, "name", "NAME")
	o.refreshOptions.AddFlags(f, s)
}

// Validate checks what the flag parser cannot; all faults are told together.
func (o *importOptions) Validate(args []string, d *deps) error {
	var faults problem.List
	if len(args) == 0 {
		faults = append(faults, problem.New(problem.Input, "cli.missing_argument", problem.Args{"Argument": "FILE", "Command": "rackrate catalog import"}))
	}
	if o.name != "" && len(args) > 1 {
		faults = append(faults, problem.New(problem.Input, "cli.one_file_a_name", nil))
	}
	if _, err := time.Parse(time.DateOnly, o.day); o.day != "" && err != nil {
		faults = append(faults, problem.New(problem.Input, "cli.bad_flag_value", problem.Args{"Flag": "--dated", "Value": o.day, "Type": "YYYY-MM-DD"}))
	}
	if today := d.Now().UTC().Format(time.DateOnly); o.day > today {
		faults = append(faults, problem.New(problem.Input, "cli.day_ahead", problem.Args{"Flag": "--dated", "Value": o.day, "Today": today}))
	}
	if o.quoted = strings.ToUpper(o.quoted); o.quoted != "" {
		x, err := d.Exchange()
		if err != nil {
			return err
		}
		if !x.Knows(o.currency()) {
			faults = append(faults, problem.New(problem.Input, "cli.unknown_currency", problem.Args{"Currency": o.quoted}))
		}
	}
	if o.provider != "" {
		if p, err := d.Providers().Find(o.provider); err == nil {
			o.provider = p.ID
		}
	}
	return faults.OrNil()
}

// currency is that of prices that name none; empty where the user does not say.
func (o *importOptions) currency() money.Currency { return money.Currency(o.quoted) }

func newCatalogImport(d *deps) *cobra.Command {
	cmd := d.command("catalog_import", "import FILE...", "")
	opts := &importOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		if err := opts.Validate(args, d); err != nil {
			return err
		}
		return runCatalogImport(cmd.Context(), args, opts, d)
	})
	return cmd
}

func runCatalogImport(ctx context.Context, paths []string, o *importOptions, d *deps) error {
	watch := d.progress()
	in, err := d.ImportCatalog(ctx, app.ImportRequest{
		Paths: paths, Provider: o.provider, Currency: o.currency(), AsOf: o.day, Name: o.name, DryRun: o.dryRun, Force: o.force, Watch: watch,
	})
	watch.Close()
	if err != nil {
		return err
	}
	if err := d.show(&render.Refreshed{Updated: &in.Updated, Paths: in.Paths, Top: d.top(), Age: d.AgeDays}); err != nil {
		return err
	}
	var faults problem.List
	for _, r := range in.Results {
		if r.Err != nil {
			faults = append(faults, problem.All(r.Err)...)
		}
	}
	return faults.OrNil()
}
