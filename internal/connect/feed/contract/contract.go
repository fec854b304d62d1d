// Package contract reads what a team has agreed with a provider: prices of its own, and shares off the list, with the days that
// they hold.
//
// Invariants: a contract is read whole or not at all, with every fault at its line; nothing of it leaves the machine. Imported
// by front/app only.
package contract

import (
	"context"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Maker makes the source of kind contract, one for each file of terms.
var Maker = feed.Maker{
	Kind: "contract", Layer: catalog.Contract, Licence: "your own", New: open,
}

type source struct {
	feed.Config
	world feed.World
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	faults := c.Check(feed.Takes{Path: true})
	switch {
	case c.Path != "":
	case c.File == "": // nobody set one up
		return nil, feed.NoCredentials(c.Name, "path")
	default:
		faults = append(faults, c.Bad("path", "", "contracts/nordic.yaml"))
	}
	if c.Endpoint != "" {
		faults = append(faults, problem.New(problem.Input, "feed.not_taken", problem.Args{"Source": c.Name, "Kind": c.Kind, "Key": "endpoint"}).At(c.File, c.Line))
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	return &source{c, w}, nil
}

// Fetch reads the file and adds its terms in their order: of several that fit a price, the last one counts.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	data, err := s.world.Read(s.Path)
	if err != nil {
		return s.Unreadable(s.Path, err)
	}
	terms, err := Parse(s.Path, data, s.world.Chips)
	if err != nil {
		return err
	}
	for i, t := range terms {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to.Term(t)
		to.Progress(int64(i+1), int64(len(terms)))
	}
	return nil
}
