package software_test

import (
	"errors"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/software"
	"pgregory.net/rapid"
)

func TestConstraint(t *testing.T) {
	for _, c := range []struct {
		constraint string
		yes, no    []string
	}{
		{"", []string{"0.1", "99"}, nil},
		{">=2.6", []string{"2.6", "2.6.0", "2.10", "3"}, []string{"2.5.9", "2"}},
		{"==2.5.1", []string{"2.5.1", "2.5.1+cu124"}, []string{"2.5", "2.5.2"}},
		{">=2.4,<2.8", []string{"2.4.0", "2.7.9"}, []string{"2.8", "2.3"}},
		{" >= 2.4 , < 2.8 ", []string{"2.5"}, []string{"2.9"}},
		{"~=2.5.1", []string{"2.5.1", "2.5.9"}, []string{"2.5.0", "2.6"}},
		{"~=2.5", []string{"2.5", "2.9"}, []string{"3.0", "2.4"}},
		{"2.6", []string{"2.6", "2.6.3"}, []string{"2.7", "2.60"}},
		{"2.6.x", []string{"2.6.3"}, []string{"2.7"}},
		{"==2.6.*", []string{"2.6.3"}, []string{"2.7"}},
		{"!=2.7.*", []string{"2.6"}, []string{"2.7.1"}},
		{">2,<=3", []string{"2.0.1", "3.0"}, []string{"2", "3.0.1"}},
		{">=2.7.0rc1", []string{"2.7.0"}, []string{"2.6"}},
	} {
		set, err := software.ParseConstraint(c.constraint)
		if err != nil {
			t.Errorf("%q: %v", c.constraint, err)
			continue
		}
		for want, versions := range map[bool][]string{true: c.yes, false: c.no} {
			for _, text := range versions {
				v, err := software.ParseVersion(text)
				if err != nil || set.Allows(v) != want {
					t.Errorf("%q allows %s: %v, %v", c.constraint, text, !want, err)
				}
			}
		}
	}
}

func TestBadConstraint(t *testing.T) {
	for _, text := range []string{">=", "latest", ">=2.6,", ",", ">>2", ">=2.*", "~=2", "2..6", "=2.6", "2.6 2.7", ">=9999999", "1.2.3.4.5.6"} {
		_, err := software.ParseConstraint(text)
		var e *problem.Error
		if !errors.As(err, &e) || e.Code != "software.bad_constraint" || e.Kind != problem.Input {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func version(t *rapid.T, label string) software.Version {
	text := rapid.StringMatching(`[0-9]{1,2}(\.[0-9]{1,2}){0,3}`).Draw(t, label)
	v, err := software.ParseVersion(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// Versions are in one order; adding a clause never allows more; a constraint prints to the same set.
func TestConstraintProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := version(t, "a"), version(t, "b"), version(t, "c")
		if a.Compare(b) != -b.Compare(a) || a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
			t.Fatalf("no order of %s, %s, %s", a, b, c)
		}
		ops := rapid.SampledFrom([]string{">=", "<=", ">", "<", "==", "!="})
		wide := ops.Draw(t, "op1") + a.String()
		narrow := wide + "," + ops.Draw(t, "op2") + b.String()
		w, err1 := software.ParseConstraint(wide)
		n, err2 := software.ParseConstraint(narrow)
		again, err3 := software.ParseConstraint(n.String())
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		if n.Allows(c) && !w.Allows(c) || n.Allows(c) != again.Allows(c) {
			t.Fatalf("%q, %q, %s", wide, narrow, c)
		}
	})
}

func FuzzParseConstraint(f *testing.F) {
	for _, s := range []string{">=2.6", "==2.5.1", ">=2.4,<2.8", "~=2.5", "2.6.x", "", ",", "!=1.*", "2.6.0+cu124", "v2"} {
		f.Add(s)
	}
	probe, _ := software.ParseVersion("2.6.1")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := software.ParseConstraint(text)
		if err != nil {
			return
		}
		again, err := software.ParseConstraint(c.String())
		if err != nil || again.String() != c.String() || again.Allows(probe) != c.Allows(probe) {
			t.Fatalf("%q prints as %q: %v", text, c, err)
		}
	})
}
