package huawei

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// flavor is a type of machine in a region.
type flavor struct {
	Name  string      `json:"name"`
	VCPU  feed.Number `json:"vcpus"`
	RAM   feed.Number `json:"ram"` // MiB
	Specs struct {
		Kind       string      `json:"ecs:performancetype"`
		OldKind    string      `json:"hws:performancetype"`
		Alias      string      `json:"pci_passthrough:alias"`     // nvidia-p100:1
		GPU        string      `json:"pci_passthrough:gpu_specs"` // m60:direct_graphics:1, m60_1q:virt:1
		GPUName    string      `json:"info:gpu:name"`             // number and name
		AscendName string      `json:"info:ascend:name"`          // number and name
		Status     string      `json:"cond:operation:status"`     // of zones that the next does not name; normal where empty
		Zones      string      `json:"cond:operation:az"`         // az0(normal), az1(sellout)
		MaxRate    feed.Number `json:"quota:max_rate"`            // Mbit/s
	} `json:"os_extra_specs"`
}

func (f *flavor) accelerated() bool {
	s := f.Specs
	kind := s.Kind
	if kind == "" {
		kind = s.OldKind
	}
	return f.Name != "" && (kind == "gpu" || kind == "ascend" || s.Alias != "" || s.GPU != "" || s.GPUName != "" || s.AscendName != "")
}

// zone is one zone's state: abandon is no longer sold, sellout is sold out.
var zone = regexp.MustCompile(`([^\s,()]+)\(([a-z]+)\)`)

// states are those of the zones that are named, and the one of all others.
func (f *flavor) states() (zones []string, rest string) {
	for _, m := range zone.FindAllStringSubmatch(f.Specs.Zones, -1) {
		zones = append(zones, m[2])
	}
	if rest = f.Specs.Status; rest == "" {
		rest = "normal"
	}
	return zones, rest
}

func sold(state string) bool { return state == "normal" || state == "promotion" || state == "obt" }

// gone says whether a flavor is no longer sold in any zone.
func (f *flavor) gone() bool {
	zones, rest := f.states()
	for _, z := range zones {
		if z != "abandon" {
			return false
		}
	}
	return rest == "abandon"
}

func (f *flavor) inStock() bool {
	zones, rest := f.states()
	for _, z := range zones {
		if sold(z) {
			return true
		}
	}
	return sold(rest)
}

var (
	// counted is a number and a name, as in 8 * NVIDIA A100 / 8 * 40 GB.
	counted = regexp.MustCompile(`^\s*(\d{1,2})\s*[*x×]\s*([^/]+)`)
	// memory is that of one, as it stands after the name; the number before it is that of GPUs once more.
	memory = regexp.MustCompile(`/\s*(?:\d{1,2}\s*[*x×]\s*)?(\d{1,3})\s*Gi?B?\b`)
	// alias is a name and a number: nvidia-p100:1.
	alias = regexp.MustCompile(`^([^:]+):(?:[^:]*:)?(\d{1,2})$`)
)

// chips are what a flavor says of its accelerators; 0 is not stated. A virtual GPU is a share that is not stated either.
func (f *flavor) chips() (name string, count, mib float64) {
	for _, text := range []string{f.Specs.GPUName, f.Specs.AscendName} {
		if m := counted.FindStringSubmatch(text); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits only
			if size := memory.FindStringSubmatch(text); size != nil {
				gib, _ := strconv.Atoi(size[1])
				mib = float64(gib) * 1024
			}
			return strings.TrimSpace(m[2]), float64(n), mib
		}
	}
	for _, text := range []string{f.Specs.Alias, f.Specs.GPU} {
		if m := alias.FindStringSubmatch(text); m != nil && !strings.Contains(text, ":virt:") {
			n, _ := strconv.Atoi(m[2])
			return m[1], float64(n), 0
		}
	}
	return "", 0, 0
}

// emit adds a flavor, without a price where it has none.
func (f *flavor) emit(region string, rate money.Rate, to feed.Sink) {
	l := intake.Listing{
		Provider: vendor, InstanceType: f.Name, Region: region, VCPU: f.VCPU.Size(), RAM: f.RAM.Bytes(1 << 20),
		Hints: []string{f.Specs.GPUName, f.Specs.AscendName, f.Specs.Alias, f.Specs.GPU}, At: intake.Place{File: region + " " + f.Name},
	}
	l.Accelerator, l.Count, l.MiB = f.chips()
	if gbps, ok := f.Specs.MaxRate.Size().Get(); ok {
		l.NetworkGbps = unit.Some(gbps / 1000)
	}
	if !rate.IsZero() {
		stock := catalog.SoldOut
		if f.inStock() {
			stock = catalog.InStock
		}
		l.Prices = []catalog.Price{{Mode: catalog.OnDemand, Hourly: rate, Confidence: catalog.Listed, Flags: []catalog.Flag{stock}}}
	}
	to.Add(l)
}
