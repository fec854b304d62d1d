// Package feedtest is the contract of feed.Source as tests: every vendor's folder runs Run on a server that behaves as the
// vendor documents. Imported by tests only.
package feedtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Feed is a source under test with a server to ask.
type Feed struct {
	// New makes the source, asking at address for everything.
	New func(t *testing.T, address string, w feed.World) feed.Source
	// Server behaves as the vendor documents: pages, empty fields, numbers as strings and all. It knows its own address.
	Server func(t *testing.T, address func() string) http.Handler
	// Env is what the source finds in its environment; Secrets are the parts of it that nobody else may ever see.
	Env     map[string]string
	Secrets []string
	// Want is every price of Server as Line writes it, in any order, and listings without one.
	Want []string
	// Part is a piece of the path, query or body of the requests for one part (a region, a page of one list) without which
	// the rest can stand; LostRegion is the region that Lost then names. Empty where there is only one part.
	Part       string
	LostRegion string
}

// Now is the time in World.
var Now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// World is surroundings with an environment and quick retries.
func World(t testing.TB, env map[string]string, o fetch.Options) feed.World {
	t.Helper()
	if o.Delay == 0 {
		o.Delay = time.Millisecond
	}
	if o.Attempts == 0 {
		o.Attempts = 3
	}
	client := fetch.New(o)
	t.Cleanup(client.Close)
	known, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return feed.World{
		HTTP: client, Env: func(name string) string { return env[name] }, Now: func() time.Time { return Now },
		Chips: accelerator.Embedded(), Known: known,
		Read: func(path string) ([]byte, error) { return nil, fmt.Errorf("%s: no files in this test", path) },
		List: func(path string) ([]string, error) { return nil, fmt.Errorf("%s: no files in this test", path) },
	}
}

// Run holds a source against the contract.
func Run(t *testing.T, f Feed) {
	t.Run("answers as documented, twice the same", func(t *testing.T) { f.whole(t, nil) })
	t.Run("packed answers", func(t *testing.T) { f.whole(t, packed) })
	t.Run("every first answer is 503", func(t *testing.T) { f.whole(t, firstly(status(http.StatusServiceUnavailable, nil))) })
	t.Run("every first answer is 429", func(t *testing.T) {
		f.whole(t, firstly(status(http.StatusTooManyRequests, map[string]string{"Retry-After": "0"})))
	})
	t.Run("every first answer breaks off", func(t *testing.T) { f.whole(t, firstly(truncated)) })
	t.Run("nothing but 500", func(t *testing.T) { f.fails(t, status(http.StatusInternalServerError, nil), fetch.CodeBusy) })
	t.Run("refused", func(t *testing.T) {
		f.fails(t, status(http.StatusForbidden, nil), fetch.CodeDenied, fetch.CodeMalformed)
	})
	t.Run("a page for people", func(t *testing.T) {
		f.fails(t, body("<!doctype html><title>Sign in</title>"), fetch.CodeMalformed)
	})
	t.Run("an empty object", func(t *testing.T) { f.fails(t, body("{}")) })
	t.Run("nothing at all", func(t *testing.T) { f.fails(t, body("")) })
	t.Run("endless answers", func(t *testing.T) { f.fails(t, endless, fetch.CodeTooLarge, fetch.CodeMalformed) })
	t.Run("no answer in time", func(t *testing.T) {
		f.failsWith(t, silent, fetch.Options{Stall: 30 * time.Millisecond}, fetch.CodeStalled)
	})
	t.Run("gives up when told to", f.cancels)
	t.Run("sent elsewhere", f.redirects)
	t.Run("no TLS", f.insecure)
	if f.Part != "" {
		t.Run("one part fails", f.loses)
	}
}

