package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]string{
		`1.50`: "1.50", `"9.5326"`: "9.5326", `null`: "", `5E-05`: "5E-05", `""`: "", `" 2 "`: "2", `0.36979999999999996`: "0.36979999999999996",
	} {
		var n struct{ N feed.Number }
		if err := json.Unmarshal([]byte(`{"N":`+text+`}`), &n); err != nil || string(n.N) != want {
			t.Errorf("%s is %q (%v), want %q", text, n.N, err, want)
		}
	}
	var n feed.Number
	for _, text := range []string{`{}`, `[]`, `true`} {
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			t.Errorf("%s is %q", text, n)
		}
	}
	if feed.Number("0.00").Positive() || feed.Number("").Positive() || !feed.Number("1e-3").Positive() {
		t.Error("wrong about what is above zero")
	}
	if feed.Number("0.25").Float() != 0.25 || feed.Number("x").Float() != 0 {
		t.Error("wrong floats")
	}
}

func TestEach(t *testing.T) {
	var sink feedtest.Sink
	bad := errors.New("bad")
	parts := []string{"a", "b", "c", "d", "e", "f"}
	lost, err := feed.Each(t.Context(), &sink, parts, func(_ context.Context, part string) error {
		if part > "d" {
			return fmt.Errorf("%s: %w", part, bad)
		}
		return nil
	})
	if err != nil || len(lost) != 2 || !errors.Is(lost["e"], bad) || !errors.Is(lost["f"], bad) {
		t.Errorf("%v, %v", lost, err)
	}
	if _, err := feed.Each(t.Context(), &sink, parts, func(_ context.Context, part string) error { return errors.New(part) }); err == nil || err.Error() != "a" {
		t.Errorf("all fail: %v", err)
	}
	if lost, err := feed.Each(t.Context(), &sink, nil, nil); err != nil || len(lost) > 0 {
		t.Errorf("nothing to read: %v %v", lost, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := feed.Each(ctx, &sink, parts, func(context.Context, string) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestRefused(t *testing.T) {
	p := problem.All(feed.Refused("x", "no\n\x1b[31m\xff"+strings.Repeat("y", 500)))[0]
	if got := p.Args["Answer"].(string); !strings.HasPrefix(got, "no[31m") || len(got) > 200 {
		t.Errorf("%q", got)
	}
}

func TestPatient(t *testing.T) {
	asked := 0
	ask := func(free int) func() (bool, error) {
		asked = 0
		return func() (bool, error) {
			if asked++; asked < free {
				return true, errors.New("busy")
			}
			return false, nil
		}
	}
	if err := feed.Patient(t.Context(), time.Microsecond, ask(4)); err != nil || asked != 4 {
		t.Errorf("%v after %d", err, asked)
	}
	if err := feed.Patient(t.Context(), time.Microsecond, ask(100)); err == nil || asked != 5 {
		t.Errorf("%v after %d", err, asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := feed.Patient(ctx, time.Hour, ask(100)); !errors.Is(err, context.Canceled) || asked != 1 {
		t.Errorf("%v after %d", err, asked)
	}
}
