package cli

import (
	"bytes"
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// verifyOptions are the flags of catalog verify.
type verifyOptions struct {
	today    string
	provider string
	all      bool

	files []string
}

// AddFlags declares the flags.
func (o *verifyOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringVar(&o.today, "today", "", s.Text("option.today"))
	f.StringVar(&o.provider, "provider", "", s.Text("option.verify-provider"))
	called(f, "today", "DAY")
	called(f, "provider", "ID")
	f.BoolVar(&o.all, "all", false, s.Text("option.all-faults"))
}

// Validate checks the day.
func (o *verifyOptions) Validate(args []string, d *deps) error {
	o.files = args
	if o.today == "" {
		o.today = d.Today
	}
	if _, err := time.Parse(time.DateOnly, o.today); err != nil {
		return problem.New(problem.Input, "cli.bad_flag_value", problem.Args{"Flag": "--today", "Value": o.today, "Type": "YYYY-MM-DD"})
	}
	if o.provider == "" {
		return nil
	}
	if len(o.files) == 0 {
		return problem.New(problem.Input, "cli.verify_provider", nil)
	}
	p, err := d.Providers().Find(o.provider)
	if err != nil {
		return err
	}
	o.provider = p.ID
	return nil
}

func newCatalog(d *deps) *cobra.Command {
	return d.family("catalog", groupManage, newCatalogStatus(d), newCatalogUpdate(d), newCatalogImport(d), newCatalogExport(d),
		newCatalogHistory(d), newCatalogDiff(d), newCatalogVerify(d), newCatalogForget(d))
}

func newCatalogVerify(d *deps) *cobra.Command {
	cmd := d.command("catalog_verify", "verify [FILE...]", "")
	opts := &verifyOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	viewFlags(cmd.Flags(), d.Say)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		if err := opts.Validate(args, d); err != nil {
			return err
		}
		return runCatalogVerify(cmd.Context(), opts, d)
	})
	return cmd
}

// runCatalogVerify checks the catalog that ships with the program, or files. Flags are told and
// are no failure; rows with errors must not rank, so they are bad input.
func runCatalogVerify(_ context.Context, o *verifyOptions, d *deps) error {
	doc := &render.Verified{Top: d.top()}
	if o.all {
		doc.Top = 0
	}
	if len(o.files) == 0 {
		c, err := d.Catalog()
		if err != nil {
			return err
		}
		doc.Add("", len(c.Offers), catalog.Verify(c, o.today))
	}
	for _, path := range o.files {
		name, data, err := d.ReadInput(path)
		if err != nil {
			return err
		}
		known, err := d.Catalog()
		if err != nil {
			return err
		}
		rows, faults, err := intake.Verify(name, bytes.NewReader(data), o.today, intake.ReadOptions{
			Provider: o.provider, Providers: d.Providers(), Chips: d.Chips(), Known: known,
		})
		if err != nil {
			return err
		}
		doc.Add(name, rows, faults)
	}
	if err := d.show(doc); err != nil {
		return err
	}
	if n := doc.Errors(); n > 0 {
		return problem.New(problem.Input, "catalog.faulty_rows", problem.Args{"Count": n})
	}
	return nil
}
