package workload

import (
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// Facts is what reading a workload needs to know of the world. Every function is pure and safe to call from
// several goroutines; none is nil. An error that is a problem.Error keeps its code and gains its place in the
// input; any other error is reported as an unknown name.
type Facts struct {
	// Model finds a model by a name people write, the hub's organisation/name included.
	Model func(name string) (*model.Model, error)
	// ModelConfig counts a model from its config.json.
	ModelConfig func(name string, data []byte) (*model.Model, error)
	// Format finds a stored number format.
	Format func(text string) (model.FormatInfo, error)
	// Chip finds exactly one chip; a name that several form factors share is an error that lists them.
	Chip func(text string) (*accelerator.Accelerator, error)
	// Selectors reads the GPU grammar.
	Selectors func(text string) ([]accelerator.Selector, error)

	Provider      Lookup // provider ids
	Place         Lookup // region ids, countries and groups of countries
	Residency     Lookup // laws that a region can be under
	Certification Lookup
	Framework     Lookup
	Stack         Lookup // software stacks of accelerators: CUDA, ROCm …
	Need          Lookup // software features

	// Laws lists the laws that any region in a place is under; false where that is not known.
	Laws func(place string) ([]string, bool)
	// Currency says whether amounts in a currency can be compared with prices.
	Currency func(code money.Currency) bool
}

// Lookup finds the canonical form of a name; where it is not known it gives what was probably meant, best first.
type Lookup func(text string) (canonical string, suggest []string, ok bool)
