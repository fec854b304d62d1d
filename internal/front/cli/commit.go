package cli

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/price/demand"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// commitOptions are the flags of commit.
type commitOptions struct {
	prices, instance, region                string
	inGPUs                                  bool
	interruptible, growth, scenarios, waste string
	every                                   int
	fillGaps                                bool
	groupLabel                              string
}

// AddFlags declares the flags.
func (o *commitOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	text := func(name string) string { return s.Text("option.commit-" + name) }
	f.StringVar(&o.prices, "prices", "", text("prices"))
	f.StringVar(&o.instance, "instance", "", text("instance"))
	f.StringVar(&o.region, "region", "", text("region"))
	f.BoolVar(&o.inGPUs, "in-gpus", false, text("in-gpus"))
	f.StringVar(&o.interruptible, "interruptible", "", text("interruptible"))
	f.StringVar(&o.waste, "spot-overhead", "0%", text("spot-overhead"))
	f.StringVar(&o.growth, "growth", "0%/y", text("growth"))
	f.StringVar(&o.scenarios, "scenarios", "", text("scenarios"))
	f.IntVar(&o.every, "every", 1, text("every"))
	f.BoolVar(&o.fillGaps, "fill-gaps", false, text("fill-gaps"))
	f.StringVar(&o.groupLabel, "group-label", "", text("group-label"))
	for flag, value := range map[string]string{
		"prices": "FILE", "instance": "TYPE", "region": "REGION", "interruptible": "SHARE", "spot-overhead": "SHARE", "growth": "SHARE/y",
		"scenarios": "LOW,MID,HIGH", "every": "MONTHS", "group-label": "LABEL",
	} {
		called(f, flag, value)
	}
}

// Validate reads the flags into a request; all faults are told together.
func (o *commitOptions) Validate(args []string) (app.CommitRequest, error) {
	q := app.CommitRequest{
		Read: demand.Options{FillGaps: o.fillGaps, GroupLabel: o.groupLabel}, Book: o.prices, Instance: o.instance, Region: o.region,
		InGPUs: o.inGPUs, Every: o.every,
	}
	var faults problem.List
	check := func(err error) {
		if err != nil {
			faults = append(faults, problem.All(err)...)
		}
	}
	switch {
	case len(args) == 0:
		check(problem.New(problem.Input, "commit.no_file", nil))
	case len(args) > 1:
		check(problem.New(problem.Input, "cli.extra_argument", problem.Args{"Argument": args[1], "Command": "rackrate commit"}))
	default:
		q.File = args[0]
	}
	switch {
	case o.prices != "" && (o.instance != "" || o.region != "" || o.inGPUs):
		check(problem.New(problem.Input, "commit.two_prices", nil))
	case o.prices == "-" && q.File == "-":
		check(problem.New(problem.Input, "commit.one_stdin", nil))
	}
	var err error
	if o.interruptible != "" {
		v, err := share(o.interruptible)
		q.Interruptible = unit.Some(v)
		check(badFlag(err, "--interruptible", o.interruptible, "30%"))
	}
	q.SpotOverhead, err = share(o.waste)
	check(badFlag(err, "--spot-overhead", o.waste, "5%"))
	q.Outlook.Growth, err = yearlyGrowth(o.growth)
	check(badFlag(err, "--growth", o.growth, "20%/y, 1.5%/m"))
	if o.scenarios != "" {
		q.Levels, err = levels(o.scenarios)
		check(badFlag(err, "--scenarios", o.scenarios, "0.7,1,1.3"))
	}
	if o.every < 1 || o.every > 36 {
		check(badFlag(errOutside, "--every", strconv.Itoa(o.every), "1, 3, 12"))
	}
	return q, faults.OrNil()
}

// share reads "30%" as 0.3; it lies between nothing and all.
func share(text string) (float64, error) {
	v, err := percent(text)
	if err == nil && (v < 0 || v > 1) {
		err = errOutside
	}
	return v, err
}

// percent reads "30%"; a number without the sign could mean either 30 or 0.3 and is refused, but for 0.
func percent(text string) (float64, error) {
	number, signed := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err == nil && (!signed && v != 0 || math.IsNaN(v) || math.IsInf(v, 0)) {
		err = errOutside
	}
	return v / 100, err
}

// yearlyGrowth reads "20%/y", "20%" or "1.5%/m" as a growth a year. Demand can neither fall below nothing nor grow beyond counting.
func yearlyGrowth(text string) (float64, error) {
	body, per, _ := strings.Cut(text, "/")
	v, err := percent(body)
	if err != nil {
		return 0, err
	}
	switch strings.ToLower(strings.TrimSpace(per)) {
	case "", "y", "yr", "year":
	case "m", "mo", "month":
		if v > -1 {
			v = math.Pow(1+v, 12) - 1
		}
	default:
		return 0, errOutside
	}
	if v <= -1 || v > 100 {
		return 0, errOutside
	}
	return v, nil
}

// levels reads three multiples of demand, rising.
func levels(text string) ([]float64, error) {
	parts := strings.Split(text, ",")
	if len(parts) != len(demand.Quantiles) {
		return nil, errOutside
	}
	var out []float64
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v >= 0 && v <= 100) || i > 0 && v < out[i-1] {
			return nil, errOutside
		}
		out = append(out, v)
	}
	return out, nil
}

func newCommit(d *deps) *cobra.Command {
	cmd := d.command("commit", "commit FILE", groupChoose)
	opts := &commitOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	viewFlags(cmd.Flags(), d.Say)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		q, err := opts.Validate(args)
		if err != nil {
			return err
		}
		return runCommit(cmd.Context(), q, d)
	})
	return cmd
}

func runCommit(ctx context.Context, q app.CommitRequest, d *deps) error {
	result, err := withModel(ctx, d, func() (*app.Commitments, error) { return d.Commit(ctx, q) })
	if err != nil {
		return err
	}
	return d.show(&render.Commit{Result: result, AsOf: d.Today, Top: d.top()})
}
