package main

import (
	"fmt"
	"io/fs"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// steps run in this order: a later source fills what an earlier one left unknown.
var steps = []func(*builder) error{
	(*builder).aws, (*builder).azure, (*builder).gcp, (*builder).alibaba, (*builder).tencent,
	(*builder).skypilot, (*builder).quotes, (*builder).serverless, (*builder).facts,
}

// build reads every source and gives the data files by their path below data/.
func build(src fs.FS) (map[string][]byte, *report, error) {
	b := newBuilder(src, accelerator.Embedded())
	for _, step := range steps {
		if err := step(b); err != nil {
			return nil, nil, err
		}
	}
	c := catalog.New(b.sortedMachines(), b.finalRows(), usedSources(b))
	if err := b.check(c); err != nil {
		return nil, nil, err
	}
	files, err := (&catalog.Snapshot{Machines: c.Machines, Rows: c.Rows(), Sources: c.Sources}).Files()
	b.report.count(c)
	return files, b.report, err
}

// check refuses to write a catalog with faults and marks the prices that Verify doubts for reasons that last.
func (b *builder) check(c *catalog.Catalog) error {
	type key struct {
		provider, instanceType, region, zone string
		mode                                 catalog.BillingMode
	}
	doubt := map[key][]catalog.Flag{}
	for _, f := range catalog.Verify(c, c.AsOf) {
		b.report.faults[string(f.Severity)+" "+string(f.Kind)]++
		if f.Severity == catalog.IsError {
			return fmt.Errorf("%s %s %s %s: %s %v", f.Provider, f.InstanceType, f.Region, f.Mode, f.Kind, f.Args)
		}
		if f.Kind.Lasts() {
			k := key{f.Provider, f.InstanceType, f.Region, f.Zone, f.Mode}
			doubt[k] = append(doubt[k], catalog.Flag(f.Kind))
		}
	}
	for _, o := range c.Offers {
		for i := range o.Prices {
			p := &o.Prices[i]
			if add := doubt[key{o.Provider, o.InstanceType, o.Region, o.Zone, p.Mode}]; len(add) > 0 {
				p.Flags = catalog.WithFlags(p.Flags, add...)
			}
		}
	}
	return nil
}
