package aws

import (
	"bytes"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// The columns of the price list of EC2 that are read; those in may lack in older lists or in other partitions.
var (
	offerNeed = []string{
		"SKU", "OfferTermCode", "TermType", "EffectiveDate", "StartingRange", "Unit", "PricePerUnit", "Currency", "LeaseContractLength",
		"PurchaseOption", "OfferingClass", "Product Family", "Instance Type", "Operating System", "Tenancy", "CapacityStatus",
		"Pre Installed S/W", "Region Code",
	}
	offerMay = []string{"MarketOption", "License Model", "Instance Family", "vCPU", "Memory", "Storage", "Network Performance", "GPU", "GPU Memory"}
)

// reservations are the ways of paying by lease and payment. Convertible reservations, which cost more and may be exchanged,
// have no way of paying of their own here and are left out.
var reservations = map[string]catalog.BillingMode{
	"1yr/No Upfront": catalog.Reserved1Y, "1yr/Partial Upfront": catalog.Reserved1YPartial, "1yr/All Upfront": catalog.Reserved1YAll,
	"3yr/No Upfront": catalog.Reserved3Y, "3yr/Partial Upfront": catalog.Reserved3YPartial, "3yr/All Upfront": catalog.Reserved3YAll,
}

// maxMachines bounds how many machines of one file are held, and how many rows that cannot be read; a region has a few hundred
// with accelerators.
const maxMachines = 20_000

// machine is one SKU: a type in a region with its prices.
type machine struct {
	intake.Listing
	sku    string
	rows   int  // of the list
	block  bool // sold in capacity blocks, whose price the list does not have
	prices map[catalog.BillingMode]*charge
}

// charge is what one offer term of a SKU costs.
type charge struct {
	term            string // the code of the offer term
	since           string // ISO day
	currency        money.Currency
	hourly, upfront *big.Rat // nil where the list has no such row
}

// offers reads the price list of one region.
type offers struct {
	table    *table
	at       map[string]int
	cells    [][]byte
	file     string
	today    string
	known    map[string]*catalog.Machine
	machines map[string]*machine // by SKU
	rejected []intake.Rejection
	rows     int
	passed   int  // rows that price something else
	broken   bool // a row could not be read
}

// readOffers reads a price list to its end.
func readOffers(in io.Reader, file, today string, known map[string]*catalog.Machine) (*offers, error) {
	table, at, err := openTable(in, offerNeed, offerMay)
	if err != nil {
		return nil, err
	}
	o := &offers{table: table, at: at, file: file, today: today, known: known, machines: map[string]*machine{}}
	linux, shared := []byte("Linux"), []byte("Shared")
	for {
		row, err := table.next()
		if err == io.EOF {
			return o, nil
		}
		if err != nil {
			return nil, err
		}
		o.rows++
		if len(o.rejected) > maxMachines {
			return nil, errUnread
		}
		// Four rows of five end here, before they are cut into ninety cells.
		if !bytes.Contains(row, linux) || !bytes.Contains(row, shared) {
			o.passed++
			continue
		}
		if o.cells = table.split(row); len(o.cells) != table.width {
			o.reject("", "", problem.Args{"Value": len(o.cells), "Want": table.width})
			continue
		}
		if !o.concerns() {
			o.passed++
			continue
		}
		if o.add(); len(o.machines) > maxMachines {
			return nil, errTooMany
		}
	}
}

// cell is one cell of the current row; empty where the list has no such column.
func (o *offers) cell(column string) string { return string(o.raw(column)) }

func (o *offers) raw(column string) []byte {
	i := o.at[column]
	if i < 0 {
		return nil
	}
	return o.cells[i]
}

func (o *offers) is(column string, values ...string) bool {
	cell := o.raw(column)
	return slices.ContainsFunc(values, func(v string) bool { return string(cell) == v })
}

// concerns says whether a row prices a Linux machine with accelerators, used and shared as anybody's, without further software.
// Rows of capacity blocks pass for on demand in all but the column MarketOption.
func (o *offers) concerns() bool {
	if !o.is("Operating System", "Linux") || !o.is("Tenancy", "Shared") || !o.is("CapacityStatus", "Used") ||
		!o.is("Pre Installed S/W", "NA", "") || !o.is("License Model", "No License required", "NA", "") ||
		!o.is("MarketOption", "OnDemand", "CapacityBlock", "") || !o.is("StartingRange", "0", "") ||
		!bytes.HasPrefix(o.raw("Product Family"), []byte("Compute Instance")) {
		return false
	}
	if o.is("TermType", "Reserved") {
		if !o.is("OfferingClass", "standard") {
			return false
		}
	} else if !o.is("TermType", "OnDemand") {
		return false
	}
	return o.hasAccelerators() && o.cell("EffectiveDate") <= o.today
}

// hasAccelerators goes by the list's own attributes, by the machines known already, and by the letters of the family, which
// must do for a family newer than both.
func (o *offers) hasAccelerators() bool {
	kind := o.raw("Instance Type")
	return o.known[string(kind)] != nil || o.is("Instance Family", "GPU instance", "Machine Learning ASIC Instances") || accelerated.Match(kind)
}

// add takes one row: a part of the price of one offer term of one SKU.
func (o *offers) add() {
	mode := catalog.OnDemand
	if o.is("TermType", "Reserved") {
		mode = reservations[o.cell("LeaseContractLength")+"/"+o.cell("PurchaseOption")]
	}
	price, err := feed.Decimal(o.cell("PricePerUnit"))
	currency := o.cell("Currency")
	switch {
	case err != nil:
		o.bad("PricePerUnit", "price")
	case len(currency) != 3:
		o.bad("Currency", "USD")
	case mode == "":
		o.bad("PurchaseOption", "No Upfront|Partial Upfront|All Upfront; 1yr|3yr")
	case !o.is("Unit", "Hrs", "Quantity") || o.is("Unit", "Quantity") && mode == catalog.OnDemand:
		o.bad("Unit", "Hrs|Quantity")
	case o.cell("Region Code") == "" || o.cell("SKU") == "":
		o.bad("Region Code", "us-east-1")
	default:
		m := o.machine()
		m.rows++
		if m.block {
			mode = catalog.CapacityBlock
		}
		c := m.charge(mode, o.cell("OfferTermCode"), o.cell("EffectiveDate"), money.Currency(currency))
		if c == nil {
			return
		}
		if o.is("Unit", "Quantity") {
			c.upfront = price
		} else {
			c.hourly = price
		}
	}
}

func (o *offers) bad(column, want string) {
	o.reject(o.cell("Instance Type"), o.cell("Region Code"), problem.Args{"Column": column, "Value": o.cell(column), "Want": want})
}

func (o *offers) reject(instanceType, region string, args problem.Args) {
	o.broken = true
	o.rejected = append(o.rejected, intake.Rejection{Kind: intake.Malformed, InstanceType: instanceType, Region: region, At: o.place(), Args: args})
}

func (o *offers) place() intake.Place { return intake.Place{File: o.file, Line: o.table.lines} }

// machine gives the SKU of the current row.
func (o *offers) machine() *machine {
	if m := o.machines[string(o.raw("SKU"))]; m != nil {
		return m
	}
	m := &machine{sku: o.cell("SKU"), block: o.is("MarketOption", "CapacityBlock"), prices: map[catalog.BillingMode]*charge{}, Listing: intake.Listing{
		Provider: vendor, InstanceType: o.cell("Instance Type"), Region: o.cell("Region Code"), At: o.place(),
		VCPU: number(o.cell("vCPU")), RAM: memory(o.cell("Memory")), NVMe: disks(o.cell("Storage")), NetworkGbps: network(o.cell("Network Performance")),
		BareMetal: unit.Some(o.is("Product Family", "Compute Instance (bare metal)")),
	}}
	m.Count, m.MiB = number(o.cell("GPU")).Or(0), float64(memory(o.cell("GPU Memory")).Or(0))/float64(unit.MiB) // 0 is not stated
	if k := o.known[m.InstanceType]; k != nil && k.Count < 1 {
		m.Count = 0 // the list counts the chips of which the machine has a share
	}
	o.machines[m.sku] = m
	return m
}

// charge gives the entry for an offer term: of two terms for one way of paying the later, and of two as late the one whose code
// sorts first. It is nil for the other.
func (m *machine) charge(mode catalog.BillingMode, term, since string, currency money.Currency) *charge {
	c := m.prices[mode]
	if c == nil || since > c.since || since == c.since && term < c.term {
		c = &charge{term: term, since: since, currency: currency}
		m.prices[mode] = c
	}
	if c.term != term || c.since != since || c.currency != currency {
		return nil
	}
	return c
}

// rate is a charge by the hour; false where a part of it is missing from the list.
//
// An upfront payment spreads over the hours of its term: hourly + upfront / (8760 * years).
func (c *charge) rate(mode catalog.BillingMode) (*big.Rat, bool) {
	hours := int64(mode.Term())
	upfront := mode.Upfront()
	if c.hourly == nil && upfront < 1 || c.upfront == nil && upfront > 0 && hours >= unit.HoursPerYear {
		return nil, false
	}
	total := new(big.Rat)
	if c.upfront != nil {
		total.Quo(c.upfront, new(big.Rat).SetInt64(hours))
	}
	if c.hourly != nil {
		total.Add(total, c.hourly)
	}
	return total, true
}

// done turns what was read into listings in the order of regions, types and SKUs, and says what was left out.
func (o *offers) done() []*machine {
	sold := map[string]bool{} // places and types that are sold other than in blocks
	for _, m := range o.machines {
		o.price(m)
		if !m.block {
			sold[m.Region+" "+m.InstanceType] = true
		}
	}
	all := slices.SortedFunc(maps.Values(o.machines), func(a, b *machine) int {
		return strings.Compare(a.Region+" "+a.InstanceType+" "+a.sku, b.Region+" "+b.InstanceType+" "+b.sku)
	})
	return slices.DeleteFunc(all, func(m *machine) bool {
		m.Reservation = m.block
		switch {
		case len(m.Prices) > 0:
			return false
		case !m.block:
			o.passed += m.rows - 1 // one is rejected
		case sold[m.Region+" "+m.InstanceType]:
			o.passed += m.rows
		default: // that there are blocks is worth knowing, though not what they cost
			return false
		}
		return true
	})
}

// price puts a machine's prices together. Without any that is one, the machine is rejected.
func (o *offers) price(m *machine) {
	zero := false
	for _, mode := range slices.Sorted(maps.Keys(m.prices)) {
		c := m.prices[mode]
		total, whole := c.rate(mode)
		if !whole {
			continue
		}
		rate, err := feed.PerHour(total, c.currency)
		switch {
		case err == nil && !rate.IsZero():
			m.Prices = append(m.Prices, catalog.Price{Mode: mode, Hourly: rate, Confidence: catalog.Listed})
		case err == nil:
			zero = true
		}
	}
	if len(m.Prices) > 0 || m.block {
		return
	}
	kind, args := intake.Kind(catalog.ZeroPrice), problem.Args(nil)
	if !zero {
		o.broken = true
		kind, args = intake.Malformed, problem.Args{"Column": "PricePerUnit", "Value": "", "Want": "price"}
	}
	o.rejected = append(o.rejected, intake.Rejection{Kind: kind, InstanceType: m.InstanceType, Region: m.Region, At: m.At, Args: args})
}
