package simulate

import (
	"github.com/rackrate/rackrate/internal/choose/workload"
)

// Lattice is what one update of a cell of a D3Q19 lattice takes.
type Lattice struct {
	// Cells is the edge of the cube that each device holds.
	Cells int `yaml:"cells"`
	// Populations cross a cut between devices, of those that a cell has.
	Populations float64 `yaml:"populations"`
	// Hops is how often they cross the bus before the neighbour has them.
	Hops    float64            `yaml:"hops"`
	Storage map[string]Storage `yaml:"storage"`
	Source  string             `yaml:"source"`
}

// Storage is a format that populations are kept in.
type Storage struct {
	Bytes      float64 `yaml:"bytes"`      // of a population
	Traffic    float64 `yaml:"traffic"`    // bytes read and written a cell
	FLOPs      float64 `yaml:"flops"`      // a cell
	Conversion float64 `yaml:"conversion"` // integer operations a cell that unpack and pack the format
	Held       float64 `yaml:"held"`       // bytes of memory a cell
}

// D3Q19 is the lattice of FluidX3D's benchmark.
func D3Q19() Lattice { return embedded().Lattice }

// Application is the published runs of one case of an application.
type Application struct {
	Name      string  `yaml:"name"`
	Case      string  `yaml:"case"`
	Interface string  `yaml:"interface"` // what it is programmed in, where that tells runs apart
	Precision string  `yaml:"precision"` // of its arithmetic
	Bound     mixture `yaml:"bound"`
	// Runs is the figure by device; Rate says whether a higher one is faster.
	Runs   map[string]float64 `yaml:"runs"`
	Rate   bool               `yaml:"rate"`
	Source string             `yaml:"source"`
	AsOf   string             `yaml:"as_of"`
}

type mixture struct {
	Compute float64 `yaml:"compute"`
	Memory  float64 `yaml:"memory"`
	Host    float64 `yaml:"host"`
}

// Mix is where the time of the case goes on one device.
func (a *Application) Mix() workload.Mix {
	return workload.Mix{Compute: a.Bound.Compute, Memory: a.Bound.Memory, Host: a.Bound.Host}
}

// Applications is every case with published runs on more devices than one.
func Applications() []Application { return embedded().Applications }
