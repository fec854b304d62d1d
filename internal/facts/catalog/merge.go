package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// Merge lays snapshots over the built-in catalog, as of a day, and gives the terms of contracts that changed no price.
//
// Each way of paying for a machine in a region comes from one source, with all its zones: the one of the newest price, of
// two of one day the nearer layer. What a source says it has read whole and does not list is gone from older ones. Contracts
// in force come last, over all. What is known of a machine is joined: the built-in facts, where both speak of the same
// chips, filled by what others add.
func Merge(builtIn *Catalog, snaps []*Snapshot, today string) (*Catalog, []Term) {
	if len(snaps) == 0 {
		return builtIn, nil
	}
	m := merger{machines: map[machineID]*Machine{}, covers: map[Cover][]claim{}}
	for _, mach := range builtIn.Machines {
		m.machines[machineID{mach.Provider, mach.InstanceType}] = mach
	}
	snaps = slices.Clone(snaps)
	slices.SortStableFunc(snaps, func(a, b *Snapshot) int { // older ones first, so that the newest has the last word on a machine
		return cmp.Or(strings.Compare(a.AsOf, b.AsOf), strings.Compare(a.Source, b.Source))
	})
	sources := slices.Clone(builtIn.Sources)
	lists := [][]candidate{candidates(builtIn.Rows(), claim{layer: BuiltIn})}
	var terms []Term
	for _, s := range snaps {
		m.facts(s)
		for _, c := range s.Covers {
			by := claim{s.Source, s.Layer, cmp.Or(c.AsOf, s.AsOf)}
			c.AsOf = ""
			m.covers[c] = append(m.covers[c], by)
		}
		rows := s.Rows
		if !inOrder(rows) {
			rows = slices.Clone(rows)
			slices.SortStableFunc(rows, compareRows)
		}
		lists = append(lists, candidates(rows, claim{s.Source, s.Layer, s.AsOf}))
		terms = append(terms, s.Terms...)
		sources = append(sources, s.Sources...)
	}
	rows, idle := agree(m.choose(lists), terms, today)
	machines := make([]*Machine, 0, len(m.machines))
	for _, mach := range m.machines {
		machines = append(machines, mach)
	}
	slices.SortFunc(sources, func(a, b Source) int { return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(b.Date, a.Date)) })
	sources = slices.CompactFunc(sources, func(a, b Source) bool { return a.ID == b.ID })
	return New(machines, rows, sources), idle
}

// merger joins what sources say of the same machines and places.
type merger struct {
	machines map[machineID]*Machine
	covers   map[Cover][]claim
	voices   []voice // of the place at hand, reused
}

// claim is who says something, and of which day it speaks.
type claim struct {
	source string
	layer  Layer
	asOf   string
}

// beats says whether a claim of the day asOf is to be believed over another one.
func (c claim) beats(asOf string, o claim, otherAsOf string) bool {
	return cmp.Or(strings.Compare(asOf, otherAsOf), slices.Index(Layers(), o.layer)-slices.Index(Layers(), c.layer), strings.Compare(o.source, c.source)) > 0
}

// facts joins a snapshot's machines with those that are known. Where two sources name other chips for a type, the newer one
// is believed, unless it had to assume its chip and the other had not.
func (m *merger) facts(s *Snapshot) {
	for _, n := range s.Machines {
		id := machineID{n.Provider, n.InstanceType}
		have := m.machines[id]
		switch {
		case have == nil:
			m.machines[id] = n
		case have.Accelerator == n.Accelerator && have.Count == n.Count:
			m.machines[id] = filled(have, n)
		case !assumed(n) || assumed(have):
			m.machines[id] = n
		}
	}
}

// assumed says whether a machine's chip was not stated in full.
func assumed(m *Machine) bool {
	return slices.Contains(m.Flags, FormFactorAssumed) || slices.Contains(m.Flags, AcceleratorInferred)
}

