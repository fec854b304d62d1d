package archtest

import (
	"slices"
	"strings"
	"testing"
)

// rule is one line of the house rules.
type rule struct {
	name string
	why  string
	find func(*tree) []finding
	// except lists what may break the rule, each with its reason.
	except map[string]string
	// caught and fine are planted files, as path and text: the rule must find fault with each of the first, alone,
	// and with none of the second.
	caught, fine []snippet
}

type snippet struct{ path, text string }

func rules() []rule {
	return slices.Concat(importRules, pureRules, shapeRules)
}

func TestHouse(t *testing.T) {
	house := checkout(t)
	if len(house.files) == 0 {
		t.Fatal("found no Go files: is the test run from its own folder?")
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			used := map[string]bool{}
			var breaches []string
			for _, f := range r.find(house) {
				if r.except[f.key] != "" {
					used[f.key] = true
					continue
				}
				breaches = append(breaches, f.String())
			}
			if len(breaches) > 0 {
				slices.Sort(breaches)
				t.Errorf("%s\n  because %s", strings.Join(breaches, "\n"), r.why)
			}
			for key := range r.except {
				if !used[key] {
					t.Errorf("%s: excepted from this rule, but no longer in need of it", key)
				}
			}
		})
	}
}

// A rule that never fires guards nothing.
func TestRulesFire(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			if r.why == "" || len(r.caught) == 0 || len(r.fine) == 0 {
				t.Error("a rule needs a reason, a snippet that is caught and one that is fine")
			}
			for key, why := range r.except {
				if len(strings.Fields(why)) < 4 {
					t.Errorf("%s: excepted without a proper reason: %q", key, why)
				}
			}
			for _, s := range r.caught {
				if len(r.find(plant(t, s.path, s.text))) == 0 {
					t.Errorf("not caught: %s\n%s", s.path, s.text)
				}
			}
			for _, s := range r.fine {
				for _, f := range r.find(plant(t, s.path, s.text)) {
					t.Errorf("caught, but fine: %s\n%s", f, s.text)
				}
			}
		})
	}
}

func TestRuleNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules() {
		if seen[r.name] {
			t.Errorf("%s is there twice", r.name)
		}
		seen[r.name] = true
	}
}
