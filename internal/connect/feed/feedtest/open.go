package feedtest

import (
	"context"

	"github.com/rackrate/rackrate/internal/connect/feed"
)

// Open makes a source. One that its settings do not allow fails with the reason when it is read.
func Open(m feed.Maker, c feed.Config, w feed.World) feed.Source {
	if c.Kind = m.Kind; c.Name == "" {
		c.Name = m.Kind
	}
	s, err := m.New(c, w)
	if err != nil {
		return refused{err}
	}
	return s
}

type refused struct{ why error }

func (r refused) Fetch(context.Context, feed.Sink) error { return r.why }
