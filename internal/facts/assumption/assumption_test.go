package assumption

import (
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

var names = Names{Providers: provider.Embedded(), Chips: accelerator.Embedded()}

// Every row of the file is well formed and qualified by something that there is.
func TestEmbedded(t *testing.T) {
	b := Embedded()
	if len(b.rows) < 20 {
		t.Fatalf("%d rows", len(b.rows))
	}
	for key, a := range b.rows {
		again, err := FromText(key+"="+a.Text, names)
		if err != nil || again.Key() != key || a.Given() {
			t.Errorf("%s: %v %v", key, again, err)
		}
	}
}

func same(a money.Amount) (money.Amount, bool) { return a, true }

// The bills are worked examples of the sellers' own pages, and the edges of the steps.
func TestFee(t *testing.T) {
	aws, _ := Embedded().Get(SupportPlan, "aws")
	azure, _ := Embedded().Get(SupportPlan, "azure")
	for _, c := range []struct {
		fee  Fee
		bill int64
		want string
	}{
		{aws.Value.Support, 85_000, "6150.00"},
		{aws.Value.Support, 500, "100.00"},
		{aws.Value.Support, 10_000, "1000.00"},
		{aws.Value.Support, 1_000_000, "36900.00"}, // 1,000 + 4,900 + 8,500 + 22,500
		{azure.Value.Support, 1_000_000, "100.00"},
		{Fee{}, 1000, "0.00"},
	} {
		if got, ok := c.fee.Of(money.Micros(c.bill*1e6, money.USD), same); !ok || got.Decimal() != c.want {
			t.Errorf("a bill of %d: %v, want %s", c.bill, got, c.want)
		}
	}
	none := func(money.Amount) (money.Amount, bool) { return money.Amount{}, false }
	if _, ok := aws.Value.Support.Of(money.Micros(1e9, money.CNY), none); ok {
		t.Error("a fee in a currency without a rate is known")
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text  string
		value float64
	}{
		{"buy.residual=20%", 0.2}, {"buy.pue = 1.2", 1.2}, {"buy.power=10.2 kW", 10200}, {"buy.power=700W", 700}, {"disks.stopped=NO", 0},
		{"disks.stopped=yes", 1}, {"zones.gb=0", 0}, {"buy.spares=0%", 0},
	} {
		if a, err := FromText(c.text, names); err != nil || a.Value.Number != c.value {
			t.Errorf("%s: %+v, %v", c.text, a, err)
		}
	}
	life, err := FromText("buy.life=4y", names)
	if err != nil || life.Value.Time != 4*8760 {
		t.Errorf("a life of 4 y is %v, %v", life, err)
	}
	for key, want := range map[string]string{"tariff.germany": "tariff.DE", "tariff.eu": "tariff.EU", "support.AWS": "support.aws", "capex.h100-sxm": "capex.H100-SXM-80GB"} {
		value := "1 USD"
		if a, err := FromText(key+"="+value, names); err != nil || a.Key() != want {
			t.Errorf("%s is %v, %v", key, a, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, code := range map[string]string{
		"nothing=1":                            "workload.unknown_key",
		"buy.life.x=1y":                        "workload.unknown_key",
		"buy.residual=0.2":                     "workload.bad_value", // 0.2 or 20 %?
		"buy.residual=120%":                    "workload.out_of_bounds",
		"buy.residual=NaN%":                    "workload.bad_value",
		"buy.life=1d":                          "workload.out_of_bounds",
		"buy.power=10":                         "workload.bad_value",
		"buy.pue=0.9":                          "workload.out_of_bounds",
		"buy.pue=":                             "workload.empty_value",
		"disks.stopped=perhaps":                "workload.bad_value",
		"tariff=0.1":                           "workload.bad_value",
		"tariff.atlantis=1 USD":                "provider.unknown_place",
		"tariff.apac=1 USD":                    "workload.unknown_name",
		"support.nobody=3%":                    "provider.unknown",
		"support=3%; 4%":                       "workload.bad_value",
		"support=3% to 100 USD":                "workload.bad_value", // and above it?
		"support=3%; 10 USD":                   "workload.bad_value",
		"support=9% to 2 USD;8%":               "",
		"support=9% to 2 USD; 8% to 1 USD; 7%": "workload.bad_value",
		"support=9% to 2 USD; 8% to 3 EUR; 7%": "workload.bad_value",
	} {
		_, err := FromText(text, names)
		if got := codeOf(err); got != code {
			t.Errorf("%s: %q (%v), want %q", text, got, err, code)
		}
	}
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return problem.All(err)[0].Code
}

// All faults of a file come at once, each with its line.
func TestFromFile(t *testing.T) {
	text := "# mine\nbuy.pue: 1.2\nnope: 3\nbuy.life: [5y]\nbuy.pue: 1.3\nsupport.aws: 3%\ntariff: x\n"
	_, err := FromFile("a.yaml", []byte(text), names)
	var got []string
	for _, p := range problem.All(err) {
		got = append(got, p.File+":"+string(rune('0'+p.Line))+" "+p.Code)
	}
	want := "a.yaml:4 workload.wrong_type, a.yaml:5 workload.duplicate_key, a.yaml:3 workload.unknown_key, a.yaml:7 workload.bad_value"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	for text, code := range map[string]string{"": "assumption.empty", "- a\n": "workload.not_mapping", "a: [": "workload.syntax", "\xff": "workload.encoding",
		"a: 1\n---\nb: 2\n": "workload.documents", "? [a]\n: 1\n": "workload.key_not_text", "tariff: &x 1 USD\n": "workload.wrong_type"} {
		if _, err := FromFile("a.yaml", []byte(text), names); codeOf(err) != code {
			t.Errorf("%q: %v, want %s", text, err, code)
		}
	}
}

func TestBook(t *testing.T) {
	give := func(text string) *Assumption {
		a, err := FromText(text, names)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	b := Embedded().With(give("support=0%"), give("tariff.US=1 USD")).With(give("tariff.US=2 USD"), give("tariff=3 USD"))
	for _, c := range []struct{ family, of, want string }{
		{SupportPlan, "aws", "0%"}, {Tariff, "US", "1 USD"}, {Tariff, "IE", "3 USD"}, {BuyLife, "", "5y"},
	} {
		if a, ok := b.Get(c.family, c.of); !ok || a.Text != c.want {
			t.Errorf("%s of %s is %v, want %s", c.family, c.of, a, c.want)
		}
	}
	if _, ok := b.Get(BuyStaff, ""); ok {
		t.Error("hours of staff are known without being given")
	}
	if _, ok := Embedded().Get(Tariff, "CN"); ok {
		t.Error("a tariff without a source is known")
	}
}

func FuzzFromFile(f *testing.F) {
	f.Add([]byte("buy.pue: 1.2\nsupport.aws: 10% to 5 USD; 3%\n"))
	f.Add([]byte("a: &b [*b]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		given, err := FromFile("f", data, names)
		for _, a := range given {
			if a.Line < 1 || a.Family == nil {
				t.Errorf("%+v", a)
			}
		}
		for _, p := range problem.All(err) {
			if p.Line < 1 || p.Kind != problem.Input {
				t.Errorf("%v", p)
			}
		}
	})
}

func FuzzFee(f *testing.F) {
	f.Add("100 USD; 10% to 10000 USD; 3%", int64(5e9))
	f.Fuzz(func(t *testing.T, text string, micros int64) {
		v, fault := FamilyOf(SupportPlan).Parse("support", text)
		bill := money.Micros(micros, money.USD)
		if fault != nil || micros < 0 {
			return
		}
		if got, ok := v.Support.Of(bill, func(a money.Amount) (money.Amount, bool) { return money.Micros(a.Micros(), money.USD), true }); ok && got.Micros() < 0 {
			t.Errorf("%q of %v is %v", text, bill, got)
		}
	})
}
