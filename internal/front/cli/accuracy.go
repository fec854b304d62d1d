package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/accuracy"
	"github.com/rackrate/rackrate/internal/choose/accuracy/kernelfit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// accuracyOptions are the flags of accuracy.
type accuracyOptions struct {
	by, only string
	worst    int
	rows     bool
}

// AddFlags declares the flags.
func (o *accuracyOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringVar(&o.by, "by", "", s.Text("option.by"))
	f.StringVar(&o.only, "only", "", s.Text("option.only"))
	f.IntVar(&o.worst, "worst", 3, s.Text("option.worst"))
	f.BoolVar(&o.rows, "rows", false, s.Text("option.rows"))
	called(f, "by", "WHAT")
	called(f, "only", "KIND")
}

// Validate checks the words.
func (o *accuracyOptions) Validate(files []string) error {
	var faults problem.List
	if o.rows && len(files) == 0 {
		faults = append(faults, problem.New(problem.Input, "cli.rows_need_files", nil))
	}
	faults = oneOf(faults, "--by", o.by, accuracy.Dimensions())
	faults = oneOf(faults, "--only", o.only, targets(estimate.Fittable))
	if o.worst < 0 {
		faults = append(faults, problem.New(problem.Input, "cli.bad_flag_value", problem.Args{"Flag": "--worst", "Value": o.worst, "Type": "0, 1, 2 …"}))
	}
	return faults.OrNil()
}

// oneOf adds a fault where a flag is given and is none of the words.
func oneOf(faults problem.List, flag, value string, words []string) problem.List {
	if value == "" || slices.Contains(words, value) {
		return faults
	}
	return append(faults, problem.New(problem.Input, "cli.bad_flag_value",
		problem.Args{"Flag": flag, "Value": value, "Type": strings.Join(words, ", ")}).With(problem.Nearest(value, words, 1)...))
}

func targets(of []estimate.Target) []string {
	words := make([]string, len(of))
	for i, t := range of {
		words[i] = string(t)
	}
	return words
}

func newAccuracy(d *deps) *cobra.Command {
	cmd := d.command("accuracy", "accuracy [FILE...]", groupChoose)
	opts := &accuracyOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	completeWords(cmd, "by", accuracy.Dimensions())
	completeWords(cmd, "only", targets(estimate.Fittable))
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(_ *cobra.Command, args []string) error {
		if err := opts.Validate(args); err != nil {
			return err
		}
		return runAccuracy(opts, args, d)
	})
	cmd.AddCommand(newAccuracyFit(d))
	return cmd
}

func completeWords(cmd *cobra.Command, flag string, words []string) {
	// A flag that is not there cannot be completed; the names are this package's own.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// runAccuracy shows the summary of the last fit, or holds predictions against tables of measurements.
func runAccuracy(o *accuracyOptions, files []string, d *deps) error {
	curves := estimate.EmbeddedCurves()
	doc := &render.Accuracy{Files: files, By: o.by, Top: d.top()}
	for _, k := range curves.Calibrations {
		doc.AsOf = max(doc.AsOf, k.AsOf)
	}
	if len(files) == 0 {
		doc.Summaries = accuracy.Embedded(curves)
	} else {
		set, err := readTables(files, d, nil)
		if err != nil {
			return err
		}
		report := accuracy.Measure(set, curves)
		doc.Summaries, doc.Skipped = report.Summaries(curves, o.worst), report.Skipped
		if o.rows {
			doc.Results = report.Results
		}
	}
	if o.only != "" {
		doc.Summaries = slices.DeleteFunc(doc.Summaries, func(s accuracy.Summary) bool { return string(s.Target) != o.only })
		doc.Results = slices.DeleteFunc(doc.Results, func(r accuracy.Result) bool { return string(r.Target) != o.only })
		doc.Skipped = slices.DeleteFunc(doc.Skipped, func(s accuracy.Skipped) bool { return string(s.Target) != o.only })
	}
	return d.show(doc)
}

// readTables reads every table, plain or in gzip, and keeps those of kernels apart where they are wanted; the faults of all come
// at once.
func readTables(files []string, d *deps, kernels *kernelfit.Tables) (*accuracy.Set, error) {
	set := &accuracy.Set{}
	var faults problem.List
	for _, path := range files {
		name, data, err := d.ReadTable(path)
		if err == nil && (kernels == nil || !kernels.Take(data)) {
			err = set.Read(name, data)
		}
		if err != nil {
			faults = append(faults, problem.All(err)...)
		}
	}
	return set, faults.OrNil()
}

// fitOptions are the flags of accuracy fit.
type fitOptions struct {
	only []string
	asOf string
	dir  string
}

// AddFlags declares the flags.
func (o *fitOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringSliceVar(&o.only, "only", nil, s.Text("option.fit-only"))
	f.StringVar(&o.dir, "out", filepath.Join("data", "efficiency"), s.Text("option.fit-out"))
	f.StringVar(&o.asOf, "today", "", s.Text("option.today"))
	called(f, "only", "KIND")
	called(f, "out", "DIR")
	called(f, "today", "DAY")
}

// Validate checks the words and the day.
func (o *fitOptions) Validate(d *deps) error {
	var faults problem.List
	for _, t := range o.only {
		faults = oneOf(faults, "--only", t, targets(estimate.Fittable))
	}
	if o.asOf == "" {
		o.asOf = d.Today
	}
	if _, err := time.Parse(time.DateOnly, o.asOf); err != nil {
		faults = append(faults, problem.New(problem.Input, "cli.bad_flag_value", problem.Args{"Flag": "--today", "Value": o.asOf, "Type": "YYYY-MM-DD"}))
	}
	return faults.OrNil()
}

func newAccuracyFit(d *deps) *cobra.Command {
	cmd := d.command("accuracy_fit", "fit FILE...", "")
	opts := &fitOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	completeWords(cmd, "only", targets(estimate.Fittable))
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		if err := opts.Validate(d); err != nil {
			return err
		}
		if len(args) == 0 {
			return problem.New(problem.Input, "cli.nothing_to_fit", nil)
		}
		return runAccuracyFit(cmd.Context(), opts, args, d)
	})
	return cmd
}

