package provider

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// Band is how often a provider takes its spot machines of a type away in a region: the share reclaimed in a month.
type Band struct {
	Provider, Region, InstanceType string
	Range                          string              // "<5", "5-10", "10-15", "15-20" or ">20" per cent
	Savings                        unit.Maybe[float64] // off the list price, per cent, as printed
	AsOf, Source                   string
}

// Ranges lists the ranges of a Band from rare to frequent.
func Ranges() []string { return []string{"<5", "5-10", "10-15", "15-20", ">20"} }

// WriteBands writes bands in the form ReadBands reads, sorted; date may shorten a day.
func WriteBands(w io.Writer, bands []Band, date func(string) string) error {
	bands = slices.Clone(bands)
	slices.SortFunc(bands, func(a, b Band) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Region, b.Region), strings.Compare(a.InstanceType, b.InstanceType))
	})
	cw := csv.NewWriter(w)
	_ = cw.Write(hazardColumns) // an error stays with the writer until the end
	for _, b := range bands {
		savings := ""
		if v, ok := b.Savings.Get(); ok {
			savings = strconv.FormatFloat(v, 'f', -1, 64)
		}
		_ = cw.Write([]string{b.Provider, b.Region, b.InstanceType, b.Range, savings, date(b.AsOf), b.Source})
	}
	cw.Flush()
	return cw.Error()
}

// ReadBands reads a file of bands; a row without a date is of the day asOf. All faults are reported together.
func ReadBands(file string, data []byte, asOf string) ([]Band, error) {
	s := &sheet{file: file}
	var out []Band
	s.each(data, hazardColumns, func(r row) { out = append(out, r.band(asOf)) })
	return out, s.faults.OrNil()
}

func (r row) band(asOf string) Band {
	b := Band{
		Provider: r.need("provider"), Region: r.need("region"), InstanceType: r.need("instance_type"), Range: r.text("band"),
		Savings: r.number("savings_percent", -100, 100), // the advisor has printed one below zero; kept as printed
		AsOf:    asOf, Source: r.need("source"),
	}
	if _, ok := monthlyBands[b.Range]; !ok {
		r.bad("band", strings.Join(Ranges(), "|"))
	}
	if asOf == "" || r.text("as_of") != "" {
		b.AsOf = r.date("as_of")
	}
	return b
}

func (t *Table) addHazard(r row) {
	b := r.band("")
	if t.byID[b.Provider] == nil {
		r.bad("provider", "providers.csv")
	}
	if !t.addBand(b) {
		r.fault("data.duplicate", problem.Args{"Key": strings.Join([]string{b.Provider, b.Region, b.InstanceType}, " ")})
	}
}

// addBand files a band and, under no region, the worst of all regions; false where there is one for that machine and place.
func (t *Table) addBand(b Band) bool {
	key := hazardKey{b.Provider, b.Region, b.InstanceType}
	_, there := t.hazards[key]
	h := hazard{monthly: monthlyBands[b.Range], source: b.Source, asOf: b.AsOf, band: b.Range}
	t.hazards[key] = h
	key.region = ""
	if worst, seen := t.hazards[key]; !seen || h.monthly > worst.monthly {
		t.hazards[key] = h
	}
	return !there
}

// WithBands gives the table with newer bands: of a provider's region that they speak of, they are all there is.
func (t *Table) WithBands(bands []Band) *Table {
	if len(bands) == 0 {
		return t
	}
	type place struct{ provider, region string }
	newer := map[place]bool{}
	for _, b := range bands {
		newer[place{b.Provider, b.Region}] = true
	}
	out := *t
	out.hazards = make(map[hazardKey]hazard, len(t.hazards)+len(bands))
	for k, h := range t.hazards {
		if k.region != "" && !newer[place{k.provider, k.region}] {
			out.addBand(Band{Provider: k.provider, Region: k.region, InstanceType: k.instanceType, Range: h.band, AsOf: h.asOf, Source: h.source})
		}
	}
	for _, b := range bands {
		if _, known := monthlyBands[b.Range]; known {
			out.addBand(b)
		}
	}
	return &out
}