// filled gives a machine with what another row knows beyond it.
func filled(have, n *Machine) *Machine {
	out := *have
	more := fill(&out.VCPU, n.VCPU)
	more = fill(&out.RAM, n.RAM) || more
	more = fill(&out.NVMe, n.NVMe) || more
	more = fill(&out.NetworkGbps, n.NetworkGbps) || more
	more = fill(&out.BareMetal, n.BareMetal) || more
	more = fill(&out.MIG, n.MIG) || more
	more = fill(&out.Confidential, n.Confidential) || more
	more = fill(&out.GPUDirect, n.GPUDirect) || more
	if out.Network == UnknownNet && n.Network != UnknownNet {
		out.Network, more = n.Network, true
	}
	if !out.TopologyKnown && n.TopologyKnown {
		out.Topology, out.TopologyKnown, more = n.Topology, true, true
		out.Flags = slices.DeleteFunc(slices.Clone(out.Flags), func(f Flag) bool { return f == TopologyInferred || f == TopologyRecalled })
	}
	if !more {
		return have // most machines: no copy
	}
	return &out
}

// fill takes a figure that is not known yet, and says whether it was.
func fill[T any](have *unit.Maybe[T], n unit.Maybe[T]) bool {
	if have.Known() || !n.Known() {
		return false
	}
	*have = n
	return true
}

// candidate is a row with who says it. It points: rows are large, and a hundred thousand of them are sorted.
type candidate struct {
	*Row
	*claim
}

func candidates(rows []Row, by claim) []candidate {
	out := make([]candidate, len(rows))
	for i := range rows {
		out[i] = candidate{&rows[i], &by}
	}
	return out
}

// choose walks the sorted lists side by side and keeps, of each machine, region and way of paying, the rows of one source.
func (m *merger) choose(lists [][]candidate) []Row {
	all := joined(lists)
	out := make([]Row, 0, len(all))
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && samePlace(all[i].Row, all[j].Row) {
			j++
		}
		out = m.place(out, all[i:j])
		i = j
	}
	return out
}

func samePlace(a, b *Row) bool {
	return (a.Machine == b.Machine || compareMachines(a.Machine, b.Machine) == 0) && a.Region == b.Region
}

