package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/choose/price/tco"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/assumption"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// tcoOptions are the flags of tco.
type tcoOptions struct {
	workload    workloadOptions
	plans       []string
	buy         string
	months      int
	assume      []string
	svg         string
	utilisation string
	template    bool

	used float64 // the share that utilisation says; 0 where it says nothing
}

// usualMonths is how far a cost looks where nothing says so, mostMonths the farthest: no price of today says anything of a time beyond it.
const (
	usualMonths = 36
	mostMonths  = 120
)

// mostPlans is as many as can be told apart by a mark of one column in a chart.
const mostPlans = 9

// AddFlags declares the flags.
func (o *tcoOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringSliceVar(&o.plans, "plans", nil, s.Text("option.tco-plans"))
	f.StringVar(&o.buy, "buy", "", s.Text("option.buy"))
	f.BoolVar(&o.template, "template", false, s.Text("option.template"))
	f.IntVar(&o.months, "months", usualMonths, s.Text("option.months"))
	f.StringVar(&o.utilisation, "utilisation", "", s.Text("option.utilisation"))
	f.StringArrayVar(&o.assume, "assume", nil, s.Text("option.assume"))
	f.StringVar(&o.svg, "svg", "", s.Text("option.svg"))
	called(f, "plans", "PLAN,…")
	called(f, "buy", "FILE")
	called(f, "utilisation", "PERCENT")
	called(f, "assume", "KEY=VALUE|FILE")
	called(f, "svg", "FILE")
	o.workload.AddFlags(f, s)
}

// Validate says what the flag parser cannot, all of it at once.
func (o *tcoOptions) Validate(args []string) error {
	if err := o.workload.Validate(args, "rackrate tco"); err != nil {
		return err
	}
	var faults problem.List
	bad := func(flag, value, want string) {
		faults = append(faults, problem.New(problem.Input, "cli.bad_flag_value", problem.Args{"Flag": flag, "Value": value, "Type": want}))
	}
	if o.months < 1 || o.months > mostMonths {
		bad("--months", strconv.Itoa(o.months), "1 … "+strconv.Itoa(mostMonths))
	}
	if len(o.plans) > mostPlans {
		bad("--plans", strings.Join(o.plans, ","), "1,2,3 … (≤ "+strconv.Itoa(mostPlans)+")")
	}
	for _, f := range []struct{ flag, path string }{{"buy", o.buy}, {"svg", o.svg}} {
		if f.path == "" && o.workload.set.Changed(f.flag) {
			bad("--"+f.flag, f.path, "FILE")
		}
	}
	both := func(a, b string) {
		faults = append(faults, problem.New(problem.Input, "cli.both_say", problem.Args{"Flag": a, "Other": b}))
	}
	if o.workload.set.Changed("months") && o.workload.set.Changed("horizon") {
		both("--months", "--horizon")
	}
	if o.utilisation != "" {
		share, err := strconv.ParseFloat(strings.TrimSuffix(o.utilisation, "%"), 64)
		if o.used = share / 100; err != nil || !strings.HasSuffix(o.utilisation, "%") || !(share >= 1 && share <= 100) {
			bad("--utilisation", o.utilisation, "1% … 100%")
		}
		if o.workload.set.Changed("runs-per-month") {
			both("--utilisation", "--runs-per-month")
		}
	}
	return faults.OrNil()
}

func newTCO(d *deps) *cobra.Command {
	cmd := d.command("tco", "tco [FILE]", groupChoose)
	opts := &tcoOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	viewFlags(cmd.Flags(), d.Say)
	opts.workload.complete(cmd, d)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		if opts.template {
			_, err := d.Out.Write(buyTemplate(d.Say))
			return err
		}
		if err := opts.Validate(args); err != nil {
			return err
		}
		return runTCO(cmd.Context(), opts, d)
	})
	return cmd
}

