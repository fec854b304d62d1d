package tco

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/plan/plantest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/assumption"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

var names = assumption.Names{Providers: provider.Embedded(), Chips: accelerator.Embedded()}

// book is the embedded assumptions with others laid over them.
func book(t testing.TB, texts ...string) *assumption.Book {
	t.Helper()
	b := assumption.Embedded()
	for _, text := range texts {
		a, err := assumption.FromText(text, names)
		if err != nil {
			t.Fatal(err)
		}
		b = b.With(a)
	}
	return b
}

// input is a comparison of the plans that a workload has on some offers.
func input(t testing.TB, w *workload.Workload, offers ...*catalog.Offer) Input {
	t.Helper()
	in := plantest.Input(w, offers...)
	r, err := plan.Search(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Plans) == 0 {
		t.Fatalf("no plan: %+v", r.Rejected)
	}
	return Input{Workload: w, Plans: r.Plans, Book: assumption.Embedded(), Providers: in.Providers, Curves: in.Curves, Exchange: in.Exchange,
		Currency: in.Currency, Months: 36, Runs: 1, Used: 0}
}

func compare(t testing.TB, in Input) *Result {
	t.Helper()
	r, err := Compare(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func service(t testing.TB) *workload.Workload {
	w := plantest.Serve(t, "llama-3.1-8b", "bf16")
	w.Limits.MaxInstances = 4
	w.Billing = catalog.Modes()
	return w
}

func buyFile(t testing.TB, text string) *Buy {
	t.Helper()
	b, err := ParseBuy("buy.yaml", []byte(text), names)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func lineOf(t testing.TB, o *Option, item Item) Line {
	t.Helper()
	l, ok := o.Line(item)
	if !ok {
		t.Fatalf("option %s has no line %s: %+v", o.ID, item, o.Lines)
	}
	return l
}

// The months of a line sum to the line, the lines to the total, and both to the months of the whole, whatever is compared.
func TestPartsSumToTheWhole(t *testing.T) {
	job, serve := plantest.LoRA(t, "llama-3.1-8b"), service(t)
	job.Data = workload.Data{Size: 3 * unit.TB, Egress: 700 * unit.GB}
	job.People = workload.People{Hourly: unit.Some(money.Micros(61_333333, money.EUR)), HoursPerWeek: 3}
	job.DelayCost = unit.Some(money.Micros(100_000001, money.USD))
	job.Billing = catalog.Modes()
	offer := func(providerID, region string) *catalog.Offer {
		return plantest.Offer(t, plantest.At(providerID, region), plantest.Named(providerID), func(o *catalog.Offer) { o.NVMe = unit.None[unit.Bytes]() }, plantest.Priced(
			plantest.Price(catalog.OnDemand, 55.037), plantest.Price(catalog.Reserved1YPartial, 40.0111), plantest.Price(catalog.Reserved3YAll, 25.3),
			plantest.Price(catalog.CapacityBlock, 31.4), plantest.Price(catalog.Reserved1M, 50)))
	}
	inputs := []Input{input(t, job, offer("aws", "us-east-2"), offer("lambda", "")), input(t, serve, offer("azure", "westus3"), offer("gcp", "europe-west4"))}
	rapid.Check(t, func(r *rapid.T) {
		in := inputs[rapid.IntRange(0, 1).Draw(r, "kind")]
		in.Months = rapid.IntRange(1, 80).Draw(r, "months")
		in.Runs = rapid.Float64Range(0.01, 300).Draw(r, "runs")
		in.Used = rapid.Float64Range(0.01, 1).Draw(r, "used")
		if rapid.Bool().Draw(r, "buy") {
			in.Buy = &Buy{Chip: plantest.Chip(t, "H100-SXM-80GB"), PerNode: 8, Country: rapid.SampledFrom([]string{"", "US", "DE", "CN"}).Draw(r, "country")}
		}
		in.Book = book(t, "buy.life="+rapid.SampledFrom([]string{"1y", "30mo", "5y"}).Draw(r, "life"), "buy.capital=7%", "zones.gb=1234.5", "buy.staff=17")
		in.Currency = rapid.SampledFrom([]money.Currency{money.USD, money.CNY}).Draw(r, "currency")
		if in.Currency != money.USD {
			in.Plans = in.Plans[:0:0]
			found := inputs[0].Plans
			if in.Workload == serve {
				found = inputs[1].Plans
			}
			for _, p := range found {
				p.Hourly, _ = in.Exchange.Rate(p.Hourly, in.Currency)
				lines := p.Cost.Lines
				p.Cost.Lines = nil
				for _, l := range lines {
					l.Amount, _ = in.Exchange.Amount(l.Amount, in.Currency)
					p.Cost.Lines = append(p.Cost.Lines, l)
				}
				in.Plans = append(in.Plans, p)
			}
		}
		res, err := Compare(in)
		if err != nil {
			r.Fatal(err)
		}
		for i := range res.Options {
			o := &res.Options[i]
			sum := money.Zero(in.Currency)
			for _, l := range o.Lines {
				if l.Flow.Total() != l.Total || len(l.Flow) != in.Months {
					r.Fatalf("%s: %s has %d months of %v and a total of %v", o.ID, l.Item, len(l.Flow), l.Flow.Total(), l.Total)
				}
				sum = sum.Add(l.Total)
			}
			last := o.Cumulative()[in.Months-1]
			if sum != o.Total || o.Months.Total() != o.Total || last != o.Total {
				r.Fatalf("%s: lines sum to %v, months to %v, cumulative to %v, the total is %v", o.ID, sum, o.Months.Total(), last, o.Total)
			}
		}
	})
}

// One run a month, or a service all month, costs what the plan says it does, line by line, where nothing but the plan's own items
// is counted.
func TestRentedIsThePlanItself(t *testing.T) {
	job := plantest.LoRA(t, "llama-3.1-8b")
	job.Data = workload.Data{Size: 2 * unit.TB, Egress: 300 * unit.GB, Keep: 30 * 24, Disk: 300 * unit.GB}
	job.People = workload.People{Hourly: unit.Some(money.Micros(60e6, money.USD)), HoursPerWeek: 2}
	job.DelayCost = unit.Some(money.Micros(300e6, money.USD))
	for name, in := range map[string]Input{"job": input(t, job, plantest.Offer(t)), "service": input(t, service(t), plantest.Offer(t))} {
		in.Months, in.Used = 1, map[string]float64{"job": 0, "service": 1}[name]
		in.Book = book(t, "support=0%", "carbon.price=0 USD", "disks.stopped=no")
		o := compare(t, in).Options[0]
		if want := in.Plans[0].Cost.Total; o.Total != want {
			t.Errorf("%s: %v, the plan costs %v\n%+v\n%+v", name, o.Total, want, o.Lines, in.Plans[0].Cost.Lines)
		}
	}
}

// A commitment costs its whole price, used or not, and what outlasts the months is owed in the last.
func TestCommitmentsArePaidWhole(t *testing.T) {
	w := service(t)
	w.Billing = []catalog.BillingMode{catalog.Reserved1Y}
	in := input(t, w, plantest.Offer(t, plantest.Priced(plantest.Price(catalog.Reserved1Y, 10), plantest.Price(catalog.OnDemand, 20), plantest.Price(catalog.Reserved1YAll, 9))))
	for _, c := range []struct {
		months              int
		used                float64
		total, beyond, last string
	}{
		{36, 1, "262800.00", "0.00", "7300.00"},
		{36, 0.01, "262800.00", "0.00", "7300.00"},
		{18, 1, "175200.00", "43800.00", "51100.00"}, // two terms; six months of the second are owed
		{1, 0.5, "87600.00", "80300.00", "87600.00"},
	} {
		in.Months, in.Used = c.months, c.used
		o := compare(t, in).Options[0]
		l := lineOf(t, &o, Compute)
		if got := l.Total.Decimal(); got != c.total || o.Beyond.Decimal() != c.beyond || l.Flow[c.months-1].Total().Decimal() != c.last {
			t.Errorf("%d months used %g: %s, %v beyond, %v in the last; want %+v", c.months, c.used, got, o.Beyond, l.Flow[c.months-1].Total(), c)
		}
	}
	in.Months, in.Used, in.Book = 12, 1, book(t, "support=0%", "carbon.price=0 USD")
	modes := compare(t, in).Modes
	if len(modes) != 1 || len(modes[0].Modes) != 3 {
		t.Fatalf("%+v", modes)
	}
	for i, want := range []struct {
		total, upfront string
		from           float64
	}{{"175200.00", "0.00", 0}, {"87600.00", "0.00", 0.5}, {"78840.00", "78840.00", 0.45}} {
		m := modes[0].Modes[i]
		if m.Total.Decimal() != want.total || m.Upfront.Decimal() != want.upfront || m.PaysFrom.Or(0) != want.from {
			t.Errorf("%s: %v, %v upfront, pays from %v; want %+v", m.Mode, m.Total, m.Upfront, m.PaysFrom, want)
		}
	}
	if s := modes[0].Modes[1].Saving.Or(0); s != 0.5 {
		t.Errorf("half the price saves %v", s)
	}
}

// Eight H100 for a service, by hand: 317,000 bought with a fifth of it got back after five years.
func TestBoughtByHand(t *testing.T) {
	in := input(t, service(t), plantest.Offer(t))
	in.Used, in.Months = 1, 60
	in.Buy = buyFile(t, "accelerator: H100-SXM-80GB\nmachines: 1\ncountry: US\npower: 10 kW\n")
	in.Book = book(t, "buy.capex=300000 USD", "buy.residual=20%", "buy.life=5y", "buy.pue=1.5", "tariff=0.10 USD", "buy.rack=100 USD", "buy.spares=4%",
		"buy.staff=10", "staff.hourly=50 USD", "buy.capital=12%", "carbon.price=0 USD")
	in.Book = in.Book.With(in.Buy.Given...)
	r := compare(t, in)
	o := &r.Options[len(r.Options)-1]
	run, load := in.Curves.Run, o.Owned.Estimate.Load
	busy := (run.IdleShare + (1-run.IdleShare)*load + run.HostShare) / (1 + run.HostShare)
	for item, want := range map[Item]float64{
		Capex: 300_000, Residual: -60_000, Rack: 10 * 100 * 60, Spares: 60_000, Staff: 10 * 50 * 60, Power: 10 * busy * 730 * 1.5 * 0.10 * 60,
	} {
		if got := lineOf(t, o, item).Total.Float(); math.Abs(got-want) > 0.01 {
			t.Errorf("%s: %.2f, want %.2f", item, got, want)
		}
	}
	// Interest of 1 % a month on what falls from the whole to a fifth in a straight line.
	interest := lineOf(t, o, Capital).Flow
	if first, last := interest[0].Running.Float(), interest[59].Running.Float(); first != 3000 || math.Abs(last-3000*(1-0.8*59/60)) > 0.01 {
		t.Errorf("interest runs from %v to %v", first, last)
	}
	if _, ok := o.Line(Network); ok {
		t.Error("one machine has a network between machines")
	}
}

// Machines are bought again when their life ends, and what is left of each is got back.
func TestBoughtAgain(t *testing.T) {
	in := input(t, service(t), plantest.Offer(t))
	in.Used, in.Months = 1, 30
	in.Buy = buyFile(t, "accelerator: H100-SXM-80GB\n")
	in.Book = book(t, "buy.capex=100 USD", "buy.residual=25%", "buy.life=1y")
	r := compare(t, in)
	o := &r.Options[len(r.Options)-1]
	capex, back := lineOf(t, o, Capex), lineOf(t, o, Residual)
	for m := range 30 {
		if bought := !capex.Flow[m].Upfront.IsZero(); bought != (m%12 == 0) {
			t.Errorf("month %d: bought %v", m, bought)
		}
	}
	// 25 after twelve months, twice, and half after six: the root of a quarter.
	if capex.Total.Decimal() != "300.00" || back.Total.Decimal() != "-100.00" {
		t.Errorf("paid %v, got back %v", capex.Total, back.Total)
	}
}

// What nobody knows is listed with what would make it known, is not in the total, and keeps the option from being the cheapest.
func TestUnknownNeverWins(t *testing.T) {
	in := input(t, service(t), plantest.Offer(t))
	in.Used = 1
	in.Buy = buyFile(t, "accelerator: MI300X\ncapex: 1 USD\nmachines: 4\n")
	in.Book = assumption.Embedded().With(in.Buy.Given...)
	r := compare(t, in)
	bought := &r.Options[len(r.Options)-1]
	missing := map[Item]string{}
	for _, l := range bought.Missing() {
		missing[l.Item] = l.Wants
		if !l.Total.IsZero() {
			t.Errorf("%s is unknown and %v", l.Item, l.Total)
		}
	}
	if missing[Staff] != assumption.BuyStaff || missing[Power] != assumption.Tariff || missing[Carbon] != "country" {
		t.Errorf("missing %v", missing)
	}
	if r.Cheapest != "1" || bought.Total.Cmp(r.Options[0].Total) >= 0 {
		t.Errorf("cheapest is %q of %v and %v", r.Cheapest, r.Options[0].Total, bought.Total)
	}
	if b := r.BreakEvens[0]; !b.Unknown || b.Month.Known() || b.Used.Known() {
		t.Errorf("%+v: what lacks lines breaks even", b)
	}
	for _, row := range r.Sensitivity.Rows {
		if row.Cheapest == "B" {
			t.Errorf("unknown wins at %v", row.Used)
		}
	}
}

// The support plan of a provider whose own is not known is that of the one which would ask the most.
func TestSupportStandsIn(t *testing.T) {
	in := input(t, service(t), plantest.Offer(t), plantest.Offer(t, plantest.At("lambda", ""), plantest.Named("other")))
	in.Used, in.Months = 1, 1
	r := compare(t, in)
	fees := map[string]Line{}
	for i := range r.Options {
		fees[r.Options[i].Plan.Offer.Provider] = lineOf(t, &r.Options[i], Support)
	}
	aws, other := fees["aws"], fees["lambda"]
	if aws.State != Known || other.State != Assumed || aws.Total.IsZero() {
		t.Errorf("aws %+v, lambda %+v", aws, other)
	}
	// The same machines at the same price, of which the dearest known share is that of AWS; a bill of next to nothing has next to
	// none of it, whatever the least that AWS takes.
	if got, want := other.Total.Float()/r.Options[1].monthlyBill(), aws.Total.Float()/r.Options[0].monthlyBill(); math.Abs(got-want) > 0.02 {
		t.Errorf("shares of %v and %v", got, want)
	}
	in.Used = 0.01
	r = compare(t, in)
	for i := range r.Options {
		o := &r.Options[i]
		least := o.Plan.Offer.Provider == "aws"
		if fee := lineOf(t, o, Support).Total.Float(); least != (fee >= 100) {
			t.Errorf("%s: %v", o.Plan.Offer.Provider, fee)
		}
	}
}

// monthlyBill is what the provider's own bill of the first month comes to.
func (o *Option) monthlyBill() float64 {
	sum := 0.0
	for _, l := range o.Lines {
		switch l.Item {
		case Compute, Block, Stopped, Object, Egress, Interzone:
			sum += l.Flow[0].Total().Float()
		}
	}
	return sum
}

// A number of machines that is left open is the fewest that do the work in time and as often as it is wanted.
func TestAsManyAsTheWorkNeeds(t *testing.T) {
	in := input(t, plantest.LoRA(t, "llama-3.1-8b"), plantest.Offer(t))
	in.Buy = buyFile(t, "accelerator: H100-SXM-80GB\naccelerators: 1\n")
	bought := func() *Option { r := compare(t, in); return &r.Options[len(r.Options)-1] }
	one := bought()
	if one.Owned.Machines != 1 {
		t.Fatalf("%d machines for a run of %v", one.Owned.Machines, one.Hours)
	}
	in.Workload.Limits.Deadline = one.Hours / 3
	if o := bought(); o.Hours > one.Hours/3 || o.Owned.Machines != 4 {
		t.Errorf("%d machines take %v, within %v", o.Owned.Machines, o.Hours, one.Hours/3)
	}
	in.Buy = buyFile(t, "accelerator: H100-SXM-80GB\naccelerators: 1\nmachines: 1\n")
	if _, err := Compare(in); codeOf(err) != "tco.cannot_run" {
		t.Errorf("past the deadline: %v", err)
	}
}

// The months and uses of break-even are those that looking at each finds.
func TestBreakEvenAgainstSearch(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		price := rapid.Float64Range(5, 120).Draw(r, "hourly")
		in := input(t, service(t), plantest.Offer(t, plantest.Priced(plantest.Price(catalog.OnDemand, price))))
		in.Used = rapid.Float64Range(0.05, 1).Draw(r, "used")
		in.Months = rapid.IntRange(1, 72).Draw(r, "months")
		in.Buy = &Buy{Chip: plantest.Chip(t, "H100-SXM-80GB"), PerNode: 8, Country: "US"}
		in.Book = book(t, "buy.staff=40")
		res := compare(t, in)
		b := res.BreakEvens[0]
		rented, bought := res.Options[0].Cumulative(), res.Options[1].Cumulative()
		want := 0
		for m := in.Months; m >= 1 && bought[m-1].Cmp(rented[m-1]) <= 0; m-- {
			want = m
		}
		if got := b.Month.Or(0); got != want {
			r.Fatalf("month %d, want %d", got, want)
		}
		owning := func(used float64) bool {
			again := in
			again.Used = used
			o := compare(t, again).Options
			return o[1].Total.Cmp(o[0].Total) <= 0
		}
		switch used, ok := b.Used.Get(); {
		case !ok && owning(1), b.Always && !owning(leastShare):
			r.Fatalf("%+v", b)
		case ok && !b.Always && (owning(used-0.003) || used < 0.997 && !owning(used+0.003)):
			r.Fatalf("%+v is not the edge", b)
		}
	})
}

// Using machines more never costs less, and halving the runs of a job halves what is paid as it goes.
func TestUse(t *testing.T) {
	in := input(t, plantest.LoRA(t, "llama-3.1-8b"), plantest.Offer(t))
	in.Buy = &Buy{Chip: plantest.Chip(t, "H100-SXM-80GB"), PerNode: 8, Country: "US"}
	r := compare(t, in)
	for i := range r.Options {
		for n := 1; n < len(r.Sensitivity.Rows); n++ {
			if a, b := r.Sensitivity.Rows[n-1].Totals[i], r.Sensitivity.Rows[n].Totals[i]; b.Cmp(a) < 0 {
				t.Errorf("%s: %v at %v, %v at %v", r.Options[i].ID, a, r.Sensitivity.Rows[n-1].Used, b, r.Sensitivity.Rows[n].Used)
			}
		}
	}
	in.Runs = 0.5
	half := compare(t, in)
	if a, b := lineOf(t, &r.Options[0], Compute).Total.Micros(), lineOf(t, &half.Options[0], Compute).Total.Micros(); a-2*b > 36 || 2*b-a > 36 { // each month is rounded by itself
		t.Errorf("a run a month is %d, half of one %d", a, b)
	}
	// More runs than hours: they stand side by side, and the machines bought are as many more.
	in.Runs = 2.5 * unit.HoursPerMonth / float64(in.Plans[0].Time.Hours)
	busy := compare(t, in)
	if o := busy.Options[0]; o.Sets != 3 || o.Used > 1 {
		t.Errorf("%d sets, used %v", o.Sets, o.Used)
	}
	if o := busy.Options[1]; o.Used > 1 || o.Owned.Machines < 3 {
		t.Errorf("%d machines, used %v", o.Owned.Machines, o.Used)
	}
	in.Used = 0.4 // of the hours of the first plan's machines
	if o := compare(t, in).Options[0]; math.Abs(o.Used-0.4) > 1e-9 {
		t.Errorf("used %v, asked for 0.4", o.Used)
	}
}

func TestCannotBuy(t *testing.T) {
	in := input(t, service(t), plantest.Offer(t))
	in.Used = 1
	for text, code := range map[string]string{
		"accelerator: H100-SXM-80GB\nmachines: 1\naccelerators: 1\n": "", // an 8B model in 16 bit
		"accelerator: T4\nmachines: 1\naccelerators: 1\n":            "tco.cannot_run",
	} {
		in.Buy = buyFile(t, text)
		_, err := Compare(in)
		if got := codeOf(err); got != code {
			t.Errorf("%q: %v, want %q", text, err, code)
		}
	}
	in.Workload.Traffic.RequestsPerSecond = 300
	in.Buy = buyFile(t, "accelerator: H100-SXM-80GB\n\nmachines: 1\naccelerators: 1\n")
	_, err := Compare(in)
	if p := problem.All(err); len(p) != 1 || p[0].Code != "tco.too_few_machines" || p[0].Line != 3 {
		t.Errorf("%v", err)
	}
	in.Buy, in.Book = nil, book(t, "licence=1 XYZ", "tariff=1 ABC")
	if _, err := Compare(in); len(problem.All(err)) != 2 {
		t.Errorf("%v", err)
	}
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return problem.All(err)[0].Code
}

func TestParseBuyFindsEveryFault(t *testing.T) {
	text := "name: x\naccelerator: H1000\naccelerators: 0\nmachines: many\ncountry: Atlantis\ncapx: 3 USD\nlife: 5\nresidual: 20\n"
	_, err := ParseBuy("buy.yaml", []byte(text), names)
	lines := map[int]bool{}
	for _, p := range problem.All(err) {
		lines[p.Line] = true
	}
	for line := 2; line <= 8; line++ {
		if !lines[line] {
			t.Errorf("no fault on line %d: %v", line, err)
		}
	}
	if _, err := ParseBuy("buy.yaml", []byte("machines: 2\n"), names); codeOf(err) != "workload.missing" {
		t.Errorf("no accelerator: %v", err)
	}
	var example strings.Builder
	for _, k := range BuyKeys() {
		example.WriteString(k.Name + ": " + k.Example + "\n")
	}
	if _, err := ParseBuy("buy.yaml", []byte(example.String()), names); err != nil {
		t.Errorf("the examples: %v", err)
	}
}

func FuzzParseBuy(f *testing.F) {
	f.Add([]byte("accelerator: H100-SXM-80GB\nmachines: 2\ncapex: 3 USD\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := ParseBuy("f", data, names)
		if err == nil && (b.Chip == nil || b.PerNode < 1) {
			t.Errorf("%+v", b)
		}
	})
}

// BenchmarkCompare prices three plans and a purchase over five years, with every table.
func BenchmarkCompare(b *testing.B) {
	in := input(b, service(b), plantest.Offer(b), plantest.Offer(b, plantest.At("azure", "westus3")), plantest.Offer(b, plantest.At("gcp", "us-central1")))
	in.Used, in.Months = 1, 60
	in.Buy = &Buy{Chip: plantest.Chip(b, "H100-SXM-80GB"), PerNode: 8, Country: "US"}
	in.Curves = estimate.EmbeddedCurves()
	options := 0
	for b.Loop() {
		options += len(compare(b, in).Options)
	}
	b.ReportMetric(float64(options)/b.Elapsed().Seconds(), "options/s")
}
