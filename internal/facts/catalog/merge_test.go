package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

func chip(t require, name string) *accelerator.Accelerator {
	t.Helper()
	c, ok := accelerator.Embedded().Get(name)
	if !ok {
		t.Fatalf("no chip %s", name)
	}
	return c
}

type require interface {
	Helper()
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// drawSource is a small source over the same machines and places as all others.
func drawSource(t *rapid.T, i int) *Snapshot {
	days := []string{"2026-01-01", "2026-02-01", "2026-03-01"}
	s := &Snapshot{
		Source: fmt.Sprintf("source-%d", i), Layer: rapid.SampledFrom(Layers()[1:]).Draw(t, "layer"),
		AsOf: rapid.SampledFrom(days).Draw(t, "day"), Sources: []Source{{fmt.Sprintf("source-%d", i), "A source", "nowhere", "2026", "not stated"}},
	}
	regions, modes := []string{"east", "west"}, []BillingMode{OnDemand, Spot}
	for _, name := range []string{"a8", "b8"} {
		mach := &Machine{Provider: "aws", InstanceType: name, Accelerator: chip(t, "H100-SXM-80GB"), Count: 8, Source: s.Source, AsOf: s.AsOf, Topology: NVSwitch}
		switch rapid.IntRange(0, 5).Draw(t, "chips") {
		case 0:
			mach.Accelerator, mach.Flags = chip(t, "H100-PCIe-80GB"), []Flag{FormFactorAssumed}
		case 1:
			mach.Accelerator = chip(t, "H200-SXM-141GB")
		case 2:
			mach.Count = 4
		}
		used := false
		for _, region := range regions {
			for _, zone := range []string{"", "1"} {
				for _, mode := range modes {
					if rapid.IntRange(0, 3).Draw(t, "there") > 0 {
						continue
					}
					used = true
					s.Rows = append(s.Rows, Row{Machine: mach, Region: region, Zone: zone, Price: Price{
						Mode: mode, Hourly: money.PerHour(int64(rapid.IntRange(10, 90).Draw(t, "price"))*1e9, money.USD),
						AsOf: s.AsOf, Source: s.Source, Confidence: Listed,
					}})
				}
			}
		}
		if used {
			s.Machines = append(s.Machines, mach)
		}
	}
	for _, region := range append(regions, "") {
		if rapid.IntRange(0, 5).Draw(t, "covers") == 0 {
			s.Covers = append(s.Covers, Cover{"aws", region, rapid.SampledFrom(modes).Draw(t, "mode"), rapid.SampledFrom([]string{"", "2026-01-15"}).Draw(t, "earlier")})
		}
	}
	return s
}

// believedBrute says what Merge should give, source by source and price by price.
func believedBrute(sources []*Snapshot) []string {
	var lines []string
	better := func(a, b *Snapshot) bool {
		if a.AsOf != b.AsOf {
			return a.AsOf > b.AsOf
		}
		if a.Layer != b.Layer {
			return slices.Index(Layers(), a.Layer) < slices.Index(Layers(), b.Layer)
		}
		return a.Source < b.Source
	}
	// Whose word on a machine counts: the built-in one, then the newest that states its chips, over whoever guesses them.
	machines := map[string]*Machine{}
	inTime := slices.Clone(sources)
	slices.SortFunc(inTime[1:], func(a, b *Snapshot) int { return strings.Compare(a.AsOf+a.Source, b.AsOf+b.Source) })
	guess := func(m *Machine) bool { return len(m.Flags) > 0 }
	same := func(a, b *Machine) bool { return a.Accelerator == b.Accelerator && a.Count == b.Count }
	for _, s := range inTime {
		for _, m := range s.Machines {
			if have := machines[m.InstanceType]; have == nil || !same(have, m) && (guess(have) || !guess(m)) {
				machines[m.InstanceType] = m
			}
		}
	}
	speaks := func(r Row) bool {
		m := machines[r.InstanceType]
		return same(m, r.Machine) || m.Count == r.Count && guess(r.Machine)
	}
	for _, s := range sources {
		for _, r := range s.Rows {
			kept := speaks(r)
			for _, o := range sources {
				if o == s {
					continue
				}
				for _, q := range o.Rows {
					if better(o, s) && speaks(q) && q.InstanceType == r.InstanceType && q.Region == r.Region && q.Price.Mode == r.Price.Mode {
						kept = false
					}
				}
				for _, c := range o.Covers {
					then := *o
					then.AsOf = cmp.Or(c.AsOf, o.AsOf)
					if better(&then, s) && c.Mode == r.Price.Mode && (c.Region == "" || c.Region == r.Region) {
						kept = false
					}
				}
			}
			if kept {
				lines = append(lines, lineOf(r))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func lineOf(r Row) string {
	return strings.Join([]string{r.InstanceType, r.Region, r.Zone, string(r.Price.Mode), r.Price.Hourly.Decimal(), r.Price.AsOf, r.Price.Source}, " ")
}

func pricesOf(c *Catalog) []string {
	var lines []string
	for _, r := range c.Rows() {
		if r.Price.Mode != "" {
			lines = append(lines, lineOf(r))
		}
	}
	slices.Sort(lines)
	return lines
}

func TestMergeAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sources []*Snapshot
		for i := range rapid.IntRange(1, 4).Draw(t, "sources") {
			sources = append(sources, drawSource(t, i))
		}
		sources[0].Layer, sources[0].Covers, sources[0].Source = BuiltIn, nil, ""
		for i := range sources[0].Rows {
			sources[0].Rows[i].Price.Source = ""
		}
		builtIn := New(slices.Clone(sources[0].Machines), slices.Clone(sources[0].Rows), nil)
		want := believedBrute(sources)
		snaps := rapid.Permutation(sources[1:]).Draw(t, "order")
		got, idle := Merge(builtIn, snaps, "2026-06-01")
		if diff := gocmp.Diff(want, pricesOf(got)); diff != "" || len(idle) > 0 {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		for _, f := range Verify(got, "2026-06-01") {
			if f.Kind == Duplicate {
				t.Fatalf("%+v", f)
			}
		}
	})
}

// What a snapshot's files say is what was put in, and on another day they are the same bytes.
func TestSnapshotRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSource(t, 1)
		s.Layer = Vendor
		s.Bands = []provider.Band{{Provider: "aws", Region: "east", InstanceType: "a8", Range: "<5", AsOf: s.AsOf, Source: s.Source, Savings: unit.Some(61.0)}}
		s.Terms = []Term{
			{Provider: "aws", InstanceType: "a*", Modes: []BillingMode{OnDemand, Spot}, Off: unit.Some(0.12), From: "2026-01-01", AsOf: "2025-12-01", Source: s.Source},
			{Provider: "aws", Accelerator: "H100-SXM-80GB", Region: "eu-*", Hourly: money.PerHour(21_500_000_000, money.EUR), AsOf: "2025-12-01", Source: s.Source},
			{Provider: "aws", Hourly: money.PerHour(2_100_000_000, money.EUR), PerGPU: true, AsOf: "2025-12-01", Source: s.Source},
		}
		for i := range s.Sources {
			s.Sources[i].Date = s.AsOf
		}
		packed, hash := pack(t, s)
		got, err := ReadArchive(s.Source, s.Layer, s.AsOf, packed, accelerator.Embedded())
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(s.Covers, func(a, b Cover) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		s.Covers = slices.Compact(s.Covers)
		slices.SortFunc(got.Covers, func(a, b Cover) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		again, hash2 := pack(t, got)
		if hash != hash2 || string(packed) != string(again) {
			t.Fatal("written again it differs")
		}
		if diff := gocmp.Diff(pricesOf(New(s.Machines, s.Rows, nil)), pricesOf(New(got.Machines, got.Rows, nil))); diff != "" {
			t.Fatal(diff)
		}
		// The Maybes have no exported fields; their printed form says all.
		if a, b := fmt.Sprintf("%+v %+v %+v %+v", s.Terms, s.Bands, s.Covers, s.Sources), fmt.Sprintf("%+v %+v %+v %+v", got.Terms, got.Bands, got.Covers, got.Sources); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
		later, err := ReadArchive(s.Source, s.Layer, "2026-05-05", packed, accelerator.Embedded())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range later.Rows {
			if r.Price.AsOf != "2026-05-05" {
				t.Fatalf("%s is of %s", lineOf(r), r.Price.AsOf)
			}
		}
		if _, hash3 := pack(t, later); hash3 != hash {
			t.Fatal("the same answer on another day is another snapshot")
		}
	})
}

func pack(t require, s *Snapshot) ([]byte, string) {
	t.Helper()
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	packed, hash, err := Archive(files)
	if err != nil {
		t.Fatal(err)
	}
	return packed, hash
}

func TestContracts(t *testing.T) {
	s := &Snapshot{Source: "list", Layer: Vendor, AsOf: "2026-05-01", Sources: []Source{{"list", "t", "r", "2026", "l"}}}
	for _, name := range []string{"p5.48xlarge", "p4d.24xlarge"} {
		mach := &Machine{Provider: "aws", InstanceType: name, Accelerator: chip(t, "H100-SXM-80GB"), Count: 8, Source: "list", AsOf: s.AsOf}
		s.Machines = append(s.Machines, mach)
		for region, hourly := range map[string]int64{"us-east-1": 100e9, "eu-west-1": 120e9} {
			for _, mode := range []BillingMode{OnDemand, Spot} {
				s.Rows = append(s.Rows, Row{Machine: mach, Region: region, Price: Price{Mode: mode, Hourly: money.PerHour(hourly, money.USD), AsOf: s.AsOf, Source: "list", Confidence: Listed, Flags: []Flag{DateUnknown}}})
			}
		}
	}
	empty := New(nil, nil, nil)
	for name, c := range map[string]struct {
		terms []Term
		today string
		want  map[string]string // "type region mode" -> hourly; others are as listed
		idle  int
	}{
		"a share off the list": {
			terms: []Term{{Provider: "aws", InstanceType: "p5.*", Off: unit.Some(0.12)}},
			want:  map[string]string{"p5.48xlarge us-east-1 on-demand": "88", "p5.48xlarge eu-west-1 on-demand": "105.6"},
		},
		"a price, in one region, of spot too": {
			terms: []Term{{Provider: "aws", Region: "eu-*", InstanceType: "p4d.24xlarge", Modes: []BillingMode{OnDemand, Spot}, Hourly: money.PerHour(20e9, money.EUR), AsOf: "2026-01-01"}},
			want:  map[string]string{"p4d.24xlarge eu-west-1 on-demand": "20", "p4d.24xlarge eu-west-1 spot": "20"},
		},
		"a price of one accelerator": {
			terms: []Term{{Provider: "aws", InstanceType: "p5.48xlarge", Hourly: money.PerHour(2e9, money.USD), PerGPU: true, AsOf: "2026-01-01"}},
			want:  map[string]string{"p5.48xlarge us-east-1 on-demand": "16", "p5.48xlarge eu-west-1 on-demand": "16"},
		},
		"the last term counts": {
			terms: []Term{{Provider: "aws", Off: unit.Some(0.5)}, {Provider: "aws", Region: "us-east-1", Off: unit.Some(0.1)}},
			want: map[string]string{"p5.48xlarge us-east-1 on-demand": "90", "p4d.24xlarge us-east-1 on-demand": "90",
				"p5.48xlarge eu-west-1 on-demand": "60", "p4d.24xlarge eu-west-1 on-demand": "60"},
		},
		"not yet, no more, and of somebody else": {
			terms: []Term{{Provider: "aws", Off: unit.Some(0.5), From: "2026-06-02"}, {Provider: "aws", Off: unit.Some(0.5), Until: "2026-05-31"}, {Provider: "gcp", Off: unit.Some(0.5)}},
			idle:  3,
		},
		"of several chips some": {
			terms: []Term{{Provider: "aws", InstanceType: "p5.*", Accelerator: "H100-PCIe-80GB", Off: unit.Some(0.5)}, {Provider: "aws", InstanceType: "p5.*", Accelerator: "H100-SXM-80GB", Off: unit.Some(0.5)},
				{Provider: "aws", InstanceType: "p5.*", Accelerator: "H100-NVL-94GB", Off: unit.Some(0.4)}},
			want: map[string]string{"p5.48xlarge us-east-1 on-demand": "50", "p5.48xlarge eu-west-1 on-demand": "60"}, idle: 1,
		},
		"from and until are days of the contract": {
			terms: []Term{{Provider: "aws", InstanceType: "p5.48xlarge", Off: unit.Some(0.5), From: "2026-06-01", Until: "2026-06-01"}},
			want:  map[string]string{"p5.48xlarge us-east-1 on-demand": "50", "p5.48xlarge eu-west-1 on-demand": "60"},
		},
		"a way of paying that the list lacks": {
			terms: []Term{{Provider: "aws", InstanceType: "p5.48xlarge", Modes: []BillingMode{Reserved1Y}, Hourly: money.PerHour(40e9, money.USD), AsOf: "2026-01-01"},
				{Provider: "aws", Modes: []BillingMode{Reserved3Y}, Off: unit.Some(0.2)}},
			want: map[string]string{"p5.48xlarge us-east-1 reserved-1y": "40", "p5.48xlarge eu-west-1 reserved-1y": "40"}, idle: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.terms {
				c.terms[i].Source = "contract"
			}
			got, idle := Merge(empty, []*Snapshot{s, {Source: "contract", Layer: Contract, AsOf: "2026-01-01", Terms: c.terms}}, "2026-06-01")
			if len(idle) != c.idle {
				t.Errorf("%d terms fit nothing, want %d", len(idle), c.idle)
			}
			seen := 0
			for _, r := range got.Rows() {
				key := r.InstanceType + " " + r.Region + " " + string(r.Price.Mode)
				want, agreed := c.want[key]
				if !agreed {
					want = map[string]string{"us-east-1": "100", "eu-west-1": "120"}[r.Region]
				} else {
					seen++
				}
				if r.Price.Hourly.Float() != mustFloat(want) || agreed != (r.Price.Confidence == Agreed) || agreed != (r.Price.Source == "contract") {
					t.Errorf("%s: %s by %s, want %s", key, r.Price.Hourly, r.Price.Source, want)
				}
			}
			if seen != len(c.want) {
				t.Errorf("%d prices agreed, want %d", seen, len(c.want))
			}
		})
	}
}

func mustFloat(s string) (f float64) {
	if _, err := fmt.Sscan(s, &f); err != nil {
		panic(err)
	}
	return f
}

// The built-in facts of a machine stay where a feed has to assume the chip, and take what the feed adds.
func TestMachinesAreJoined(t *testing.T) {
	known := &Machine{Provider: "aws", InstanceType: "p5", Accelerator: chip(t, "H100-SXM-80GB"), Count: 8, Topology: NVSwitch, TopologyKnown: true}
	builtIn := New([]*Machine{known}, nil, nil)
	for name, c := range map[string]struct {
		fed  Machine
		want string
		ram  bool
		rows int
	}{
		"adds":            {Machine{Accelerator: chip(t, "H100-SXM-80GB"), Count: 8, RAM: unit.Some(2 * unit.TB)}, "H100-SXM-80GB", true, 1},
		"assumed":         {Machine{Accelerator: chip(t, "H100-PCIe-80GB"), Count: 8, Flags: []Flag{FormFactorAssumed}}, "H100-SXM-80GB", false, 1},
		"assumed, fewer":  {Machine{Accelerator: chip(t, "H100-PCIe-80GB"), Count: 4, Flags: []Flag{FormFactorAssumed}}, "H100-SXM-80GB", false, 0},
		"stated, another": {Machine{Accelerator: chip(t, "H200-SXM-141GB"), Count: 8}, "H200-SXM-141GB", false, 1},
	} {
		fed := c.fed
		fed.Provider, fed.InstanceType = "aws", "p5"
		s := &Snapshot{Source: "feed", Layer: Vendor, AsOf: "2026-05-01", Machines: []*Machine{&fed},
			Rows: []Row{{Machine: &fed, Region: "r", Price: Price{Mode: OnDemand, Hourly: money.PerHour(5e10, money.USD), AsOf: "2026-05-01"}}}}
		got, _ := Merge(builtIn, []*Snapshot{s}, "2026-05-02")
		if m := got.Machines[0]; m.Accelerator.Name != c.want || m.RAM.Known() != c.ram || len(pricesOf(got)) != c.rows {
			t.Errorf("%s: %s, RAM %v, %d prices", name, m.Accelerator.Name, m.RAM, len(pricesOf(got)))
		}
	}
	if known.RAM.Known() {
		t.Error("the built-in machine was changed")
	}
}

func TestDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSource(t, 1), drawSource(t, 2)
		before, after := New(a.Machines, a.Rows, nil), New(b.Machines, b.Rows, nil)
		state := map[string]money.Rate{}
		key := func(c Change) string { return fmt.Sprint(c.InstanceType, c.Region, c.Zone, c.Mode) }
		for _, r := range before.Rows() {
			if r.Price.Mode != "" {
				state[fmt.Sprint(r.InstanceType, r.Region, r.Zone, r.Price.Mode)] = r.Price.Hourly
			}
		}
		changes := Diff(before, after)
		for _, c := range changes {
			if state[key(c)] != c.Old || c.Old == c.New {
				t.Fatalf("%+v", c)
			}
			if state[key(c)] = c.New; c.New.IsZero() {
				delete(state, key(c))
			}
			if back, err := ReadChangeLines(c.Provider, c.InstanceType, ChangeLines([]Change{c})); err != nil || len(back) != 1 || back[0].New != c.New || key(back[0]) != key(c) {
				t.Fatalf("%+v %v", back, err)
			}
		}
		for _, r := range after.Rows() {
			k := fmt.Sprint(r.InstanceType, r.Region, r.Zone, r.Price.Mode)
			if r.Price.Mode != "" && state[k] != r.Price.Hourly {
				t.Fatalf("%s is not reached", k)
			}
			delete(state, k)
		}
		if len(state) > 0 {
			t.Fatalf("%v stays", state)
		}
		if len(Diff(after, after)) > 0 {
			t.Fatal("a catalog differs from itself")
		}
	})
}

func TestUntil(t *testing.T) {
	c, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if c.Until("2999-01-01") != c {
		t.Error("copied for nothing")
	}
	then := c.Until("2026-01-01")
	for _, o := range then.Offers {
		for _, p := range o.Prices {
			if p.AsOf > "2026-01-01" {
				t.Fatalf("%s %s is of %s", o.InstanceType, p.Mode, p.AsOf)
			}
		}
	}
	if len(then.Offers) != len(c.Offers) {
		t.Errorf("%d offers, want %d: what is listed stays listed", len(then.Offers), len(c.Offers))
	}
}
