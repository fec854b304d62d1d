package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/fetch"
)

// JSON asks a question whose answer is one JSON value.
func JSON(ctx context.Context, c *fetch.Client, r fetch.Request, into any) error {
	body, err := c.Get(ctx, r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fetch.Malformed(r.URL, err)
	}
	return nil
}

// Number is a JSON number as it is written, or one in a string; empty for null, so that nothing is rounded on the way.
type Number string

// UnmarshalJSON reads a number, a string or null. What a string says is for Decimal to judge.
func (n *Number) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); {
	case bytes.Equal(data, []byte("null")):
		*n = ""
		return nil
	case len(data) > 0 && data[0] == '"':
		var text string
		err := json.Unmarshal(data, &text)
		*n = Number(strings.TrimSpace(text))
		return err
	}
	var number json.Number
	err := json.Unmarshal(data, &number)
	*n = Number(number)
	return err
}

// Positive says whether it is a number above zero; a zero is how many vendors write that there is no price.
func (n Number) Positive() bool {
	v, err := Decimal(string(n))
	return err == nil && v.Sign() > 0
}

// Float is the number for sizes and counts, never for money; 0 where it is none.
func (n Number) Float() float64 {
	v, err := Decimal(string(n))
	if err != nil {
		return 0
	}
	f, _ := v.Float64()
	return f
}

// Size is the number where it is above zero, which is how vendors write what they do not say.
func (n Number) Size() unit.Maybe[float64] {
	if v := n.Float(); v > 0 {
		return unit.Some(v)
	}
	return unit.Maybe[float64]{}
}

// Bytes is the number as a size, of so many bytes each.
func (n Number) Bytes(each unit.Bytes) unit.Maybe[unit.Bytes] {
	if v := n.Float() * float64(each); v > 0 && v < 1<<62 {
		return unit.Some(unit.Bytes(v))
	}
	return unit.Maybe[unit.Bytes]{}
}

// vendorsCode is what no key looks like.
var vendorsCode = regexp.MustCompile(`^[A-Za-z][A-Za-z_.]{2,63}$`)

// Told adds the code that a vendor has for what is wrong to the problem of an answer that is no success, whose words may repeat a
// key and are not shown. An answer whose code is none stays as it is.
func Told(err error, code func(answer []byte) string) error {
	status, ok := errors.AsType[*fetch.StatusError](err)
	if !ok {
		return err
	}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		if c := code(status.Body); vendorsCode.MatchString(c) {
			p.Args["Text"] = c
		}
	}
	return err
}

// Refused is the problem of a vendor that answers with an error code of its own in an answer that is otherwise fine.
func Refused(source, code string) *problem.Error {
	code = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(code, ""))
	if r := []rune(code); len(r) > 160 {
		code = string(r[:160]) + "…"
	}
	return problem.New(problem.Internal, "feed.refused", problem.Args{"Source": source, "Answer": code})
}

// atOnce is how many parts of a source are read at once.
const atOnce = 4

// Each reads the parts of a source, some at once, and gives those that failed. It fails itself where all did, or the context
// ended: parts that still wait are then not begun.
func Each(ctx context.Context, to Sink, parts []string, read func(context.Context, string) error) (map[string]error, error) {
	var mu sync.Mutex
	var done int64
	lost := map[string]error{}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, part := range parts {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			err := read(ctx, part)
			mu.Lock()
			defer mu.Unlock()
			if done++; err != nil {
				lost[part] = err
			}
			to.Progress(done, int64(len(parts)))
			return ctx.Err()
		})
	}
	if g.Wait() != nil {
		return nil, context.Cause(ctx)
	}
	if len(lost) == len(parts) && len(parts) > 0 {
		return nil, lost[slices.Min(slices.Collect(maps.Keys(lost)))]
	}
	return lost, nil
}

// tries is how often a vendor is asked again that answers, in words of its own, that it is asked too often.
const tries = 5

// Patient asks until the vendor is not busy, waiting twice as long each time; what it last answered stands.
func Patient(ctx context.Context, wait time.Duration, ask func() (busy bool, err error)) error {
	for n := 1; ; n++ {
		busy, err := ask()
		if !busy || n == tries {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
		wait *= 2
	}
}
