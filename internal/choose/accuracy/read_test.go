package accuracy

import (
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// heads are one header of each kind of table.
func heads() []string {
	var out []string
	for _, l := range layouts {
		out = append(out, strings.Join(l.columns, ",")+",model,accelerator,accelerator_count,precision,source,notes")
	}
	return out
}

func TestReadFaults(t *testing.T) {
	for _, c := range []struct{ text, code string }{
		{"", "accuracy.empty"},
		{"a,b\n1,2\n", "accuracy.unknown_table"},
		{heads()[0] + "\n\"x", "accuracy.not_csv"},
		{heads()[0] + "\n1,2\n", "accuracy.not_csv"},
	} {
		err := (&Set{}).Read("t.csv", []byte(c.text))
		all := problem.All(err)
		if len(all) != 1 || all[0].Code != c.code || all[0].File != "t.csv" || all[0].Line == 0 {
			t.Errorf("%q: %v, want %s with its place", c.text, err, c.code)
		}
	}
}

// Every layout is reached by its own columns: none is hidden by one before it.
func TestLayoutsAreTold(t *testing.T) {
	for i, head := range heads() {
		if got := recognise(strings.Split(head, ",")); got == nil || got.name != layouts[i].name {
			t.Errorf("the columns of %s are read as %v", layouts[i].name, got)
		}
	}
}

// Whatever stands in a table, it is read or its fault is said; each row that was read is a case or is left out with a reason.
func FuzzRead(f *testing.F) {
	for _, head := range heads() {
		f.Add(head + "\n" + strings.Repeat("1,", strings.Count(head, ",")) + "x\n")
		f.Add(head + "\n" + strings.Repeat(",", strings.Count(head, ",")) + "\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s Set
		err := s.Read("t.csv", []byte(text))
		rows := len(s.Cases) + len(s.Skipped)
		if err == nil && rows == 0 && strings.Count(strings.TrimSpace(text), "\n") > 0 && !strings.Contains(text, "\"") && !strings.Contains(text, "\r") {
			t.Errorf("%q: rows without a case or a reason", text)
		}
	})
}
