package model

import (
	"regexp"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Hub is a place that keeps models, by the prefix it is named by.
type Hub string

// The hubs.
const (
	HuggingFace Hub = "hf"
	ModelScope  Hub = "ms"
)

// Ref names a model on a hub: hf:ORG/NAME, hf:ORG/NAME@REVISION.
type Ref struct {
	Hub      Hub
	Name     string // ORG/NAME; the oldest of Hugging Face's have no organisation
	Revision string // a branch, tag or commit; empty is the hub's default branch
}

// String is the reference as it is written.
func (r Ref) String() string {
	text := string(r.Hub) + ":" + r.Name
	if r.Revision != "" {
		text += "@" + r.Revision
	}
	return text
}

// Hubs allow these letters; what is let through here becomes part of an address, so nothing that could leave its folder is.
var (
	partOfName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,95}$`)
	revision   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]{0,99}$`)
)

// IsRef says whether a text begins as a reference to a hub does.
func IsRef(text string) bool {
	hub, _, ok := strings.Cut(text, ":")
	return ok && (Hub(hub) == HuggingFace || Hub(hub) == ModelScope)
}

// ParseRef reads a reference. Its error is model.bad_ref.
func ParseRef(text string) (Ref, error) {
	hub, rest, _ := strings.Cut(text, ":")
	name, rev, pinned := strings.Cut(rest, "@")
	r := Ref{Hub(hub), name, rev}
	parts := strings.Split(name, "/")
	ok := IsRef(text) && (len(parts) == 2 || len(parts) == 1 && r.Hub == HuggingFace) && (!pinned || okRevision(rev))
	for _, part := range parts {
		ok = ok && partOfName.MatchString(part) && !strings.Contains(part, "..")
	}
	if !ok {
		return Ref{}, problem.New(problem.Input, "model.bad_ref", problem.Args{"Text": text})
	}
	return r, nil
}

func okRevision(rev string) bool {
	return revision.MatchString(rev) && !strings.Contains(rev, "..") && !strings.Contains(rev, "//")
}

// At gives the reference at a revision.
func (r Ref) At(rev string) (Ref, error) {
	if !okRevision(rev) {
		return r, problem.New(problem.Input, "model.bad_ref", problem.Args{"Text": r.String() + "@" + rev})
	}
	r.Revision = rev
	return r, nil
}

var ownName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

// CheckName says whether a user's model may be called so: names are those of files, and written in lower case.
func CheckName(name string) error {
	if !ownName.MatchString(name) || strings.HasSuffix(name, ".json") || foldName(name) == "" {
		return problem.New(problem.Input, "model.bad_name", problem.Args{"Name": name})
	}
	return nil
}

// DefaultName is what a model of a hub is called where its user does not say: its name there without the organisation.
func (r Ref) DefaultName() string { return strings.ToLower(strings.TrimLeft(hubName(r.Name), "_")) }
