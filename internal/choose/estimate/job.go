package estimate

import (
	"slices"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// Job is a workload prepared for estimating on many groups. Implementations live in a folder per kind; they are
// safe for concurrent use and allocate little, since a search asks them hundreds of thousands of times.
type Job interface {
	// Best is the fastest layout of the job on the group, or the reason there is none (of the layouts that
	// fail, the one that misses memory by the least). It also says how many layouts were looked at.
	Best(g Group) (Estimate, *Refusal, int)
	// Service says that the work is a stream to keep up with, not an amount to finish: Best then sizes a
	// replica and Serving says how many the traffic needs.
	Service() bool
	// Independent says that the work is cut into pieces that do not talk to each other, so that machines
	// need no fast network between them.
	Independent() bool
}

// Collect builds Memory from parts, dropping empty ones, largest first.
func Collect(capacity unit.Bytes, parts ...Part) Memory {
	m := Memory{Capacity: capacity, Parts: make([]Part, 0, len(parts))}
	for _, p := range parts {
		if p.Bytes > 0 {
			m.Parts = append(m.Parts, p)
			m.Used += p.Bytes
		}
	}
	slices.SortStableFunc(m.Parts, func(a, b Part) int {
		switch {
		case a.Bytes > b.Bytes:
			return -1
		case a.Bytes < b.Bytes:
			return 1
		}
		return 0
	})
	return m
}

// Fractions turns seconds spent on each resource into shares that sum to 1.
func (s Shares) Fractions() Shares {
	total := s.Compute + s.Memory + s.Link + s.Network + s.Bubble + s.Input + s.Overhead
	if total <= 0 {
		return Shares{}
	}
	return Shares{s.Compute / total, s.Memory / total, s.Link / total, s.Network / total, s.Bubble / total, s.Input / total, s.Overhead / total}
}

// Power is the mean share of a chip's power range that work of these shares draws: nearly all while it computes or
// streams memory, less than half while it waits for a link, a bubble or its input. Round figures: DCGM traces
// of training jobs show 85 to 95 per cent of board power when busy.
func (s Shares) Power() float64 {
	return 0.9*(s.Compute+s.Memory) + 0.4*(s.Link+s.Network+s.Bubble+s.Input+s.Overhead)
}
