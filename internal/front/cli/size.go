package cli

import (
	"context"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// sizeOptions are the flags of size.
type sizeOptions struct {
	workload workloadOptions
	config   string
	gpu      string
	gpus     int
	layout   string
}

// AddFlags declares the flags.
func (o *sizeOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringVar(&o.config, "config", "", s.Text("option.config"))
	f.StringVar(&o.gpu, "gpu", "", s.Text("option.size-gpu"))
	f.IntVar(&o.gpus, "gpus", 1, s.Text("option.size-gpus"))
	f.StringVar(&o.layout, "layout", "", s.Text("option.size-layout"))
	called(f, "config", "FILE")
	called(f, "gpu", "GPU")
	called(f, "layout", "tp=N,…")
	o.workload.AddFlags(f, s)
}

// Validate says what does not go together.
func (o *sizeOptions) Validate(args []string) error {
	if err := o.workload.Validate(args, "rackrate size"); err != nil {
		return err
	}
	flags := o.workload.flags()
	switch {
	case o.config != "" && o.workload.file != "":
		return problem.New(problem.Input, "cli.size_two", problem.Args{"Flag": "--config", "Other": "-f"})
	case o.config != "" && flags["model"] != "":
		return problem.New(problem.Input, "cli.size_two", problem.Args{"Flag": "--config", "Other": "--model"})
	case o.config == "" && !o.workload.given():
		return problem.New(problem.Input, "cli.nothing_to_size", nil)
	case o.gpu != "" && o.alone():
		return problem.New(problem.Input, "cli.size_needs_workload", problem.Args{"Flag": "--gpu"})
	case o.alone() && o.needsChip():
		return problem.New(problem.Input, "cli.size_needs_gpu", problem.Args{"Flag": "--gpus / --layout"})
	case o.gpus < 1:
		return problem.New(problem.Input, "cli.bad_flag_value", problem.Args{"Flag": "--gpus", "Value": o.gpus, "Type": "1, 2, 4 …"})
	}
	return nil
}

// needsChip says that something was asked which only a named accelerator answers.
func (o *sizeOptions) needsChip() bool { return o.layout != "" || o.workload.set.Changed("gpus") }

// alone says that a model is asked about by itself, without work to do.
func (o *sizeOptions) alone() bool {
	return o.workload.file == "" && o.workload.flags()["kind"] == ""
}

func newSize(d *deps) *cobra.Command {
	cmd := d.command("size", "size [FILE]", groupChoose)
	opts := &sizeOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	opts.workload.complete(cmd, d)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		if err := opts.Validate(args); err != nil {
			return err
		}
		return runSize(cmd.Context(), opts, d)
	})
	return cmd
}

func runSize(ctx context.Context, o *sizeOptions, d *deps) error {
	request, err := o.request(ctx, d)
	if err != nil {
		return err
	}
	size, err := d.Size(request)
	if err != nil {
		return err
	}
	doc := &render.Size{Size: size}
	if size.Workload != nil {
		doc.Canonical = workload.Canonical(size.Workload)
	}
	return d.show(doc)
}

// request gathers what is to be sized.
func (o *sizeOptions) request(ctx context.Context, d *deps) (app.SizeRequest, error) {
	q := app.SizeRequest{Count: o.gpus}
	var err error
	if o.alone() {
		q.Model, err = withModel(ctx, d, func() (*model.Model, error) { return o.model(d) })
		return q, err
	}
	pins, err := layoutFlags(o.layout)
	if err != nil {
		return q, err
	}
	if o.config != "" { // the network of a config.json in place of the model that the flags would name
		pins["model"] = o.config
	}
	if q.Workload, err = o.workload.read(ctx, d, pins); err != nil {
		return q, err
	}
	if o.gpu != "" {
		q.Chip, q.Count, err = o.chip(d)
		return q, err
	}
	q.Chip, q.Count = named(q.Workload)
	if q.Chip == nil && o.needsChip() {
		return q, problem.New(problem.Input, "cli.size_needs_gpu", problem.Args{"Flag": "--gpus / --layout"})
	}
	if o.workload.set.Changed("gpus") {
		q.Count = o.gpus
	}
	return q, err
}

// named is the accelerator that the workload's own limits leave, when there is one only, and how many: what the limit, the layout
// or the most allowed says.
func named(w *workload.Workload) (*accelerator.Accelerator, int) {
	var chip *accelerator.Accelerator
	count := 0
	for _, sel := range w.Limits.Accelerators {
		if len(sel.Chips) != 1 || chip != nil && chip != sel.Chips[0] {
			return nil, 0
		}
		chip, count = sel.Chips[0], int(sel.MaxCount)
	}
	l := w.Layout
	if ranks := max(1, l.TP) * max(1, l.PP) * max(1, l.CP) * max(1, l.DP); count == 0 || ranks > count {
		count = max(ranks, w.Limits.MaxCount)
	}
	return chip, max(1, count)
}

func (o *sizeOptions) model(d *deps) (*model.Model, error) {
	if o.config != "" {
		return d.ModelFile(o.config)
	}
	return d.Model(o.workload.flags()["model"])
}

// chip reads --gpu, which may carry the number: H100-SXM:8.
func (o *sizeOptions) chip(d *deps) (*accelerator.Accelerator, int, error) {
	name, count := o.gpu, o.gpus
	if head, _, found := strings.Cut(o.gpu, ":"); found {
		sel, err := d.Chips().ParseSelector(o.gpu)
		if err != nil {
			return nil, 0, err
		}
		if sel.MinCount != sel.MaxCount || sel.MinCount != math.Trunc(sel.MinCount) { // one number is sized, of whole chips
			return nil, 0, problem.New(problem.Input, "cli.bad_flag_value", problem.Args{"Flag": "--gpu", "Value": o.gpu, "Type": head + ":8"})
		}
		name = head
		if n := int(sel.MinCount); n >= 1 {
			if o.workload.set.Changed("gpus") && n != o.gpus {
				return nil, 0, problem.New(problem.Input, "cli.size_counts", problem.Args{"GPU": o.gpu, "Count": o.gpus})
			}
			count = n
		}
	}
	chip, err := d.Chips().One(name)
	return chip, count, err
}

// layoutFlags reads "tp=8,pp=2" as the flags of a workload's layout.
func layoutFlags(text string) (map[string]string, error) {
	flags := map[string]string{}
	byKey := map[string]string{}
	var known []string
	for _, f := range workload.Fields() {
		if key, in := strings.CutPrefix(f.Path, "layout."); in && byKey[key] == "" {
			byKey[key] = f.Flag
			known = append(known, key)
		}
	}
	for part := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if key == "" {
			continue
		}
		flag := byKey[strings.ReplaceAll(strings.ToLower(key), "-", "_")]
		if !ok || flag == "" {
			return nil, problem.New(problem.Input, "cli.one_of", problem.Args{"What": "--layout", "Names": known}).
				With(problem.Nearest(key, known, 1)...)
		}
		if _, twice := flags[flag]; twice {
			return nil, problem.New(problem.Input, "workload.repeated", problem.Args{"Key": "--layout", "Value": key})
		}
		flags[flag] = value
	}
	return flags, nil
}
