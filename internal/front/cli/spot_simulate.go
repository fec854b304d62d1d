package cli

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/spot/deadline"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// spotSimulateOptions are the flags of spot simulate.
type spotSimulateOptions struct {
	work, slack, deadline, overhead string
	odPrice, zones                  string
	spotPrices, history, policies   []string
	starts, nodes                   int
	set                             *pflag.FlagSet
}

// The ways to take several traces.
const (
	zonesApart    = "apart"
	zonesTogether = "together"
)

// AddFlags declares the flags.
func (o *spotSimulateOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	o.set = f
	text := func(name string) string { return s.Text("option.spot-" + name) }
	f.StringVar(&o.work, "work", "48h", text("work"))
	f.StringVar(&o.slack, "slack", "0.5", text("slack"))
	f.StringVar(&o.deadline, "deadline", "", text("deadline"))
	f.StringVar(&o.overhead, "overhead", "12m", text("overhead"))
	f.StringVar(&o.odPrice, "od-price", "", text("od-price"))
	f.StringArrayVar(&o.spotPrices, "spot-price", nil, text("spot-prices"))
	f.StringSliceVar(&o.policies, "policy", nil, text("policy")+s.Say("field.enum", say.Args{"Names": strings.Join(deadline.Names(), " | ")}))
	f.StringVar(&o.zones, "zones", zonesApart, text("zones"))
	f.IntVar(&o.nodes, "nodes", 1, text("nodes"))
	f.IntVar(&o.starts, "starts", 6, text("starts"))
	f.StringArrayVar(&o.history, "history", nil, text("history"))
	for flag, value := range map[string]string{
		"work": "TIME", "slack": "SHARE", "deadline": "TIME", "overhead": "TIME", "od-price": "MONEY", "spot-price": "MONEY|FILE", "policy": "NAME", "zones": "WORD", "history": "FILE",
	} {
		called(f, flag, value)
	}
}

// maxStarts bounds the runs of each policy on a trace.
const maxStarts = 1000

// Validate reads the flags; all faults are told together.
func (o *spotSimulateOptions) Validate(traces []string, d *deps) (app.SpotSimulateRequest, error) {
	r := flagReader{currency: d.Config.Money()}
	second := unit.FromSeconds(1)
	q := app.SpotSimulateRequest{
		Ask:    deadline.Ask{Work: r.span("--work", o.work, "48h, 3d", second), Overhead: r.span("--overhead", o.overhead, "12m, 0.2h", 0)},
		Traces: traces, History: o.history, Starts: o.starts, Nodes: o.nodes, Policies: o.policies, Together: o.zones == zonesTogether,
	}
	if len(traces) == 0 {
		r.faults = append(r.faults, problem.New(problem.Input, "cli.spot_no_trace", nil))
	}
	o.until(&q, &r)
	if o.odPrice == "" || len(o.spotPrices) == 0 {
		r.faults = append(r.faults, problem.New(problem.Input, "cli.spot_no_price", nil))
	}
	if rate, ok := r.price("--od-price", o.odPrice).Get(); ok {
		q.OnDemand = rate
	}
	for _, text := range o.spotPrices {
		if isFile(text) {
			q.Spot = append(q.Spot, app.SpotPrice{File: text})
			continue
		}
		rate, err := parseHourly(text, r.currency)
		if err != nil || rate.Nanos() <= 0 {
			r.bad("--spot-price", text, "0.92, $0.92, 6.6 CNY, prices.csv")
		}
		q.Spot = append(q.Spot, app.SpotPrice{Rate: rate})
	}
	if o.starts < 1 || o.starts > maxStarts {
		r.bad("--starts", strconv.Itoa(o.starts), "1, 6, 50 … "+strconv.Itoa(maxStarts))
	}
	if o.nodes < 1 {
		r.bad("--nodes", strconv.Itoa(o.nodes), "1, 4, 16 …")
	}
	r.faults = oneOf(r.faults, "--zones", o.zones, []string{zonesApart, zonesTogether})
	for _, name := range o.policies {
		r.faults = oneOf(r.faults, "--policy", name, deadline.Names())
	}
	slices.Sort(q.Policies)
	q.Policies = slices.Compact(q.Policies)
	slices.SortFunc(q.Policies, func(a, b string) int { return slices.Index(deadline.Names(), a) - slices.Index(deadline.Names(), b) })
	return q, r.faults.OrNil()
}

// until reads the deadline, or the slack that makes it.
func (o *spotSimulateOptions) until(q *app.SpotSimulateRequest, r *flagReader) {
	if o.deadline != "" {
		q.Deadline = r.span("--deadline", o.deadline, "72h, 3d", 0)
		if o.set.Changed("slack") {
			r.faults = append(r.faults, problem.New(problem.Input, "cli.spot_two", problem.Args{"Flags": "--slack, --deadline"}))
		}
		return
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(o.slack), "%")
	slack, err := strconv.ParseFloat(number, 64)
	if percent {
		slack /= 100
	}
	if err != nil || !(slack >= 0) || slack > 1000 || math.IsInf(slack, 0) {
		r.bad("--slack", o.slack, "0.25, 50%, 1")
	}
	q.Deadline = q.Work * unit.Hours(1+slack)
}

// isFile says whether the price of spot instances is a file of prices.
func isFile(text string) bool {
	text = strings.TrimSuffix(strings.ToLower(text), ".gz")
	return strings.HasSuffix(text, ".csv") || strings.HasSuffix(text, ".json")
}

func newSpotSimulate(d *deps) *cobra.Command {
	cmd := d.command("spot_simulate", "simulate TRACE...", "")
	opts := &spotSimulateOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	completeWords(cmd, "policy", deadline.Names())
	completeWords(cmd, "zones", []string{zonesApart, zonesTogether})
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		q, err := opts.Validate(args, d)
		if err != nil {
			return err
		}
		return runSpotSimulate(cmd.Context(), q, d)
	})
	return cmd
}

// runSpotSimulate shows how the policies did; a deadline that is missed is a promise broken, though none should be.
func runSpotSimulate(ctx context.Context, q app.SpotSimulateRequest, d *deps) error {
	found, err := d.SpotSimulate(ctx, q)
	if err != nil {
		return err
	}
	if err := d.show(&render.SpotSimulation{SpotSimulation: found}); err != nil {
		return err
	}
	if n := found.Missed(); n > 0 {
		return problem.New(problem.Limit, "cli.spot_missed", problem.Args{"Count": n})
	}
	return nil
}
