package accelerator

// Selector is the GPU grammar people know: a name, a memory size or range, and a count or range, as in
// H100:8, H100-SXM, 80GB..:1..8, 24GB..80GB.
type Selector struct {
	Text string // as written
	// Chips that the name matches; nil when no name was given. Form factors are never merged: H100 lists all three.
	Chips []*Accelerator
	// MinGB and MaxGB bound the nominal memory, inclusive; 0 is open.
	MinGB, MaxGB float64
	// MinCount and MaxCount bound the accelerators of one machine, inclusive; 0 is open.
	MinCount, MaxCount float64
}

// Matches says whether a chip, so many in one machine, is meant. A chip of unknown memory never matches a memory bound.
func (s Selector) Matches(a *Accelerator, count float64) bool {
	if !s.MatchesChip(a) {
		return false
	}
	return (s.MinCount == 0 || count >= s.MinCount) && (s.MaxCount == 0 || count <= s.MaxCount)
}

// MatchesChip is Matches without the count.
func (s Selector) MatchesChip(a *Accelerator) bool {
	if s.Chips != nil {
		found := false
		for _, c := range s.Chips {
			found = found || c == a
		}
		if !found {
			return false
		}
	}
	if s.MinGB == 0 && s.MaxGB == 0 {
		return true
	}
	gb, ok := a.NominalGB.Get()
	return ok && (s.MinGB == 0 || gb >= s.MinGB) && (s.MaxGB == 0 || gb <= s.MaxGB)
}
