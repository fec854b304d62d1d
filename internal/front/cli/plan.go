package cli

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// planOptions are the flags of plan.
type planOptions struct {
	workload workloadOptions
	explain  string
	whyNot   bool

	rank int // of the plan to explain; 0 is none
}

// AddFlags declares the flags.
func (o *planOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringVar(&o.explain, "explain", "", s.Text("option.explain"))
	f.Lookup("explain").NoOptDefVal = "1"
	called(f, "explain", "RANK")
	f.BoolVar(&o.whyNot, "why-not", false, s.Text("option.why-not"))
	o.workload.AddFlags(f, s)
}

// Validate checks what the flag parser cannot. "--explain 3" reads as --explain and an argument, so a lone number
// is taken for the rank.
func (o *planOptions) Validate(args []string) error {
	if o.explain == "1" {
		number := func(arg string) bool { _, err := strconv.Atoi(arg); return err == nil }
		if i := slices.IndexFunc(args, number); i >= 0 {
			o.explain, args = args[i], slices.Delete(slices.Clone(args), i, i+1)
		}
	}
	if o.explain != "" {
		rank, err := strconv.Atoi(o.explain)
		if err != nil || rank < 1 {
			return problem.New(problem.Input, "cli.bad_flag_value", problem.Args{"Flag": "--explain", "Value": o.explain, "Type": "1, 2, 3 …"})
		}
		o.rank = rank
	}
	return o.workload.Validate(args, "rackrate plan")
}

func newPlan(d *deps) *cobra.Command {
	cmd := d.command("plan", "plan [FILE]", groupChoose)
	opts := &planOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	viewFlags(cmd.Flags(), d.Say)
	opts.workload.complete(cmd, d)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		if err := opts.Validate(args); err != nil {
			return err
		}
		return runPlan(cmd.Context(), opts, d)
	})
	return cmd
}

func runPlan(ctx context.Context, o *planOptions, d *deps) error {
	w, err := o.workload.read(ctx, d, nil)
	if err != nil {
		return err
	}
	top := d.top()
	build := top
	if top > 0 {
		build = max(top, o.rank) // the plan to explain may stand below those that are shown
	}
	r, err := d.Plan(ctx, app.PlanRequest{Workload: w, Top: build})
	if err != nil {
		return err
	}
	if o.rank > r.Ranked && r.Ranked > 0 {
		return problem.New(problem.Input, "plan.no_such_rank", problem.Args{"Rank": o.rank, "Last": r.Ranked})
	}
	doc := &render.Plans{Result: r, Canonical: workload.Canonical(r.Workload), Top: top, WhyNot: o.whyNot, Age: d.AgeDays}
	if r.Ranked > 0 {
		doc.Explain = o.rank
	}
	if err := d.show(doc); err != nil {
		return err
	}
	return nothingFits(r)
}

// nothingFits is the problem that a result without plans is: the exit code says so, and so does standard error,
// because a program reads the nearest misses from standard output.
func nothingFits(r *plan.Result) error {
	if r.Ranked > 0 {
		return nil
	}
	return problem.New(problem.NoMatch, "plan.nothing_fits", problem.Args{"Offers": r.Searched.Offers})
}
