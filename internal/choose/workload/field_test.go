package workload

import (
	"slices"
	"strings"
	"testing"
)

// TestFields holds the table to its promises: documented in both languages, with an example for every kind, one
// meaning and one flag a kind.
func TestFields(t *testing.T) {
	for _, k := range Kinds() {
		paths, flags := map[string]bool{}, map[string]string{}
		for _, f := range FieldsOf(k) {
			if paths[f.Path] {
				t.Errorf("%s: %s has two meanings", k, f.Path)
			}
			if other := flags[f.Flag]; other != "" {
				t.Errorf("%s: --%s sets %s and %s", k, f.Flag, other, f.Path)
			}
			paths[f.Path], flags[f.Flag] = true, f.Path
			if f.example(k) == "" || f.Doc.EN == "" || f.Doc.ZH == "" || f.Type == "" {
				t.Errorf("%s: %s lacks an example, a type or its documentation", k, f.Path)
			}
			if strings.ContainsAny(f.example(k), "#\n") {
				t.Errorf("%s: the example of %s breaks its line", k, f.Path)
			}
			if g := parent(f.Path); g != "" && !isGroup(g) {
				t.Errorf("%s is in no known group", f.Path)
			}
		}
	}
}

// TestGroupsAreTogether: a group whose keys were apart would be written twice.
func TestGroupsAreTogether(t *testing.T) {
	var order []string
	for _, f := range Fields() {
		if g := parent(f.Path); g != "" && (len(order) == 0 || order[len(order)-1] != g) {
			order = append(order, g)
		}
	}
	sorted := slices.Clone(order)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(order) {
		t.Errorf("groups in pieces: %v", order)
	}
}

func TestFlagNames(t *testing.T) {
	for path, want := range map[string]string{
		"limits.deadline": "deadline", "limits.gpu": "gpu", "traffic.requests_per_second": "requests-per-second",
		"model": "model", "data.size": "data-size", "size": "size", "data.checkpoint_every": "checkpoint-every",
		"traffic.input_tokens": "input-tokens", "input_tokens": "input-tokens", "people.hours_per_week": "hours-per-week",
	} {
		if got := byPath(path)[0].Flag; got != want {
			t.Errorf("%s: --%s, want --%s", path, got, want)
		}
	}
}

// TestExamplesOfEveryField: each key's example can be used in the example of each kind, in place of its rivals.
func TestExamplesOfEveryField(t *testing.T) {
	for _, k := range Kinds() {
		for _, f := range FieldsOf(k) {
			if f.Path == "kind" {
				continue
			}
			flags := map[string]string{f.Flag: f.example(k)}
			for _, c := range choices {
				for _, way := range c.ways {
					if c.of(k) && slices.Contains(way, f.Path) {
						for _, also := range way {
							flags[field(also, k).Flag] = field(also, k).example(k)
						}
					}
				}
			}
			for _, c := range companions {
				if c.of(k) && c.key == f.Path {
					flags[field(c.needs, k).Flag] = field(c.needs, k).example(k)
				}
			}
			if _, err := ParseWith("x.yaml", Example(k, "en"), flags, oneFile, fakeFacts()); err != nil {
				t.Errorf("%s with %v: %v", k, flags, err)
			}
		}
	}
}
