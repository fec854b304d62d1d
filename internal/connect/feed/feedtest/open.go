package feedtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
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

// Read reads a source once from a server for everything, without retries.
func Read(t testing.TB, m feed.Maker, c feed.Config, env map[string]string, h http.Handler) (*Sink, error) {
	t.Helper()
	return ReadAt(t, m, func(address string) feed.Config { c.Endpoint = address; return c }, env, h)
}

// ReadAt is Read for sources that need the server's address in more than one place.
func ReadAt(t testing.TB, m feed.Maker, c func(address string) feed.Config, env map[string]string, h http.Handler) (*Sink, error) {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	var got Sink
	err := Open(m, c(server.URL), World(t, env, fetch.Options{Attempts: 1})).Fetch(t.Context(), &got)
	return &got, err
}
