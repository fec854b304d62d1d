package aws

import (
	"bytes"
	"context"
	"io"
	"strconv"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// planFamilies are the families of savings plans by the word of the option. A Compute plan pays for machines of any family in any
// region, an EC2 Instance plan for those of one family in one region; its rates are about those of a standard reservation.
// Those of Compute plans are the default: what they can do, no reservation can.
// Source: https://docs.aws.amazon.com/savingsplans/latest/userguide/what-is-savings-plans.html
var planFamilies = map[string]string{"": "ComputeSavingsPlans", "compute": "ComputeSavingsPlans", "ec2-instance": "EC2InstanceSavingsPlans"}

var planNeed = []string{
	"SKU", "Unit", "EffectiveDate", "DiscountedRate", "Currency", "DiscountedSKU", "PurchaseOption", "LeaseContractLength",
	"LeaseContractLengthUnit", "Product Family",
}

// rates are what machines cost under savings plans without upfront payment.
type rates struct {
	best   map[string]map[catalog.BillingMode]rate // by SKU
	passed int
	broken bool // a rate of ours could not be read
}

type rate struct {
	catalog.Price
	since string
}

// rates reads the savings plans of a region, where it has any; what they cost is only known together with their SKUs.
func (r *reading) rates(ctx context.Context, code string, machines []*machine) (*rates, error) {
	path := r.plans[code]
	if r.unplanned != nil || path == "" || len(machines) == 0 {
		return nil, r.unplanned
	}
	wanted := map[string]bool{}
	for _, m := range machines {
		wanted[m.sku] = true
	}
	var out *rates
	err := r.stream(ctx, path, func(in io.Reader) (err error) {
		out, err = readRates(in, r.family, r.today, wanted)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func readRates(in io.Reader, family, today string, wanted map[string]bool) (*rates, error) {
	t, at, err := openTable(in, planNeed, nil)
	if err != nil {
		return nil, err
	}
	out := &rates{best: map[string]map[catalog.BillingMode]rate{}}
	unpaid := []byte("No Upfront")
	for {
		row, err := t.next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(row, unpaid) || !out.add(t.split(row), at, t.width, family, today, wanted) {
			out.passed++
		}
	}
}

// add takes a row; false where it is about something else, or cannot be read.
func (r *rates) add(cells [][]byte, at map[string]int, width int, family, today string, wanted map[string]bool) bool {
	if len(cells) != width {
		r.broken = true // it may be about any machine
		return false
	}
	if !wanted[string(cells[at["DiscountedSKU"]])] {
		return false
	}
	cell := func(column string) string { return string(cells[at[column]]) }
	years, err := strconv.Atoi(cell("LeaseContractLength"))
	mode, sold := map[int]catalog.BillingMode{1: catalog.SavingsPlan1Y, 3: catalog.SavingsPlan3Y}[years]
	if err != nil || !sold || cell("LeaseContractLengthUnit") != "year" || cell("PurchaseOption") != "No Upfront" ||
		cell("Product Family") != family {
		return false
	}
	hourly, err := feed.Hourly(cell("DiscountedRate"), 1, money.Currency(cell("Currency")))
	sku, since := cell("DiscountedSKU"), cell("EffectiveDate")
	if err != nil || cell("Unit") != "Hrs" || len(cell("Currency")) != 3 {
		r.broken = true
		return false
	}
	if hourly.IsZero() || since[:min(len(since), len(today))] > today {
		return false
	}
	if r.best[sku] == nil {
		r.best[sku] = map[catalog.BillingMode]rate{}
	}
	next := rate{catalog.Price{Mode: mode, Hourly: hourly, Confidence: catalog.Listed}, since}
	// Of two rates the later counts, of two as late the dearer, so that nothing is promised for less than it may cost.
	if old, there := r.best[sku][mode]; !there || since > old.since || since == old.since && hourly.Nanos() > old.Hourly.Nanos() {
		r.best[sku][mode] = next
	}
	return true
}

// join gives machines the prices that belong to their SKUs.
func (r *rates) join(machines []*machine) {
	for _, m := range machines {
		for _, mode := range planned {
			if p, ok := r.best[m.sku][mode]; ok && !m.block {
				m.Prices = append(m.Prices, p.Price)
			}
		}
	}
}
