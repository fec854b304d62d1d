package cli

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/config"
	"github.com/rackrate/rackrate/internal/front/say"
)

// offersListOptions are the flags of offers list.
type offersListOptions struct {
	gpu, providers, regions, billing []string
	minRAM, minNetwork               string
	maxPrice, sort                   string
	minVCPU                          float64
	rdma, bareMetal, flat            bool
}

// AddFlags declares the flags.
func (o *offersListOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	text := func(name string) string { return s.Text("option." + name) }
	f.StringSliceVar(&o.gpu, "gpu", nil, text("gpu"))
	f.StringSliceVar(&o.providers, "provider", nil, text("provider"))
	f.StringSliceVar(&o.regions, "region", nil, text("region"))
	f.StringSliceVar(&o.billing, "billing", nil, text("billing"))
	f.StringVar(&o.minRAM, "min-ram", "", text("min-ram"))
	f.Float64Var(&o.minVCPU, "min-vcpu", 0, text("min-vcpu"))
	f.StringVar(&o.minNetwork, "min-network", "", text("min-network"))
	f.BoolVar(&o.rdma, "rdma", false, text("rdma"))
	f.BoolVar(&o.bareMetal, "bare-metal", false, text("bare-metal"))
	f.StringVar(&o.maxPrice, "max-price", "", text("max-price"))
	f.String(config.MaxPriceAge.Flag(), "", text("max-price-age"))
	f.StringVar(&o.sort, "sort", string(app.ByPrice), text("sort"))
	f.BoolVar(&o.flat, "flat", false, text("flat"))
	for flag, value := range map[string]string{
		"gpu": "GPU", "provider": "ID", "region": "PLACE", "billing": "MODE", "min-ram": "SIZE", "min-network": "RATE", "max-price": "MONEY", "max-price-age": "DAYS", "sort": "ORDER",
	} {
		called(f, flag, value)
	}
}

// Validate reads the flags into a query; all faults are told together.
func (o *offersListOptions) Validate(d *deps) (app.OfferQuery, error) {
	q := app.OfferQuery{
		Places: o.regions, MinVCPU: o.minVCPU, RDMA: o.rdma, BareMetal: o.bareMetal,
		MaxAgeDays: d.Config.Int(config.MaxPriceAge), Sort: app.OfferSort(o.sort),
	}
	var faults problem.List
	check := func(err error) {
		if err != nil {
			faults = append(faults, problem.All(err)...)
		}
	}
	var err error
	if len(o.gpu) > 0 {
		q.Selectors, err = d.Chips().ParseSelectors(strings.Join(o.gpu, ","))
		check(err)
	}
	q.Providers, err = d.providerIDs(o.providers)
	check(err)
	q.Modes, err = modes(o.billing)
	check(err)
	if o.minRAM != "" {
		q.MinRAM, err = sizeWithUnit(o.minRAM)
		check(badFlag(err, "--min-ram", o.minRAM, "64GB, 256GiB"))
	}
	if o.minNetwork != "" {
		q.MinGbps, err = gbps(o.minNetwork)
		check(badFlag(err, "--min-network", o.minNetwork, "400, 400Gbps, 50GB/s"))
	}
	if o.minVCPU < 0 || math.IsNaN(o.minVCPU) {
		check(badFlag(errOutside, "--min-vcpu", strconv.FormatFloat(o.minVCPU, 'g', -1, 64), "8, 96, 192"))
	}
	if o.maxPrice != "" {
		rate, err := parseHourly(o.maxPrice, d.Config.Money())
		check(badFlag(err, "--max-price", o.maxPrice, "2.50, $20, 18 CNY"))
		q.MaxHourly = unit.Some(rate)
	}
	if !slices.Contains(app.OfferSorts(), o.sort) {
		check(problem.New(problem.Input, "cli.one_of", problem.Args{"What": "--sort", "Names": app.OfferSorts()}).
			With(problem.Nearest(o.sort, app.OfferSorts(), 1)...))
	}
	return q, faults.OrNil()
}

