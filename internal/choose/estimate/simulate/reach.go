package simulate

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// kin is what makes a device alike to others.
type kin struct {
	Vendor  string `yaml:"vendor"`
	Arch    string `yaml:"arch"`
	Compute string `yaml:"compute"`
}

// figure is the share of its nominal bandwidth that a solver reached on a device.
type figure struct {
	Device string  `yaml:"device"`
	Share  float64 `yaml:"share"`
	kin    `yaml:",inline"`
}

// family is devices whose names begin alike.
type family struct {
	Prefix string `yaml:"prefix"`
	kin    `yaml:",inline"`
}

// described is a device that benchmarks name and the chip table does not list.
type described struct {
	Device    string  `yaml:"device"`
	MemoryGB  float64 `yaml:"memory_gb"`
	Bandwidth float64 `yaml:"bandwidth_gbs"`
	FP32      float64 `yaml:"fp32"`
	FP64      float64 `yaml:"fp64"`
}

type constants struct {
	AsOf string `yaml:"as_of"`
	// Bandwidth by device.
	Bandwidth struct {
		Figures []figure `yaml:"figures"`
		// Checked is devices that share their bandwidth between data and check bits, and the share that data gets.
		Checked struct {
			Share   float64  `yaml:"share"`
			Devices []string `yaml:"devices"`
		} `yaml:"checked"`
		Source string `yaml:"source"`
	} `yaml:"bandwidth"`
	// Vector is the share of its vector peak that a solver's arithmetic reaches.
	Vector struct {
		Share float64 `yaml:"share"`
		// HalfIntegers is compute capabilities and architectures that do integers at half of their listed FP32 rate.
		HalfIntegers []string `yaml:"half_integers"`
		Source       string   `yaml:"source"`
	} `yaml:"vector"`
	// Names is other names that benchmarks print for devices of the chip table.
	Names        map[string]string `yaml:"names"`
	Families     []family          `yaml:"families"`
	Devices      []described       `yaml:"devices"`
	Lattice      Lattice           `yaml:"lattice"`
	Applications []Application     `yaml:"applications"`
}

var embedded = estimate.Embedded[constants]("efficiency/simulate.yaml")

// reach is the shares of nominal bandwidth that solvers reach, by device and by what devices have in common. Solvers read and
// write many streams at once, so they fall short of what a chip's reads alone reach.
type reach struct {
	own    map[string]float64
	median map[string]float64 // of devices as though none had check bits
}

var all = sync.OnceValue(func() reach { return reachWithout("") })

// reachWithout leaves the figure of one device out, as though nobody had measured it.
func reachWithout(device string) reach {
	r := reach{own: map[string]float64{}, median: map[string]float64{}}
	members := map[string][]float64{}
	for _, f := range embedded().Bandwidth.Figures {
		if f.Device == device {
			continue
		}
		r.own[f.Device] = f.Share
		for _, k := range f.keys() {
			members[k] = append(members[k], f.Share/unchecked(f.Device))
		}
	}
	for k, v := range members {
		slices.Sort(v)
		r.median[k] = (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	}
	return r
}

// unchecked is the share of its bandwidth that check bits leave a device. Benchmarks name boards of several with their number in
// brackets.
func unchecked(device string) float64 {
	name, _, _ := strings.Cut(device, " (")
	if checked := embedded().Bandwidth.Checked; slices.Contains(checked.Devices, name) {
		return checked.Share
	}
	return 1
}

// keys is what a device has in common with others, nearest first.
func (k kin) keys() []string {
	var out []string
	if k.Compute != "" {
		out = append(out, "compute "+k.Compute)
	}
	if k.Arch != "" {
		out = append(out, "arch "+k.Arch)
	}
	return append(out, "vendor "+k.Vendor, "")
}

// of is the share that a solver reaches on a chip: its own, else the median of the nearest devices with figures, less what check
// bits take of it.
func (r reach) of(a *accelerator.Accelerator) float64 {
	if v, ok := r.own[a.Name]; ok {
		return v
	}
	for _, k := range (kin{a.Vendor, a.Arch, a.Compute}).keys() {
		if v, ok := r.median[k]; ok {
			return v * unchecked(a.Name)
		}
	}
	return r.median[""] * unchecked(a.Name)
}

// IntegerCost is how many operations at a chip's listed FP32 rate an integer operation takes.
func IntegerCost(a *accelerator.Accelerator) float64 {
	if half := embedded().Vector.HalfIntegers; slices.Contains(half, a.Compute) || slices.Contains(half, a.Arch) {
		return 2
	}
	return 1
}

// Renamed is the name that the chip table has for a device that benchmarks name otherwise, else the name itself.
func Renamed(name string) string { return cmp.Or(embedded().Names[name], name) }

// Family is the microarchitecture of a chip, finer than its architecture where makers give one name to several.
func Family(a *accelerator.Accelerator) string {
	if a.Vendor == "NVIDIA" {
		return cmp.Or(a.Compute, a.Arch)
	}
	return a.Arch
}

// Described is a device that the chip table does not list, by the name that a benchmark prints and the figures printed with it
// (bytes/s and FLOP/s; 0 where there are none); nil where not even its vendor is known.
func Described(name string, memory unit.Bytes, bandwidth unit.BytesPerSec, fp32 unit.FLOPS) *accelerator.Accelerator {
	a := &accelerator.Accelerator{Name: name}
	for _, f := range embedded().Families {
		if strings.HasPrefix(name, f.Prefix) {
			a.Vendor, a.Arch, a.Compute = f.Vendor, f.Arch, f.Compute
			break
		}
	}
	if a.Vendor == "" {
		return nil
	}
	for _, d := range embedded().Devices {
		if d.Device == name {
			memory = unit.Bytes(d.MemoryGB * float64(unit.GiB))
			bandwidth, fp32 = unit.BytesPerSec(d.Bandwidth*1e9), unit.FLOPS(d.FP32*1e12)
			a.Peak[accelerator.FP64] = unit.Some(unit.FLOPS(d.FP64 * 1e12))
		}
	}
	if bandwidth > 0 {
		a.Bandwidth = unit.Some(bandwidth)
	}
	if fp32 > 0 {
		a.Peak[accelerator.FP32] = unit.Some(fp32)
	}
	if memory > 0 {
		a.NominalGB = unit.Some(float64(memory) / float64(unit.GiB))
	}
	// Boards without a stated bus are taken to have the usual one of the time.
	a.PCIeGen, a.PCIeLanes = unit.Some(4), unit.Some(16)
	return a
}
