package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		exit int
	}{{Internal, 1}, {Input, 2}, {NoMatch, 3}, {Limit, 4}, {Invalid, 5}} {
		if c.kind.ExitCode() != c.exit {
			t.Errorf("kind %d: exit %d, want %d", c.kind, c.kind.ExitCode(), c.exit)
		}
	}
}

func TestErrorPrintsPlaceCodeFiguresAndCause(t *testing.T) {
	e := New(Input, "workload.unknown_key", Args{"Key": "modle", "At": 3}).At("job.yaml", 7).With("model").Wrap(fs.ErrNotExist)
	if got, want := e.Error(), "job.yaml:7: workload.unknown_key At=3 Key=modle: file does not exist"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !errors.Is(e, fs.ErrNotExist) || !slices.Equal(e.Suggest, []string{"model"}) {
		t.Errorf("lost the cause or the suggestion: %+v", e)
	}
	if got := New(NoMatch, "plan.nothing", nil).Error(); got != "plan.nothing" {
		t.Errorf("got %s", got)
	}
}

func TestList(t *testing.T) {
	if err := (List{}).OrNil(); err != nil {
		t.Errorf("no fault is an error: %v", err)
	}
	l := List{New(Input, "first", nil), New(Limit, "second", nil).Wrap(fs.ErrExist)}
	if got := l.OrNil().Error(); got != "first\nsecond: file already exists" {
		t.Errorf("printed %q", got)
	}
	if !errors.Is(l, fs.ErrExist) {
		t.Error("a cause in a list is not found")
	}
}

func TestAll(t *testing.T) {
	a, b, c := New(Input, "a", nil), New(Limit, "b", nil), New(NoMatch, "c", nil)
	foreign := errors.New("disk on fire")
	for _, tc := range []struct {
		name  string
		err   error
		codes []string
		exit  int
	}{
		{"nothing", nil, nil, 0},
		{"one", b, []string{"b"}, 4},
		{"one, wrapped", fmt.Errorf("reading: %w", c), []string{"c"}, 3},
		{"a list, wrapped", fmt.Errorf("reading: %w", List{a, b}), []string{"a", "b"}, 2},
		{"two lists, joined", errors.Join(List{a}, List{b, c}), []string{"a", "b", "c"}, 2},
		{"beside a sentinel", fmt.Errorf("%w: %w", foreign, a), []string{"a"}, 2},
		{"a cause is not another problem", New(Limit, "outer", nil).Wrap(a), []string{"outer"}, 4},
		{"foreign", foreign, []string{"internal"}, 1},
		{"an empty list is still a failure", List{}, []string{"internal"}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var codes []string
			for _, e := range All(tc.err) {
				codes = append(codes, e.Code)
			}
			if !slices.Equal(codes, tc.codes) || ExitCode(tc.err) != tc.exit {
				t.Errorf("%v exit %d, want %v exit %d", codes, ExitCode(tc.err), tc.codes, tc.exit)
			}
		})
	}
	if got := All(foreign)[0]; got.Args["Error"] != "disk on fire" || !errors.Is(got, foreign) {
		t.Errorf("lost what happened: %+v", got)
	}
}

func TestNearest(t *testing.T) {
	chips := []string{"H100-SXM", "H100-PCIe", "H200", "A100-80GB", "MI300X", "L40S", "RTX 4090"}
	for _, c := range []struct {
		word string
		want []string
	}{
		{"h100", []string{"H100-PCIe", "H100-SXM", "H200"}},
		{"H1OO-SXM", []string{"H100-SXM"}},
		{"h100_sxm", []string{"H100-SXM"}},
		{"m1300x", []string{"MI300X"}},
		{"4090", []string{"RTX 4090"}},
		{"L04S", []string{"L40S"}}, // neighbours swapped
		{"banana", nil},
		{"", nil},
		{"---", nil},
	} {
		got := Nearest(c.word, chips, 3)
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.word, got, c.want)
		}
	}
	if got := Nearest("h100sxm", chips, 1); !slices.Equal(got, []string{"H100-SXM"}) {
		t.Errorf("the best is not first: %q", got)
	}
}

// A known name with one letter changed is always suggested back, and never more than was asked for.
func TestNearestFindsASlip(t *testing.T) {
	known := []string{"llama-3.1-70b", "mistral-7b", "qwen2.5-72b", "deepseek-v3", "gpt-oss-120b"}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(known).Draw(t, "name")
		word := []byte(name)
		word[rapid.IntRange(0, len(word)-1).Draw(t, "at")] = byte(rapid.IntRange('a', 'z').Draw(t, "letter"))
		n := rapid.IntRange(1, 3).Draw(t, "n")
		if got := Nearest(string(word), known, n); len(got) > n || len(got) == 0 || got[0] != name {
			t.Fatalf("%q: %q, want %q first", word, got, name)
		}
	})
}
