package gcp

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// Table makes the source of kind gcp-csv: whole machines of a region a row, in dollars, made from the Billing Catalog by a
// third party every few days.
// Source: https://github.com/Cyclenerd/google-cloud-compute-machine-types
var Table = feed.Maker{
	Kind: "gcp-csv", Keyless: true, Layer: catalog.Copy, Title: "Google Cloud machine types of gcloud-compute.com",
	Reference: tableAddress, Licence: "Apache-2.0", New: openTable,
}

const (
	tableAddress = "https://gcloud-compute.com/machine-types-regions.csv"
	// maxTable bounds the file, which has 10 MB.
	maxTable = 64 << 20
)

// columns are those that are read. Prices by the month are for 730 hours.
var columns = []struct {
	name  string
	mode  catalog.BillingMode
	hours int64
}{
	{"hour", catalog.OnDemand, 1},
	{"hourSpot", catalog.Spot, 1},
	{"month1yCud", catalog.Reserved1Y, unit.HoursPerMonth},
	{"month3yCud", catalog.Reserved3Y, unit.HoursPerMonth},
}

type table struct {
	feed.Config
	http *fetch.Client
}

func openTable(c feed.Config, w feed.World) (feed.Source, error) {
	if err := c.Check(feed.Takes{Regions: true}).OrNil(); err != nil {
		return nil, err
	}
	return &table{Config: c, http: w.HTTP}, nil
}

// Fetch reads the table whole before it hands anything over: one that breaks off says nothing.
func (t *table) Fetch(ctx context.Context, to feed.Sink) error {
	at := t.Address("", tableAddress)
	var read *reading
	err := t.http.Stream(ctx, fetch.Request{URL: at, MaxBytes: maxTable}, func(in io.Reader) error {
		var err error
		if read, err = readTable(in, t.Regions); err != nil {
			return fetch.Malformed(at, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	strangers := t.Strangers(read.sold, slices.Collect(maps.Keys(read.regions)))
	if len(read.machines) == 0 {
		return t.Nothing(strangers)
	}
	for _, l := range read.machines {
		to.Add(l)
	}
	for _, r := range read.bad {
		to.Reject(r)
	}
	to.Pass(read.passed)
	feed.Lose(to, vendor, strangers)
	return nil
}

// reading is what a table says.
type reading struct {
	machines []intake.Listing
	bad      []intake.Rejection
	passed   int             // rows without accelerators, or of regions that are not wanted
	regions  map[string]bool // all there are
	sold     []string        // the regions of the machines
}

func readTable(in io.Reader, regions []string) (*reading, error) {
	r := csv.NewReader(in)
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("no table: %w", err)
	}
	at := map[string]int{}
	for i, name := range head {
		at[name] = i
	}
	for _, name := range []string{"name", "region", "acceleratorCount", "acceleratorType", "hour", "hourSpot"} {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("no column %s", name)
		}
	}
	out := reading{regions: map[string]bool{}}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return &out, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		cell := func(name string) string {
			if i, ok := at[name]; ok && i < len(row) {
				return strings.Clone(strings.TrimSpace(row[i]))
			}
			return ""
		}
		out.row(cell, len(row) == len(head), line, regions)
	}
}

func (out *reading) row(cell func(string) string, whole bool, line int, regions []string) {
	place := intake.Place{File: "machine-types-regions.csv", Line: line}
	l := intake.Listing{Provider: vendor, InstanceType: cell("name"), Region: cell("region"), Accelerator: cell("acceleratorType"), At: place}
	reject := func(column, want string) {
		out.bad = append(out.bad, intake.Rejection{
			Kind: intake.Malformed, InstanceType: l.InstanceType, Region: l.Region, At: place,
			Args: problem.Args{"Column": column, "Value": cell(column), "Want": want},
		})
	}
	if !whole || l.InstanceType == "" || l.Region == "" {
		reject("name", "name")
		return
	}
	out.regions[l.Region] = true
	count, err := strconv.ParseFloat(cell("acceleratorCount"), 64)
	switch {
	case err != nil || !(count >= 0 && count < 1e4):
		reject("acceleratorCount", "number")
		return
	case count == 0 && l.Accelerator == "", len(regions) > 0 && !slices.Contains(regions, l.Region):
		out.passed++
		return
	}
	l.Count = count
	for i := range machines() { // the table rounds a share of an accelerator
		if m := &machines()[i]; m.name == l.InstanceType {
			l.Count, _ = m.n.Float64()
		}
	}
	if n, err := strconv.ParseFloat(cell("vCpus"), 64); err == nil && n > 0 {
		l.VCPU = unit.Some(n)
	}
	if n, err := strconv.ParseFloat(cell("memoryGiB"), 64); err == nil && n > 0 && n < 1e6 {
		l.RAM = unit.Some(unit.Bytes(n * float64(unit.GiB)))
	}
	for _, c := range columns {
		text := cell(c.name)
		if text == "" {
			continue
		}
		rate, err := feed.Hourly(text, c.hours, money.USD)
		if err != nil {
			reject(c.name, "price")
			return
		}
		if !rate.IsZero() { // not sold in this way
			l.Prices = append(l.Prices, catalog.Price{Mode: c.mode, Hourly: rate, Confidence: catalog.Secondary})
		}
	}
	out.machines, out.sold = append(out.machines, l), append(out.sold, l.Region)
}
