package tco

import (
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/assumption"
)

// Buy is what a file says of machines to be bought: which, how many, where. Its prices are assumptions that hold for them.
type Buy struct {
	Name    string
	Chip    *accelerator.Accelerator
	PerNode int // accelerators a machine
	// Machines is how many; 0 is as many as the work needs.
	Machines int
	Country  string // ISO 3166-1 alpha-2; empty where it is not said
	Given    []*assumption.Assumption
	File     string
	// MachinesLine is where the number of machines stands in the file; 0 where it is not given.
	MachinesLine int
}

// BuyKey is one key of the file.
type BuyKey struct {
	Name, Example string
	Required      bool
	// Family is the assumption that the key gives; empty for the keys that say which machines.
	Family string
}

// buyKeys are the keys, in the order of the template.
var buyKeys = []BuyKey{
	{Name: "name", Example: "Our own H100 servers"},
	{Name: "accelerator", Example: "H100-SXM-80GB", Required: true},
	{Name: "accelerators", Example: "8"},
	{Name: "machines", Example: "1"},
	{Name: "country", Example: "US"},
	{Name: "capex", Family: assumption.BuyCapex},
	{Name: "life", Family: assumption.BuyLife},
	{Name: "residual", Family: assumption.BuyResidual},
	{Name: "power", Family: assumption.BuyPower},
	{Name: "pue", Family: assumption.BuyPUE},
	{Name: "tariff", Family: assumption.Tariff},
	{Name: "rack", Family: assumption.BuyRack},
	{Name: "network", Family: assumption.BuyNetwork},
	{Name: "spares", Family: assumption.BuySpares},
	{Name: "staff", Family: assumption.BuyStaff},
	{Name: "storage", Family: assumption.BuyStorage},
	{Name: "traffic", Family: assumption.BuyTraffic},
	{Name: "cost_of_capital", Family: assumption.BuyCapital},
}

// BuyKeys lists the keys of a file of machines to buy, with an example each.
func BuyKeys() []BuyKey {
	out := make([]BuyKey, len(buyKeys))
	for i, k := range buyKeys {
		if out[i] = k; k.Family != "" {
			out[i].Example = assumption.FamilyOf(k.Family).Example
		}
	}
	return out
}

// mostAccelerators and mostMachines bound what a file may ask for.
const (
	mostAccelerators = 72 // of one machine: a rack that is one NVLink domain
	mostMachines     = 100_000
)

// ParseBuy reads the file strictly: every fault comes with its line.
func ParseBuy(name string, data []byte, names assumption.Names) (*Buy, error) {
	entries, faults := assumption.ReadLines(name, data)
	b := &Buy{PerNode: 8, File: name}
	seen := map[string]bool{}
	for _, e := range entries {
		seen[e.Key] = true
		if err := b.set(e, names); err != nil {
			for _, fault := range problem.All(err) {
				faults = append(faults, fault.At(name, e.Line))
			}
		}
	}
	for _, k := range buyKeys {
		if k.Required && !seen[k.Name] && len(entries) > 0 {
			faults = append(faults, problem.New(problem.Input, "workload.missing", problem.Args{"Key": k.Name, "Kind": "", "Example": k.Example}).At(name, 1))
		}
	}
	return b, faults.OrNil()
}

// set takes one line.
func (b *Buy) set(e assumption.Entry, names assumption.Names) error {
	var key *BuyKey
	var known []string
	for i := range buyKeys {
		known = append(known, buyKeys[i].Name)
		if buyKeys[i].Name == e.Key {
			key = &buyKeys[i]
		}
	}
	switch {
	case key == nil:
		return problem.New(problem.Input, "workload.unknown_key", problem.Args{"Key": e.Key, "Kind": ""}).With(problem.Nearest(e.Key, known, 3)...)
	case key.Family != "":
		f := assumption.FamilyOf(key.Family)
		v, fault := f.Parse(e.Key, e.Text)
		if fault != nil {
			return fault
		}
		b.Given = append(b.Given, &assumption.Assumption{Family: f, Value: v, Text: e.Text, File: b.File, Line: e.Line})
		return nil
	case e.Text == "":
		return problem.New(problem.Input, "workload.empty_value", problem.Args{"Key": e.Key, "Type": "text", "Example": key.Example})
	}
	var err error
	switch e.Key {
	case "name":
		b.Name = e.Text
	case "accelerator":
		b.Chip, err = names.Chips.One(e.Text)
	case "accelerators":
		b.PerNode, err = whole(e, mostAccelerators)
	case "machines":
		b.Machines, err = whole(e, mostMachines)
		b.MachinesLine = e.Line
	case "country":
		b.Country, err = assumption.Country(names.Providers, e.Text)
	}
	return err
}

func whole(e assumption.Entry, most int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(e.Text))
	switch {
	case err != nil:
		return 0, problem.New(problem.Input, "workload.bad_value", problem.Args{"Key": e.Key, "Value": e.Text, "Type": "integer", "Example": "8"})
	case n < 1 || n > most:
		return 0, problem.New(problem.Input, "workload.out_of_bounds", problem.Args{"Key": e.Key, "Value": e.Text, "Min": "1", "Max": strconv.Itoa(most)})
	}
	return n, nil
}
