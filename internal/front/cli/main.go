// Package cli is the command line: one file per command, each a constructor, its options and a run function that
// asks app for a result and hands it to render.
//
// Invariants: results go to standard output and everything else to standard error; the exit code is that of the
// first problem (0 done, 1 failed, 2 bad usage or input, 3 nothing matches, 4 a limit is violated, 5 the measurement
// is invalid); every word comes from say. Imported by cmd/rackrate only.
package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
)

// Stdio is the streams of a run.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs one command line and gives its exit code.
func Main(ctx context.Context, args []string, stdio Stdio) int {
	return run(ctx, args, app.Real(stdio.In, stdio.Out, stdio.Err))
}

func run(ctx context.Context, args []string, outside app.Outside) int {
	cobra.EnableCommandSorting = false // the order a reader needs them in, not the alphabet's
	a, faults := app.New(outside, languageAsked(args))
	d := &deps{App: a, faults: faults}
	root := newRoot(d)
	root.SetArgs(args)
	root.SetIn(outside.In)
	root.SetOut(outside.Out)
	root.SetErr(outside.Err)
	err := root.ExecuteContext(ctx)
	d.report(err)
	return problem.ExitCode(err)
}

// deps is what every command works with.
type deps struct {
	*app.App
	global globals
	faults error // of the settings; told once a command needs them
}

// languageAsked finds --lang before the command line is parsed, because the help is made in that language.
func languageAsked(args []string) string {
	for i, arg := range args {
		switch {
		case arg == "--":
			return ""
		case arg == "--lang" && i+1 < len(args):
			return args[i+1]
		case strings.HasPrefix(arg, "--lang="):
			return arg[len("--lang="):]
		}
	}
	return ""
}

// report tells what went wrong, one problem a line.
func (d *deps) report(err error) {
	if err == nil {
		return
	}
	seen := map[string]bool{}
	for _, p := range problem.All(err) {
		text := d.Say.Problem(p)
		if !seen[text] {
			fmt.Fprintln(d.Err, text)
		}
		seen[text] = true
	}
}

// note writes a remark for people beside the result.
func (d *deps) note(text string) { fmt.Fprintln(d.Err, text) }

// show writes a result in the format asked for.
func (d *deps) show(doc render.Document) error {
	width, color := d.Terminal()
	format, _ := render.ParseFormat(d.Config.Text("output"))
	err := render.Write(d.Out, doc, render.Options{Format: format, Width: width, Color: color, Say: d.Say})
	if err != nil {
		return problem.New(problem.Internal, "cli.cannot_write", problem.Args{"Error": err.Error()}).Wrap(err)
	}
	return nil
}

// machineReads says whether the output is for a program, which wants everything, and not for a person.
func (d *deps) machineReads() bool {
	switch format, _ := render.ParseFormat(d.Config.Text("output")); format {
	case render.JSON, render.CSV:
		return true
	}
	return false
}

// top is how many rows to show: what the user asked for, else all for a program and a screenful for a person.
func (d *deps) top() int {
	top := d.Config.Get("top")
	if d.machineReads() && top.Origin.Layer != "flag" {
		return 0
	}
	return d.Config.Int("top")
}
