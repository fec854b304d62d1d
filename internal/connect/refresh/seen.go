package refresh

import (
	"context"
	"slices"
	"time"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/store"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// longestGap is the longest time between two readings over which a machine that was there both times is taken to have been there
// throughout. Over longer ones nothing is concluded.
const longestGap = 24 * time.Hour

// manyFetches bounds how many readings are looked back at: those of half a year, one an hour.
const manyFetches = 4400

// watched is for how long the snapshot in force was watched: the time between readings that found it unchanged, and up to this one,
// gaps that are too long left out; last is the part of it since the reading before this one, since the ISO day of the first.
type watched struct {
	whole, last unit.Hours
	since       string
}

func (r *runner) watched(ctx context.Context) (w watched, err error) {
	fetches, err := r.db.Fetches(ctx, r.job.Name, manyFetches)
	if err != nil {
		return w, err
	}
	next, first := r.o.Now(), true
	for _, f := range fetches { // the newest first
		if f.Outcome == store.Failed {
			continue
		}
		if f.Snapshot != r.last.Snapshot {
			break
		}
		if gap := next.Sub(f.Finished); gap > 0 && gap <= longestGap {
			w.whole += unit.Hours(gap.Hours())
			if first {
				w.last = unit.Hours(gap.Hours())
			}
		}
		next, first, w.since = f.Finished, false, f.AsOf
	}
	return w, nil
}

// spotKey is a type of machine in a region.
type spotKey struct{ provider, region, instanceType string }

// stocked says, of each type whose seller says what is in stock, whether any spot machine was to be had in a region.
func stocked(s *catalog.Snapshot) map[spotKey]bool {
	stock := map[spotKey]bool{}
	for i := range s.Rows {
		r := &s.Rows[i]
		in, out := slices.Contains(r.Price.Flags, catalog.InStock), slices.Contains(r.Price.Flags, catalog.SoldOut)
		if r.Price.Mode != catalog.Spot || !in && !out || r.Price.AsOf != s.AsOf { // a price that was carried over says nothing of now
			continue
		}
		key := spotKey{r.Provider, r.Region, r.InstanceType}
		stock[key] = stock[key] || in
	}
	return stock
}

// sightings adds what this reading says of spot machines to what was seen before: one that was in stock and is not has been lost,
// somewhere between the two readings. Of a part that this reading lost it is only known how it was up to the one before.
func sightings(before, now *catalog.Snapshot, lost []Loss, w watched, source string) []provider.Seen {
	was, is := stocked(before), stocked(now)
	seen := slices.Clone(before.Seen)
	at := map[spotKey]int{}
	for i, s := range seen {
		at[spotKey{s.Provider, s.Region, s.InstanceType}] = i
	}
	for key, in := range was {
		hours, losses := w.whole, 0
		if has, read := is[key]; !read && slices.ContainsFunc(lost, func(l Loss) bool { return l.holds(key.provider, key.region) }) {
			hours -= w.last
		} else if !has && w.last > 0 {
			hours -= w.last / 2
			losses = 1
		}
		if !in || hours <= 0 {
			continue
		}
		i, known := at[key]
		if !known {
			i = len(seen)
			seen = append(seen, provider.Seen{Provider: key.provider, Region: key.region, InstanceType: key.instanceType, Since: w.since, Source: source})
		}
		seen[i].Hours += hours
		seen[i].Losses += losses
	}
	return seen
}
