package book

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
)

func TestReads(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a table", "mode,hourly,currency\non-demand,10,USD\n# a remark\nSpot, 3.5,cny\n", "2 on-demand 10.00 USD/h; 4 spot 3.50 CNY/h"},
		{"columns in any order", "group,currency,mode,hourly\nweb,USD,reserved-1y,6\n", "2 web reserved-1y 6.00 USD/h"},
		{"a list", "# prices\n- {mode: on-demand, hourly: 10, currency: USD}\n- mode: spot\n  hourly: 3.5\n  currency: USD\n  group: web\n", "2 on-demand 10.00 USD/h; 3 web spot 3.50 USD/h"},
		{"one mode for two groups", "mode,hourly,currency,group\nspot,1,USD,a\nspot,2,USD,b\nspot,3,USD,\n", "2 a spot 1.00 USD/h; 3 b spot 2.00 USD/h; 4 spot 3.00 USD/h"},
	} {
		entries, err := Parse("f", []byte(c.text))
		var got []string
		for _, e := range entries {
			got = append(got, strings.Join(strings.Fields(fmt.Sprint(e.Line, " ", e.Group, " ", e.Mode, " ", e.Hourly)), " "))
		}
		if text := strings.Join(got, "; "); text != c.want || err != nil {
			t.Errorf("%s: %s, want %s (%v)", c.name, text, c.want, err)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "1 book.empty"},
		{"heads only", "mode,hourly,currency\n", "1 book.empty"},
		{"columns", "\nmode,price\n", "2 book.columns"},
		{"all at once", "mode,hourly,currency\nondemand,10,USD\nspot,x,USD\nspot,0,USD\nspot,-1,USD\nspot,1,dollars\nspot,1\nspot,2e9,USD\nspot,2000000000,USD\n",
			"7 book.cells; 2 book.mode; 3 book.hourly; 4 book.hourly; 5 book.hourly; 6 book.currency; 8 book.hourly; 9 book.hourly"},
		{"twice", "mode,hourly,currency\nspot,1,USD\nspot,2,USD\n", "3 book.twice"},
		{"a broken quote", "mode,hourly,currency\n\"spot,1,USD\n", "2 book.csv"},
		{"no list", "{a: 1}", "1 book.no_list"},
		{"a list of words", "- spot\n- {mode: spot, hourly: 1, currency: USD}\n", "1 book.no_list"},
		{"an unknown key and a nested value", "- {mode: spot, hourly: 1, curency: USD}\n- {mode: [spot], hourly: 1, currency: USD}\n",
			"1 file.unknown_key; 2 file.shape; 1 book.currency; 2 book.mode"},
		{"a key twice", "- {mode: spot, hourly: 1, hourly: 9, currency: USD}\n", "1 file.twice"},
		{"a second document", "- {mode: spot, hourly: 1, currency: USD}\n---\n- {mode: on-demand, hourly: 9, currency: USD}\n", "2 file.documents"},
		{"an anchor", "- &a {mode: spot, hourly: 1, currency: USD}\n", "1 file.trick"},
		{"no YAML", "- {mode: [\n", "2 file.syntax"},
	} {
		_, err := Parse("f", []byte(c.text))
		var got []string
		for _, p := range problem.All(err) {
			got = append(got, fmt.Sprint(p.Line, " ", p.Code))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// Whatever is read is a list of positive prices, or a fault with a code.
func FuzzParse(f *testing.F) {
	f.Add([]byte("mode,hourly,currency,group\nspot,1,USD,a\n"))
	f.Add([]byte("- {mode: on-demand, hourly: 10, currency: USD}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := Parse("f", data)
		if (err == nil) != (len(entries) > 0) {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		for _, p := range problem.All(err) {
			if p.Code == "internal" {
				t.Fatal(err)
			}
		}
		for _, e := range entries {
			if e.Hourly.Nanos() <= 0 || len(e.Hourly.Currency()) != 3 {
				t.Fatalf("%+v", e)
			}
		}
	})
}