// runAccuracyFit fits the kinds that the tables measure, each into its file, and shows the errors on what was left out.
func runAccuracyFit(ctx context.Context, o *fitOptions, files []string, d *deps) error {
	curves := estimate.EmbeddedCurves()
	kernels := &kernelfit.Tables{Links: curves}
	set, err := readTables(files, d, kernels)
	if err != nil {
		return err
	}
	fitted := 0
	if !kernels.Empty() {
		if err := fitKernels(o, kernels, d); err != nil {
			return err
		}
		fitted++
	}
	for _, target := range estimate.Fittable {
		asked := len(o.only) == 0 && set.Has(target) || slices.Contains(o.only, string(target))
		if !asked {
			continue
		}
		if err := ctx.Err(); err != nil {
			return problem.New(problem.Internal, "cli.interrupted", nil).Wrap(err)
		}
		k, err := accuracy.Fit(set, curves, target, o.asOf)
		if err != nil {
			return err
		}
		text, err := accuracy.Encode(k)
		if err != nil {
			return err
		}
		if err := writeFit(o, filepath.Join("fit", string(target)+".yaml"), text, d); err != nil {
			return err
		}
		curves = curves.Calibrated(k)
		fitted++
	}
	if fitted == 0 {
		return problem.New(problem.Input, "cli.nothing_to_fit", nil)
	}
	return d.show(&render.Accuracy{Summaries: accuracy.Embedded(curves), AsOf: o.asOf, Top: d.top()})
}

// fitKernels fits the times of single kernels and collectives; it needs every table of theirs.
func fitKernels(o *fitOptions, t *kernelfit.Tables, d *deps) error {
	if missing := t.Missing(); len(missing) > 0 {
		return problem.New(problem.Input, "accuracy.kernels_missing", problem.Args{"Missing": missing})
	}
	text, err := kernelfit.Fit(*t, d.Chips(), o.asOf)
	if err != nil {
		return problem.New(problem.Input, "accuracy.kernels_faulty", problem.Args{"Error": err.Error()}).Wrap(err)
	}
	return writeFit(o, "kernels.yaml", text, d)
}

func writeFit(o *fitOptions, name string, text []byte, d *deps) error {
	path := filepath.Join(o.dir, name)
	err := d.Files.Create(path, text, true)
	if errors.Is(err, fs.ErrNotExist) {
		return problem.New(problem.Input, "cli.no_such_dir", problem.Args{"Dir": filepath.Dir(path)}).Wrap(err)
	}
	if err != nil {
		return problem.New(problem.Internal, "cli.cannot_write", problem.Args{"Error": err.Error()}).Wrap(err)
	}
	return nil
}
