// Package app wires the floors together: the only place that knows the clock, the environment, the files and the
// facts at once. The command line and the server call it, so that they cannot disagree.
//
// Invariants: the day is read once per process and can be set (RACKRATE_TODAY) so that results can be reproduced;
// facts are loaded when first asked for, never at start; nothing here decides what is a good plan. It may import
// everything; front/cli and front/server import it.
package app

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/front/config"
	"github.com/rackrate/rackrate/internal/front/say"
)

// Outside is everything a process meets: its streams, its environment, its clock and its files.
type Outside struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(name string) string
	Now      func() time.Time
	Files    Files
	// Interactive says that a person sits there, who can be asked: standard input and standard error are a terminal.
	Interactive bool
}

// Files is the file system as far as commands need it.
type Files interface {
	Read(path string) ([]byte, error)
	// Under lists the files of a folder and of those in it whose names end in one of the suffixes, sorted; any other path is itself.
	Under(path string, suffixes ...string) ([]string, error)
	// Modified is when a file was last changed.
	Modified(path string) (time.Time, error)
	// Create writes a new file; it fails with fs.ErrExist where there is one, unless over is set.
	Create(path string, data []byte, over bool) error
	// Folder makes a folder and those it lies in, for the user alone, where it is not there yet.
	Folder(path string) error
	Remove(path string) error
}

// Real is the process's own surroundings.
func Real(in io.Reader, out, errs io.Writer) Outside {
	return Outside{
		In: in, Out: out, Err: errs, Env: os.Getenv, Now: time.Now, Files: disk{}, Interactive: IsTerminal(in) && IsTerminal(errs),
	}
}

// App is what a command works with.
type App struct {
	Outside
	Config config.Config
	Say    *say.Speaker
	Today  string // ISO date

	clock    func() time.Time // of the machine, which servers hold signatures against
	exchange func() (money.Exchange, error)
	own      func() ownModels
	view     func() (*view, error)
}

// New reads the settings. Its error lists what is wrong with them; the App works all the same, so that the faults
// can be said in the reader's language.
func New(out Outside, lang string) (*App, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		dir = "" // no home, no settings of the user's own
	}
	src := config.Sources{Env: out.Env, Open: out.Files.Read, UserDir: dir}
	if lang != "" {
		src.Flags = map[config.Key]string{config.Lang: lang}
	}
	cfg, faults := config.Load(src)
	a := &App{Outside: out, Config: cfg, Say: say.For(cfg.Language()), clock: out.Now}
	a.exchange = sync.OnceValues(a.readExchange)
	a.own = sync.OnceValue(a.readOwnModels)
	day, err := today(out)
	a.Today = day
	a.Now = func() time.Time { return onDay(day, a.clock()) }
	a.look()
	return a, join(faults, err)
}

// join lists the problems of both errors.
func join(a, b error) error {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return append(problem.All(a), problem.All(b)...)
}

// Override lays the flags that were given over the settings.
func (a *App) Override(flags map[config.Key]string) error {
	cfg, err := a.Config.Override(flags)
	a.Config = cfg
	a.Say = say.For(cfg.Language())
	a.look()
	return err
}

// look takes the settings that say which prices count: they are read anew when next asked for.
func (a *App) look() {
	if day := a.Config.Text(config.AsOf); day != "" {
		a.Today = day
	}
	a.view = sync.OnceValues(a.readView)
}

// onDay is the time of day on a day: what is read and kept while RACKRATE_TODAY sets the day is of that day.
func onDay(day string, now time.Time) time.Time {
	d, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return now
	}
	now = now.UTC()
	return d.Add(now.Sub(now.Truncate(24 * time.Hour)))
}

// today is the day in UTC: prices are dated, not timed, and two people who ask at once should get one answer.
func today(out Outside) (string, error) {
	if text := out.Env("RACKRATE_TODAY"); text != "" {
		if _, err := time.Parse(time.DateOnly, text); err == nil {
			return text, nil
		}
		return out.Now().UTC().Format(time.DateOnly),
			problem.New(problem.Input, "settings.bad_value", problem.Args{"Key": "RACKRATE_TODAY", "Value": text, "Want": "2026-05-20"})
	}
	return out.Now().UTC().Format(time.DateOnly), nil
}

// AgeDays is how old a date is today; false where it is not a date.
func (a *App) AgeDays(asOf string) (int, bool) {
	then, err := time.Parse(time.DateOnly, asOf)
	if err != nil {
		return 0, false
	}
	now, err := time.Parse(time.DateOnly, a.Today)
	if err != nil {
		return 0, false
	}
	return int(now.Sub(then).Hours() / 24), true
}

// DaysAgo is the date so many days before today.
func (a *App) DaysAgo(days int) string {
	now, err := time.Parse(time.DateOnly, a.Today)
	if err != nil {
		return ""
	}
	return now.AddDate(0, 0, -days).Format(time.DateOnly)
}

// done says whether the caller has given up.
func done(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return problem.New(problem.Internal, "cli.interrupted", nil).Wrap(err)
	}
	return nil
}
