// Package hub asks Hugging Face and ModelScope for what they say of a model: its config.json and what stands beside it.
//
// Invariants: a token goes to its own hub only, and only once the hub refuses to answer without; it is never followed to another
// host, kept or put into an error. Nothing but small files is read, none of the weights. Imported by front/app only.
package hub

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/model"
)

const (
	// maxConfig bounds a config.json; the largest published ones, with thousands of labels, are a third of it.
	maxConfig = 1 << 20
	// maxAbout bounds what a hub says of a model, which lists each of its files.
	maxAbout = 8 << 20
)

// World is what asking a hub needs of the world.
type World struct {
	HTTP *fetch.Client
	Env  func(name string) string
	Home string // the user's home directory; empty where there is none
	Read func(path string) ([]byte, error)
}

// Card is what a hub says of a model.
type Card struct {
	Name    string // as the hub spells it
	Source  string // host/name@commit config.json
	Config  []byte
	License string // empty where it is not said
	// Parameters is how many numbers the checkpoint holds; unknown where the hub does not count them.
	Parameters unit.Maybe[int64]
	// Packed says that they are packed, several weights to one, so that Parameters is unknown.
	Packed bool
}

// site is one hub.
type site struct {
	World
	ref      model.Ref
	endpoint string
	variable string // what its users put a token in
	token    func() string
	sign     func(h http.Header, token string)
}

// Fetch asks a hub for a model. Its errors are hub.* and fetch.* problems.
func Fetch(ctx context.Context, w World, ref model.Ref) (*Card, error) {
	if ref.Hub == model.ModelScope {
		return modelScope(ctx, w, ref)
	}
	return huggingFace(ctx, w, ref)
}

// host is the hub's name for people.
func (s *site) host() string {
	if u, err := url.Parse(s.endpoint); err == nil && u.Host != "" {
		return strings.TrimPrefix(u.Host, "www.")
	}
	return s.endpoint
}

// get asks without a token first: most models are for everybody, and what is not sent cannot go astray.
func (s *site) get(ctx context.Context, address string, limit int64) ([]byte, error) {
	r := fetch.Request{URL: address, MaxBytes: limit}
	body, err := s.HTTP.Get(ctx, r)
	if code := codeOf(err); code != fetch.CodeDenied && code != fetch.CodeNotFound { // a hub may hide what is private
		return body, err
	}
	token := s.token()
	if token == "" {
		return nil, err
	}
	r.Header, r.Secret = http.Header{}, true
	s.sign(r.Header, token)
	return s.HTTP.Get(ctx, r)
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return problem.All(err)[0].Code
}

// about turns a refusal into what to do about it. A hub that answers anybody says 401 of a model that is not there, too.
func (s *site) about(err error, gated bool) error {
	args := problem.Args{"Name": s.ref.Name, "Host": s.host(), "Var": s.variable, "Token": ""}
	if s.token() != "" {
		args["Token"] = s.variable // that there is one, not which
	}
	switch codeOf(err) {
	case fetch.CodeDenied:
		if gated {
			return problem.New(problem.Input, "hub.gated", args).Wrap(err)
		}
		return problem.New(problem.Input, "hub.denied", args).Wrap(err)
	case fetch.CodeNotFound:
		return problem.New(problem.NoMatch, "hub.not_found", problem.Args{"Name": s.ref.Name, "Host": s.host(), "Revision": s.ref.Revision}).Wrap(err)
	}
	return err
}

func (s *site) noConfig(err error) error {
	return problem.New(problem.NoMatch, "hub.no_config", problem.Args{"Name": s.ref.Name, "Host": s.host()}).Wrap(err)
}

// source names what was read: host/name@revision config.json.
func (s *site) source(name, revision string) string {
	if revision != "" {
		name += "@" + revision
	}
	return s.host() + "/" + name + " config.json"
}

// fromFile reads a token that a hub's own tool keeps in a file; "" where there is none.
func (w World) fromFile(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && w.Home != "" {
		path = filepath.Join(w.Home, rest)
	}
	if path == "" {
		return ""
	}
	text, err := w.Read(path)
	if err != nil { // not signed in
		return ""
	}
	return strings.TrimSpace(string(text))
}

// first is the first variable that is set.
func (w World) first(names ...string) string {
	for _, name := range names {
		if text := strings.TrimSpace(w.Env(name)); text != "" {
			return text
		}
	}
	return ""
}