// joined merges sorted lists into one, two at a time.
func joined(lists [][]candidate) []candidate {
	if len(lists) == 1 {
		return lists[0]
	}
	a, b := joined(lists[:len(lists)/2]), joined(lists[len(lists)/2:])
	out := make([]candidate, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compareAt(b[0].Row, a[0].Row) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

// place appends what is to be believed of one machine in one region.
func (m *merger) place(out []Row, rows []candidate) []Row {
	mach := m.machines[machineID{rows[0].Provider, rows[0].InstanceType}]
	start := len(out)
	voices := m.voices[:0]
	for i := range rows {
		if rows[i].isOf(mach) {
			voices = heard(voices, &rows[i])
		}
	}
	m.voices = voices
	bare := -1
	for i := range rows {
		c := &rows[i]
		if c.Price.Mode == "" {
			bare = i
			continue
		}
		if c.isOf(mach) && m.believed(c, voices) {
			out = append(out, *c.Row)
			out[len(out)-1].Machine = mach
		}
	}
	if len(out) == start && bare >= 0 { // listed, at an unknown price
		return append(out, Row{Machine: mach, Region: rows[bare].Region, Zone: rows[bare].Zone})
	}
	return out
}

// isOf says whether a row may speak of the machine that is believed to go by its name: of the same chips, or of as many that its
// source had to assume.
func (c *candidate) isOf(m *Machine) bool {
	return c.Count == m.Count && (c.Accelerator == m.Accelerator || assumed(c.Machine))
}

// voice is one source on one way of paying in one place, with the day of its newest price.
type voice struct {
	claim
	mode   BillingMode
	newest string
}

func heard(voices []voice, c *candidate) []voice {
	for i := range voices {
		if v := &voices[i]; v.source == c.source && v.mode == c.Price.Mode {
			v.newest = max(v.newest, c.Price.AsOf)
			return voices
		}
	}
	return append(voices, voice{*c.claim, c.Price.Mode, c.Price.AsOf})
}

// believed says whether no better source speaks of the same way of paying there, or has read it all and does not list it.
func (m *merger) believed(c *candidate, voices []voice) bool {
	if len(voices) == 1 && len(m.covers) == 0 {
		return true
	}
	own := voices[slices.IndexFunc(voices, func(v voice) bool { return v.source == c.source && v.mode == c.Price.Mode })].newest
	for i := range voices {
		if v := &voices[i]; v.source != c.source && v.mode == c.Price.Mode && v.beats(v.newest, *c.claim, own) {
			return false
		}
	}
	for _, region := range [...]string{c.Region, ""} {
		for _, by := range m.covers[Cover{Provider: c.Provider, Region: region, Mode: c.Price.Mode}] {
			if by.source != c.source && by.beats(by.asOf, *c.claim, own) {
				return false
			}
		}
	}
	return true
}

// agree lays contracts over the prices: of the terms in force that fit, the last one counts. It gives those that fit nothing,
// unless one that differs in its chip alone does: "H100" is several chips, of which a provider has some.
func agree(rows []Row, terms []Term, today string) (out []Row, idle []Term) {
	if len(terms) == 0 {
		return rows, nil
	}
	used := make([]bool, len(terms))
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && samePlace(&rows[i], &rows[j]) && rows[i].Zone == rows[j].Zone {
			j++
		}
		out = append(out, agreed(rows[i:j], terms, today, used)...)
		i = j
	}
	useful := map[string]bool{}
	for i := range terms {
		useful[terms[i].butForChip()] = useful[terms[i].butForChip()] || used[i]
	}
	for i := range terms {
		if !useful[terms[i].butForChip()] {
			idle = append(idle, terms[i])
		}
	}
	return out, idle
}

// agreed gives the prices of one offer under contracts.
func agreed(rows []Row, terms []Term, today string, used []bool) []Row {
	by := map[BillingMode]int{}
	for i := range terms {
		if t := &terms[i]; t.fits(rows[0].Machine, rows[0].Region, today) {
			for _, mode := range t.modesOf() {
				by[mode] = i
			}
		}
	}
	if len(by) == 0 {
		return rows
	}
	var out []Row
	for _, r := range rows {
		if i, ok := by[r.Price.Mode]; ok && r.Price.Mode != "" {
			r.Price, used[i] = terms[i].reprice(r.Machine, r.Price), true
			delete(by, r.Price.Mode)
		}
		out = append(out, r)
	}
	for mode, i := range by { // a price of a way of paying that the list lacks
		if t := &terms[i]; !t.Off.Known() {
			used[i] = true
			out = append(out, Row{Machine: rows[0].Machine, Region: rows[0].Region, Zone: rows[0].Zone, Price: t.reprice(rows[0].Machine, Price{Mode: mode})})
		}
	}
	if len(out) > 1 && out[0].Price.Mode == "" {
		out = out[1:]
	}
	slices.SortFunc(out, compareRows)
	return out
}

// Facts is the catalog without its offers: its machines are facts still where its prices do not count.
func (c *Catalog) Facts() *Catalog { return &Catalog{Machines: c.Machines, Sources: c.Sources} }

// Until drops prices of a later day than today, for a ranking as it was: they were not known then.
func (c *Catalog) Until(today string) *Catalog {
	if c.AsOf <= today {
		return c
	}
	var rows []Row
	for _, r := range c.Rows() {
		if r.Price.AsOf > today {
			r.Price = Price{}
		}
		rows = append(rows, r)
	}
	return New(slices.Clone(c.Machines), rows, slices.Clone(c.Sources))
}