func runTCO(ctx context.Context, o *tcoOptions, d *deps) error {
	q, err := o.request(ctx, d)
	if err != nil {
		return err
	}
	r, err := d.TCO(ctx, q)
	if err != nil {
		return err
	}
	if r.Result == nil {
		return nothingFits(r.Search)
	}
	doc := &render.TCO{TCO: r, Canonical: workload.Canonical(r.Search.Workload)}
	if o.svg != "" {
		if err := d.Files.Create(o.svg, doc.Chart(d.Say).SVG(), true); err != nil {
			return problem.New(problem.Internal, "cli.cannot_write", problem.Args{"Error": err.Error()}).Wrap(err)
		}
		d.note(d.Say.Say("tco.written", say.Args{"Path": o.svg}))
	}
	return d.show(doc)
}

// request reads the workload, what is bought and what is assumed; the faults of all three come at once.
func (o *tcoOptions) request(ctx context.Context, d *deps) (app.TCORequest, error) {
	q := app.TCORequest{Plans: o.plans, Months: o.months, Runs: 1, Used: o.used}
	var faults problem.List
	note := func(err error) { faults = append(faults, problem.All(err)...) }
	w, err := o.workload.read(ctx, d, nil)
	if err != nil {
		note(err)
	} else {
		note(o.recur(w, &q))
	}
	if o.buy != "" {
		name, text, err := d.ReadInput(o.buy)
		if err == nil {
			q.Buy, err = tco.ParseBuy(name, text, d.AssumptionNames())
		}
		note(err)
	}
	for _, text := range o.assume {
		given, err := assumed(d, text)
		q.Assume = append(q.Assume, given...)
		note(err)
	}
	slices.Reverse(q.Assume) // of two for one key the later holds, as with any flag
	return q, faults.OrNil()
}

// recur takes from the workload how often it is done and how far ahead money is counted; --months overrides the latter.
func (o *tcoOptions) recur(w *workload.Workload, q *app.TCORequest) error {
	q.Workload = w
	if w.Horizon > 0 {
		if !o.workload.set.Changed("months") {
			q.Months = price.Months(w.Horizon)
		}
		w.Horizon = unit.Hours(q.Months) * unit.HoursPerMonth
	}
	switch {
	case w.Kind == workload.Serve:
		if w.Horizon > 0 {
			w.Duration = w.Horizon
		}
		if q.Used == 0 {
			q.Used = 1
		}
	case w.RunsPerMonth > 0:
		if q.Runs = float64(w.RunsPerMonth); q.Used > 0 {
			return problem.New(problem.Input, "cli.both_say", problem.Args{"Flag": "--utilisation", "Other": "runs_per_month"})
		}
	}
	return nil
}

// assumed reads one --assume: key=value, or a file of such lines.
func assumed(d *deps, text string) ([]*assumption.Assumption, error) {
	if strings.Contains(text, "=") {
		a, err := assumption.FromText(text, d.AssumptionNames())
		if err != nil {
			for _, fault := range problem.All(err) {
				fault.Args["Inside"] = "--assume"
			}
			return nil, err
		}
		return []*assumption.Assumption{a}, nil
	}
	name, data, err := d.ReadInput(text)
	if err != nil {
		return nil, err
	}
	return assumption.FromFile(name, data, d.AssumptionNames())
}

// buyTemplate is a file of machines to buy, to start from: what must be given, and what would otherwise be assumed, commented.
func buyTemplate(s *say.Speaker) []byte {
	var b strings.Builder
	for _, line := range render.Wrap(s.Text("buy.head"), 100) {
		b.WriteString("# " + line + "\n")
	}
	for _, k := range tco.BuyKeys() {
		if k.Family == "" {
			b.WriteString("\n# " + s.Text("buy.key."+k.Name) + "\n" + k.Name + ": " + k.Example + "\n")
			continue
		}
		line := k.Name + ": " + k.Example
		if k.Name != "staff" && k.Name != "storage" && k.Name != "traffic" { // nothing is assumed of these
			line = "# " + line
		}
		b.WriteString("\n# " + s.Text("buy.key."+k.Name) + "\n" + line + "\n")
	}
	return []byte(b.String())
}
