package deadline

import (
	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// market is zones at a price of 1 for traces such as "++-+", with on-demand at so many times that. Its ticks are hours.
func market(ratio int64, traces ...string) *Market {
	m := &Market{Gap: 1, OnDemand: money.PerHour(ratio*1e9, money.USD)}
	for _, trace := range traces {
		z := Zone{Name: trace, Price: []int64{1e9}}
		for _, c := range trace {
			z.Up = append(z.Up, c == '+')
		}
		m.Zones = append(m.Zones, z)
	}
	return m
}

// anyMarket draws a market of some zones with spells of all lengths and prices that may change.
func anyMarket(r *rapid.T, ticks, zones int) *Market {
	m := &Market{Gap: 0.1, OnDemand: money.PerHour(rapid.Int64Range(1, 5).Draw(r, "on-demand"), money.USD)}
	for range rapid.IntRange(1, zones).Draw(r, "zones") {
		z := Zone{Price: []int64{rapid.Int64Range(1, 4).Draw(r, "price")}}
		up := rapid.Bool().Draw(r, "up")
		for len(z.Up) < ticks {
			for range rapid.IntRange(1, 8).Draw(r, "spell") {
				z.Up = append(z.Up, up)
			}
			up = !up
		}
		if rapid.Bool().Draw(r, "prices change") {
			z.Price = rapid.SliceOfN(rapid.Int64Range(1, 6), len(z.Up), len(z.Up)).Draw(r, "prices")
		}
		m.Zones = append(m.Zones, z)
	}
	return m
}

// anyJob draws a job that on-demand instances finish in time.
func anyJob(r *rapid.T, work int) Job {
	j := Job{Work: rapid.IntRange(1, work).Draw(r, "work"), Overhead: rapid.IntRange(0, 3).Draw(r, "overhead")}
	j.Deadline = j.Work + j.Overhead + rapid.IntRange(0, work).Draw(r, "slack")
	return j
}

// work48 is the work of the published comparison: 48 hours, with a share of them as slack.
func work48(slack float64) Ask {
	return Ask{Work: 48, Overhead: 0.2, Deadline: unit.Hours(48 * (1 + slack))}
}
