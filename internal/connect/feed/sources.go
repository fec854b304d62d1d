package feed

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/strict"
)

// name is what a source may be called: it stands in tables, files and addresses.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

var settingKeys = []string{"kind", "endpoint", "endpoints", "regions", "providers", "currency", "path", "options", "off"}

// ParseConfigs reads which sources a team wants read, and how, in the order of the file. What a kind itself does not take is
// for its Maker to say; everything else that is wrong comes at once, each with its line.
func ParseConfigs(file string, data []byte, kinds []Maker) ([]Config, error) {
	f, root := strict.Load(file, data)
	if root == nil {
		return nil, f.Err()
	}
	top := f.Map(root, "", "sources")
	sources := top.Sub("sources")
	if sources == nil {
		if f.Count() == 0 {
			top.Missing("sources", "{azure: {currency: EUR}}")
		}
		return nil, f.Err()
	}
	known := make([]string, len(kinds))
	for i, m := range kinds {
		known[i] = m.Kind
	}
	var all []Config
	for _, source := range sources.Keys {
		c := Config{Name: source, File: file, Line: sources.LineOf(source)}
		if bad := CheckName(source, nil); bad != nil {
			f.Add(bad, c.Line)
		}
		c.read(sources.Sub(source, settingKeys...))
		switch {
		case c.Kind == "" && slices.Contains(known, source):
			c.Kind = source
		case !slices.Contains(known, c.Kind):
			wrong := c.Kind
			if wrong == "" {
				wrong = source
			}
			f.Add(problem.New(problem.Input, "feed.unknown_kind", problem.Args{"Source": source, "Kind": c.Kind, "Kinds": known}).
				With(problem.Nearest(wrong, known, 3)...), c.Line)
		case c.Kind != source && slices.Contains(known, source):
			f.Add(problem.New(problem.Input, "feed.name_is_kind", problem.Args{"Source": source, "Kind": c.Kind}), c.Line)
		}
		all = append(all, c)
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return all, nil
}

// CheckName is the problem of a name that a source of the user's own cannot have, taken being those of others; nil where it can.
func CheckName(source string, taken []string) *problem.Error {
	switch {
	case !name.MatchString(source):
		return problem.New(problem.Input, "feed.bad_name", problem.Args{"Name": source})
	case source == string(catalog.BuiltIn) || slices.Contains(taken, source):
		return problem.New(problem.Input, "feed.name_taken", problem.Args{"Name": source})
	}
	return nil
}

func (c *Config) read(m *strict.Map) {
	c.Kind, c.Endpoint, c.Path, c.Off = m.Text("kind"), m.Text("endpoint"), m.Text("path"), m.Yes("off")
	c.Regions, c.Providers = m.Texts("regions"), m.Texts("providers")
	c.Currency = money.Currency(strings.ToUpper(m.Text("currency")))
	c.Endpoints, c.Options = texts(m.Sub("endpoints")), texts(m.Sub("options"))
}

func texts(m *strict.Map) map[string]string {
	if m == nil {
		return nil
	}
	all := map[string]string{}
	for _, k := range m.Keys {
		all[k] = m.Text(k)
	}
	return all
}