// serve starts the feed's server with something around it.
func (f Feed) serve(t *testing.T, around func(http.Handler) http.Handler) string {
	t.Helper()
	var server *httptest.Server
	h := f.Server(t, func() string { return server.URL })
	if around != nil {
		h = around(h)
	}
	server = httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func (f Feed) whole(t *testing.T, around func(http.Handler) http.Handler) {
	source := f.New(t, f.serve(t, around), World(t, f.Env, fetch.Options{}))
	for range 2 {
		var got Sink
		if err := source.Fetch(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		for _, l := range got.Losses {
			t.Errorf("lost %s %s: %v", l.Provider, l.Region, l.Why)
		}
		compare(t, got.Lines(), f.Want)
	}
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("not expected: %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("missing: %s", line)
		}
	}
	if len(got) != len(want) && !t.Failed() {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
}

// fails is failsWith for answers of up to a mebibyte.
func (f Feed) fails(t *testing.T, around func(http.Handler) http.Handler, codes ...string) {
	t.Helper()
	f.failsWith(t, around, fetch.Options{Cap: 1 << 20}, codes...)
}

// failsWith wants an error or a loss, nothing said to be complete, and no secret in either.
func (f Feed) failsWith(t *testing.T, around func(http.Handler) http.Handler, o fetch.Options, codes ...string) {
	t.Helper()
	var got Sink
	w := World(t, f.Env, o)
	err := f.New(t, f.serve(t, around), w).Fetch(t.Context(), &got)
	if err == nil && len(got.Losses) == 0 {
		t.Fatalf("neither an error nor a loss; %d rows", len(got.Listings))
	}
	if len(got.Covered) > 0 {
		t.Errorf("says that it has read all of %v", got.Covered)
	}
	for _, l := range got.Losses {
		err = errors.Join(err, l.Why)
	}
	f.silent(t, err)
	for _, p := range problem.All(err) {
		if len(codes) > 0 && !slices.Contains(codes, p.Code) && !strings.HasPrefix(p.Code, "feed.") {
			t.Errorf("%v, want one of %v", p, codes)
		}
	}
}

// silent looks for secrets in an error, the causes below it included.
func (f Feed) silent(t *testing.T, err error) {
	t.Helper()
	text := fmt.Sprintf("%v %+v", err, problem.All(err))
	for _, s := range f.Secrets {
		if strings.Contains(text, s) {
			t.Errorf("an error has the secret %q: %s", s, text)
		}
	}
}

func (f Feed) cancels(t *testing.T) {
	before := goleak.IgnoreCurrent()
	asked := make(chan struct{})
	var once sync.Once
	around := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			once.Do(func() { close(asked) })
			silent(h).ServeHTTP(w, r)
		})
	}
	w := World(t, f.Env, fetch.Options{})
	source := f.New(t, f.serve(t, around), w)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- source.Fetch(ctx, &Sink{}) }()
	select {
	case <-asked:
	case err := <-done:
		t.Fatalf("ended before it asked: %v", err)
	}
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that it was cancelled", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("went on after it was cancelled")
	}
	w.HTTP.Close()
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("net/http.(*Server).Serve"), goleak.IgnoreAnyFunction("net/http.(*conn).serve"))
}

// redirects sends every request to another host, which must not learn a secret.
func (f Feed) redirects(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprint(r.URL, r.Header, string(text)))
	}))
	defer other.Close()
	around := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		})
	}
	f.fails(t, around)
	if len(f.Secrets) > 0 && len(seen) > 0 {
		t.Errorf("credentials went to another host: %s", seen[0])
	}
}

func (f Feed) insecure(t *testing.T) {
	var got Sink
	err := func() (err error) {
		source := f.New(t, "http://prices.example.com", World(t, f.Env, fetch.Options{}))
		return source.Fetch(t.Context(), &got)
	}()
	for _, l := range got.Losses {
		err = errors.Join(err, l.Why)
	}
	if err == nil || !strings.Contains(err.Error(), fetch.CodeInsecure) {
		t.Errorf("%v, want %s", err, fetch.CodeInsecure)
	}
}

// loses fails one part for good: the others stand, and the loss is told.
func (f Feed) loses(t *testing.T) {
	around := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if key := keyOf(r); strings.Contains(key, f.Part) {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	var got Sink
	if err := f.New(t, f.serve(t, around), World(t, f.Env, fetch.Options{})).Fetch(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	lost := slices.ContainsFunc(got.Losses, func(l Loss) bool { return l.Region == f.LostRegion })
	if !lost {
		t.Errorf("losses %v, want one of region %q", got.Losses, f.LostRegion)
	}
	lines := got.Lines()
	if len(lines) == 0 || len(lines) >= len(f.Want) {
		t.Errorf("%d rows stand of %d", len(lines), len(f.Want))
	}
	for _, c := range got.Covered {
		if c.Region == f.LostRegion || c.Region == "" {
			t.Errorf("says that it has read all of %v", c)
		}
	}
}
