package refresh

import (
	"fmt"
	"math"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Report is what the store keeps of a reading beside its rows.
type Report struct {
	Read, Kept, Merged, Rejected int
	Terms                        int            `json:",omitempty"` // lines of a contract
	Lost                         []LostPart     `json:",omitempty"`
	Problems                     []Told         `json:",omitempty"` // of a failure
	Unrecognised                 map[string]int `json:",omitempty"` // rows by the spelling of an unknown accelerator
}

// LostPart is a Loss as it is kept.
type LostPart struct {
	Provider, Region string
	Why              []Told
	Kept             int
}

// Told is a problem as it is kept: whoever reads it says it in the reader's language.
type Told struct {
	Code    string
	Args    map[string]any `json:",omitempty"`
	File    string         `json:",omitempty"`
	Line    int            `json:",omitempty"`
	Suggest []string       `json:",omitempty"`
}

// told keeps figures that JSON cannot tell from others as they are printed in every language.
func told(p *problem.Error) Told {
	t := Told{Code: p.Code, File: p.File, Line: p.Line, Suggest: p.Suggest, Args: map[string]any{}}
	for k, v := range p.Args {
		if s, ok := v.(fmt.Stringer); ok {
			v = s.String()
		}
		t.Args[k] = v
	}
	return t
}

func toldAll(err error) (all []Told) {
	for _, p := range problem.All(err) {
		all = append(all, told(p))
	}
	return all
}

// Problems are those that were kept; nil where there were none.
func Problems(all []Told) error {
	var out problem.List
	for i := range all {
		out = append(out, all[i].problem())
	}
	return out.OrNil()
}

func (t *Told) problem() *problem.Error {
	args := problem.Args{}
	for k, v := range t.Args {
		switch v := v.(type) {
		case []any:
			words := make([]string, len(v))
			for i, w := range v {
				words[i] = fmt.Sprint(w)
			}
			args[k] = words
		case float64:
			if args[k] = v; v == math.Trunc(v) && math.Abs(v) < 1<<53 {
				args[k] = int64(v)
			}
		default:
			args[k] = v
		}
	}
	return problem.New(problem.Internal, t.Code, args).At(t.File, t.Line).With(t.Suggest...)
}

func reportOf(r *Result) Report {
	t := r.Read.Tally
	out := Report{Read: t.Read, Kept: t.Kept, Merged: t.Merged, Rejected: t.Rejected, Terms: r.Terms}
	for _, l := range r.Lost {
		out.Lost = append(out.Lost, LostPart{l.Provider, l.Region, toldAll(l.Why), l.Kept})
	}
	out.Problems = toldAll(r.Err)
	for _, s := range r.Read.Unrecognised {
		if out.Unrecognised == nil {
			out.Unrecognised = map[string]int{}
		}
		out.Unrecognised[s.Text] += s.Count
	}
	return out
}
