// Package problem is how every floor reports what went wrong: a code with figures, never prose, so that front
// can say it in the reader's language; the place in the user's input; suggestions; and a kind that decides
// the exit code.
//
// Invariants: a Code has a message in every language (tested in front); all faults of one input are reported
// together as a List. Anything may import this package; it imports nothing of ours.
package problem

import (
	"fmt"
	"sort"
	"strings"
)

// Kind groups problems by what the user can do about them.
type Kind int

// The kinds, each with its exit code.
const (
	Internal Kind = iota // a failure of ours or of the machine: 1
	Input                // bad usage or input: 2
	NoMatch              // nothing fits or matches: 3
	Limit                // a limit or policy is violated: 4
	Invalid              // the measurement is invalid: 5
)

// ExitCode is the process exit code of a kind.
func (k Kind) ExitCode() int {
	return map[Kind]int{Internal: 1, Input: 2, NoMatch: 3, Limit: 4, Invalid: 5}[k]
}

// Args are the figures of a problem, by the names its message uses.
type Args map[string]any

// Error is one problem.
type Error struct {
	Kind Kind
	Code string // "workload.unknown_key": names the message in front's catalogue
	Args Args
	// File and Line say where in the user's input; empty and 0 where there is no file.
	File string
	Line int
	// Suggest lists what was probably meant, best first.
	Suggest []string
	Err     error // the cause, if any
}

// New makes a problem of a kind.
func New(k Kind, code string, args Args) *Error { return &Error{Kind: k, Code: code, Args: args} }

// At sets the place in the input and returns e.
func (e *Error) At(file string, line int) *Error { e.File, e.Line = file, line; return e }

// With sets suggestions and returns e.
func (e *Error) With(suggest ...string) *Error { e.Suggest = suggest; return e }

// Wrap sets the cause and returns e.
func (e *Error) Wrap(err error) *Error { e.Err = err; return e }

// Error prints the code and figures, for logs; front prints the message.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d: ", e.File, e.Line)
	}
	b.WriteString(e.Code)
	keys := make([]string, 0, len(e.Args))
	for k := range e.Args {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Fprintf(&b, " %s=%v", k, e.Args[k])
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// List is all the faults of one input, in the order of the input.
type List []*Error

// Error prints one fault a line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find each fault.
func (l List) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// OrNil is the list as an error, nil when it is empty.
func (l List) OrNil() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// All gives every problem in err, in order, flattening lists and joined errors; an error without any becomes one
// Internal problem.
func All(err error) List {
	if err == nil {
		return nil
	}
	if l := collect(err, nil); len(l) > 0 {
		return l
	}
	return List{New(Internal, "internal", Args{"Error": err.Error()}).Wrap(err)}
}

// collect appends the outermost problems of err's tree to l; a problem's own cause explains it and is not another.
func collect(err error, l List) List {
	switch e := err.(type) {
	case *Error:
		return append(l, e)
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			l = collect(part, l)
		}
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			l = collect(cause, l)
		}
	}
	return l
}

// ExitCode is the exit code of an error: 0 for nil, else that of its first problem, which its author put first.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	return All(err)[0].Kind.ExitCode()
}
