package feed

import (
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/fetch"
)

// Takes is what a kind of source can be told beside its address; the zero value is nothing more.
type Takes struct {
	Regions, Providers, Currency, Path bool
	Endpoints, Options                 []string // names
}

// Check lists what a source is told that its kind does not know or that cannot be, all of it at once.
func (c *Config) Check(t Takes) problem.List {
	var faults problem.List
	add := func(p *problem.Error) { faults = append(faults, p.At(c.File, c.Line)) }
	for _, key := range []struct {
		name       string
		set, taken bool
	}{
		{"regions", len(c.Regions) > 0, t.Regions},
		{"providers", len(c.Providers) > 0, t.Providers},
		{"currency", c.Currency != "", t.Currency},
		{"path", c.Path != "", t.Path},
	} {
		if key.set && !key.taken {
			add(problem.New(problem.Input, "feed.not_taken", problem.Args{"Source": c.Name, "Kind": c.Kind, "Key": key.name}))
		}
	}
	if cur := string(c.Currency); cur != "" && (len(cur) != 3 || strings.Trim(cur, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		add(c.Bad("currency", cur, "USD, CNY, EUR …"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		if !slices.Contains(t.Options, name) {
			add(problem.New(problem.Input, "feed.unknown_option", problem.Args{"Source": c.Name, "Kind": c.Kind, "Key": name}).
				With(problem.Nearest(name, t.Options, 2)...))
		}
	}
	addresses := []string{c.Endpoint}
	for _, name := range slices.Sorted(maps.Keys(c.Endpoints)) {
		addresses = append(addresses, c.Endpoints[name])
		if !slices.Contains(t.Endpoints, name) {
			add(problem.New(problem.Input, "feed.unknown_endpoint", problem.Args{"Source": c.Name, "Kind": c.Kind, "Key": name}).
				With(problem.Nearest(name, t.Endpoints, 2)...))
		}
	}
	for _, address := range addresses {
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || u.RawQuery != "" || u.Fragment != "" { // it may hold a password, so it is not repeated
			add(c.Bad("endpoint", "…", "https://host/path"))
			continue
		}
		if p, bad := errors.AsType[*problem.Error](fetch.Secure(u)); bad {
			add(p)
		}
	}
	return faults
}

// Bad is the fault of a setting with a value that cannot be; want says what can, in words that need no translation.
func (c *Config) Bad(key, value, want string) *problem.Error {
	return problem.New(problem.Input, "feed.bad_setting", problem.Args{"Source": c.Name, "Key": key, "Value": value, "Want": want}).At(c.File, c.Line)
}

// Choice is an option that takes one of a few values: the first where it is not set, a fault where it is another one.
func (c *Config) Choice(key string, values ...string) (string, *problem.Error) {
	switch set := c.Options[key]; {
	case set == "":
		return values[0], nil
	case slices.Contains(values, set):
		return set, nil
	default:
		return "", c.Bad(key, set, strings.Join(values, ", "))
	}
}

// Unreadable is the problem of a file or folder that the user set and the file system does not give.
func (c *Config) Unreadable(path string, err error) error {
	if p, ok := errors.AsType[*problem.Error](err); ok { // whoever read it has said what is wrong
		return p
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err // without the path, which is told already
	}
	return problem.New(problem.Input, "feed.unreadable", problem.Args{"Source": c.Name, "Path": path, "Error": err.Error()}).At(c.File, c.Line)
}

// Address is where to ask: what the user set under a name, else the vendor's own. The empty name is that of Endpoint.
func (c *Config) Address(name, vendors string) string {
	set := c.Endpoint
	if name != "" {
		set = c.Endpoints[name]
	}
	if set == "" {
		return vendors
	}
	return strings.TrimSuffix(set, "/")
}

// Client asks at the pace that a vendor allows. A server that the user named instead has limits of its own, which it says by 429.
func (c *Config) Client(h *fetch.Client, perSecond float64) *fetch.Client {
	if c.Endpoint != "" || len(c.Endpoints) > 0 {
		return h
	}
	return h.Paced(perSecond)
}

// Empty is the problem of a source that answers without any rows where it must have some.
func Empty(source string) error {
	return problem.New(problem.Internal, "feed.empty", problem.Args{"Source": source})
}
