package provider

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// Seen is how spot machines of a type in a region came and went while a source was read again and again that says what is in stock.
// That none is to be had is taken for the loss of those that run: sellers take machines back when they run out of them.
type Seen struct {
	Provider, Region, InstanceType string
	Hours                          unit.Hours // in stock, between readings no more than a day apart
	Losses                         int        // from one of these to the next it was gone
	Since                          string     // ISO day of the first
	Source                         string
}

// seenColumns are those of a file of Seen.
var seenColumns = []string{"provider", "region", "instance_type", "hours", "losses", "since", "source"}

// WriteSeen writes sightings in the form ReadSeen reads, sorted.
func WriteSeen(w io.Writer, seen []Seen) error {
	seen = slices.Clone(seen)
	slices.SortFunc(seen, func(a, b Seen) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Region, b.Region), strings.Compare(a.InstanceType, b.InstanceType))
	})
	cw := csv.NewWriter(w)
	_ = cw.Write(seenColumns) // an error stays with the writer until the end
	for _, s := range seen {
		hours := strconv.FormatFloat(float64(s.Hours), 'f', 4, 64)
		_ = cw.Write([]string{s.Provider, s.Region, s.InstanceType, hours, strconv.Itoa(s.Losses), s.Since, s.Source})
	}
	cw.Flush()
	return cw.Error()
}

// ReadSeen reads a file of sightings. All faults are reported together.
func ReadSeen(file string, data []byte) ([]Seen, error) {
	s := &sheet{file: file}
	var out []Seen
	s.each(data, seenColumns, func(r row) {
		out = append(out, Seen{
			Provider: r.need("provider"), Region: r.text("region"), InstanceType: r.need("instance_type"),
			Hours: unit.Hours(r.number("hours", 0, 1e7).Or(0)), Losses: int(r.number("losses", 0, 1e7).Or(0)), Since: r.date("since"), Source: r.need("source"),
		})
	})
	return out, s.faults.OrNil()
}

// leastSeen is how long a type has to have been watched, in stock, for its losses to be worth more than those of others: a week.
const leastSeen unit.Hours = 168

// perHour is the rate of losses, with half a loss more than were seen: none in a week is not never.
func (s *Seen) perHour() float64 { return (float64(s.Losses) + 0.5) / float64(s.Hours) }

func (s *Seen) cite() string {
	return fmt.Sprintf("%s, read since %s: %d times gone in %.0f h in stock", s.Source, s.Since, s.Losses, float64(s.Hours))
}

// WithSeen gives the table with what was seen of spot machines.
func (t *Table) WithSeen(seen []Seen) *Table {
	if len(seen) == 0 {
		return t
	}
	out := *t
	out.seen = make(map[hazardKey]*Seen, len(t.seen)+len(seen))
	for k, s := range t.seen {
		out.seen[k] = s
	}
	for i := range seen {
		s := &seen[i]
		key := hazardKey{s.Provider, s.Region, s.InstanceType}
		if have := out.seen[key]; have == nil || s.Hours > have.Hours {
			out.seen[key] = s
		}
	}
	return &out
}