// errOutside is a number that can be read and makes no sense.
var errOutside = errors.New("outside what makes sense")

// sizeWithUnit reads an amount of memory; a bare number would be taken for bytes by some and for GB by others.
func sizeWithUnit(text string) (unit.Bytes, error) {
	if _, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
		return 0, errOutside
	}
	return unit.ParseBytes(text)
}

// gbps reads a network's rate: a bare number is Gbit/s, as the tables show it.
func gbps(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		rate, err := unit.ParseRate(text)
		return float64(rate) * 8 / 1e9, err
	}
	if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errOutside
	}
	return v, nil
}

// badFlag is the problem of a flag whose value cannot be read; nil where it could.
func badFlag(err error, flag, value, example string) error {
	if err == nil {
		return nil
	}
	return problem.New(problem.Input, "cli.bad_flag_value", problem.Args{"Flag": flag, "Value": value, "Type": example}).Wrap(err)
}

// parseHourly reads a price an hour: a plain number is in the currency that amounts are shown in.
func parseHourly(text string, c money.Currency) (money.Rate, error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), "/h")
	if rate, err := money.ParseRate(text, c); err == nil {
		return rate, nil
	}
	a, err := money.ParseAmount(text)
	return money.PerHour(a.Micros()*1000, a.Currency()), err
}

func (d *deps) providerIDs(names []string) ([]string, error) {
	var ids []string
	var faults problem.List
	for _, name := range names {
		p, err := d.Providers().Find(name)
		if err != nil {
			faults = append(faults, problem.All(err)...)
			continue
		}
		ids = append(ids, p.ID)
	}
	return ids, faults.OrNil()
}

// modes reads ways of paying; a family such as reserved stands for all of its terms.
func modes(names []string) ([]catalog.BillingMode, error) {
	var out []catalog.BillingMode
	var faults problem.List
	var known []string
	for _, m := range catalog.Modes() {
		known = append(known, string(m))
	}
	for _, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		before := len(out)
		for _, m := range catalog.Modes() {
			if name == "all" || string(m) == name || (name == "reserved" || name == "savings-plan") && strings.HasPrefix(string(m), name+"-") {
				out = append(out, m)
			}
		}
		if len(out) == before {
			faults = append(faults, problem.New(problem.Input, "cli.one_of", problem.Args{"What": "--billing", "Names": known}).
				With(problem.Nearest(name, known, 2)...))
		}
	}
	return out, faults.OrNil()
}

func newOffersList(d *deps) *cobra.Command {
	cmd := d.command("offers_list", "list", "")
	opts := &offersListOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	viewFlags(cmd.Flags(), d.Say)
	cmd.RunE = d.settled(func(_ *cobra.Command, _ []string) error {
		return runOffersList(opts, d)
	})
	return cmd
}

func runOffersList(o *offersListOptions, d *deps) error {
	q, err := o.Validate(d)
	if err != nil {
		return err
	}
	list, err := d.Offers(q)
	if err != nil {
		return err
	}
	doc := &render.Offers{List: list, Flat: o.flat, Top: d.top(), AsOf: d.Today, Age: d.AgeDays, Written: selectorTexts(q.Selectors)}
	if err := d.show(doc); err != nil {
		return err
	}
	if len(list.Rows) == 0 {
		return problem.New(problem.NoMatch, "cli.no_offers", problem.Args{"Offers": list.Total})
	}
	return nil
}

// selectorTexts says which chips each selector means, because a loose name means several.
func selectorTexts(selectors []accelerator.Selector) []render.Meant {
	var out []render.Meant
	for _, sel := range selectors {
		var names []string
		for _, c := range sel.Chips {
			names = append(names, c.Name)
		}
		out = append(out, render.Meant{Text: sel.Text, Chips: names})
	}
	return out
}
