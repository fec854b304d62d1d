package cli

import (
	"io"
	"os"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
)

// bars shows how sources are read, a bar each, where standard error is a terminal; elsewhere nothing. It is an app.Watch.
type bars struct {
	say *say.Speaker
	all *mpb.Progress // nil where nothing is shown

	mu sync.Mutex
	of map[string]*mpb.Bar
}

func (d *deps) progress() *bars {
	b := &bars{say: d.Say, of: map[string]*mpb.Bar{}}
	if f, isFile := d.Err.(*os.File); isFile && app.IsTerminal(f) && d.Env("TERM") != "dumb" {
		b.all = mpb.New(mpb.WithOutput(io.Writer(f)), mpb.WithWidth(40))
	}
	return b
}

// Started begins a source's bar.
func (b *bars) Started(source string) {
	if b.all == nil {
		return
	}
	bar := b.all.AddBar(0,
		mpb.PrependDecorators(decor.Name(source, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
			if s.Total <= 0 {
				return b.say.Int(s.Current)
			}
			return b.say.Int(s.Current) + " / " + b.say.Int(s.Total)
		})),
	)
	b.mu.Lock()
	b.of[source] = bar
	b.mu.Unlock()
}

// Progress moves a source's bar.
func (b *bars) Progress(source string, done, total int64) {
	if bar := b.bar(source); bar != nil {
		bar.SetTotal(total, false)
		bar.SetCurrent(done)
	}
}

// Ended ends a source's bar.
func (b *bars) Ended(r app.SourceResult) {
	bar := b.bar(r.Job.Name)
	switch {
	case bar == nil:
	case r.Err != nil:
		bar.Abort(false)
	default:
		bar.SetTotal(-1, true)
	}
}

func (b *bars) bar(source string) *mpb.Bar {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[source]
}

// Close waits until the bars stand still; those of sources that did not end are dropped.
func (b *bars) Close() {
	if b.all == nil {
		return
	}
	b.mu.Lock()
	for _, bar := range b.of {
		bar.Abort(false)
	}
	b.mu.Unlock()
	b.all.Wait()
}
