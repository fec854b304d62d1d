package assumption

import (
	"bytes"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/yamltext"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Entry is one line of a flat file.
type Entry struct {
	Key, Text string
	Line      int
}

// maxFile and maxDepth bound what is read: a file of these is a kilobyte and flat.
const (
	maxFile  = 1 << 18
	maxDepth = 8
)

var fileCodes = map[yamltext.Kind]string{
	yamltext.TooLarge: "workload.too_large", yamltext.Encoding: "workload.encoding", yamltext.Control: "workload.control",
	yamltext.Empty: "assumption.empty", yamltext.Syntax: "workload.syntax", yamltext.TooDeep: "workload.too_deep",
	yamltext.Documents: "workload.documents",
}

// ReadLines reads a YAML file of lines "key: value", strictly: every fault comes with its line.
func ReadLines(name string, data []byte) ([]Entry, problem.List) {
	var faults problem.List
	fault := func(line int, code string, args problem.Args) {
		faults = append(faults, problem.New(problem.Input, code, args).At(name, line))
	}
	root, bad := yamltext.Load(data, maxFile, maxDepth)
	for _, f := range bad {
		fault(f.Line, fileCodes[f.Kind], f.Args)
	}
	switch {
	case root == nil:
		return nil, faults
	case root.ShortTag() == "!!null":
		fault(1, "assumption.empty", nil)
		return nil, faults
	}
	if root.Kind != yaml.MappingNode {
		fault(root.Line, "workload.not_mapping", problem.Args{"Key": ""})
		return nil, faults
	}
	var entries []Entry
	first := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode || k.Anchor != "":
			fault(k.Line, "workload.key_not_text", problem.Args{"Key": ""})
		case first[k.Value] > 0:
			fault(k.Line, "workload.duplicate_key", problem.Args{"Key": k.Value, "FirstLine": first[k.Value]})
		case v.Kind != yaml.ScalarNode || v.Anchor != "" || v.Style&yaml.TaggedStyle != 0:
			fault(v.Line, "workload.wrong_type", problem.Args{"Key": k.Value, "Type": "text", "Got": yamltext.Shape(v), "Example": ""})
		default:
			first[k.Value] = k.Line
			text := strings.TrimSpace(v.Value)
			if v.ShortTag() == "!!null" {
				text = ""
			}
			entries = append(entries, Entry{k.Value, text, k.Line})
		}
	}
	return entries, faults
}

// Names are the tables that say which providers, countries and accelerators there are, so that a misspelt one is a fault and not
// a value that is never used.
type Names struct {
	Providers *provider.Table
	Chips     *accelerator.Table
}

// EU qualifies a figure for the countries of the European Union that have none of their own.
const EU = "EU"

// canonical is a qualifier as its table spells it.
func (n Names) canonical(kind, text string) (string, error) {
	switch kind {
	case "provider":
		p, err := n.Providers.Find(text)
		if err != nil {
			return "", err
		}
		return p.ID, nil
	case "gpu":
		chip, err := n.Chips.One(text)
		if err != nil {
			return "", err
		}
		return chip.Name, nil
	}
	return Country(n.Providers, text)
}

// Country is the code of a country by its code or name, or EU.
func Country(t *provider.Table, text string) (string, error) {
	if strings.EqualFold(text, EU) {
		return EU, nil
	}
	place, err := t.Place(text)
	if err == nil && !place.ContainsCountry(place.Name) { // a group, or a region
		err = problem.New(problem.Input, "workload.unknown_name", problem.Args{"Key": "country", "Value": clip(text), "Type": "country"})
	}
	return place.Name, err
}

// FromFile reads a file of assumptions, as --assume takes them.
func FromFile(name string, data []byte, names Names) ([]*Assumption, error) {
	entries, faults := ReadLines(name, data)
	var out []*Assumption
	for _, e := range entries {
		a, fault := given(e.Key, e.Text, names)
		if fault != nil {
			faults = append(faults, fault.At(name, e.Line))
			continue
		}
		a.File, a.Line = name, e.Line
		out = append(out, a)
	}
	return out, faults.OrNil()
}

// FromText reads one assumption as --assume takes it: key=value.
func FromText(text string, names Names) (*Assumption, error) {
	key, value, _ := strings.Cut(text, "=")
	a, fault := given(strings.TrimSpace(key), value, names)
	if fault != nil {
		return nil, fault
	}
	return a, nil
}

// given reads what the user says, with the qualifier as its table spells it.
func given(key, text string, names Names) (*Assumption, *problem.Error) {
	a, fault := read(key, text)
	if fault != nil || a.Of == "" {
		return a, fault
	}
	of, err := names.canonical(a.Family.For, a.Of)
	if err != nil {
		return nil, problem.All(err)[0]
	}
	a.Of = of
	return a, nil
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

func decode(text []byte, into any) error {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	return dec.Decode(into)
}
