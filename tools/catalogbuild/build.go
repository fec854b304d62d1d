package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"

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
	files, err := encode(c)
	b.report.count(c)
	return files, b.report, err
}

// check refuses to write a catalog with faults and marks the prices that Verify doubts for reasons that last.
func (b *builder) check(c *catalog.Catalog) error {
	lasting := []catalog.FaultKind{catalog.FallingPrice, catalog.SamePrice, catalog.SpotTenth}
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
		if slices.Contains(lasting, f.Kind) {
			k := key{f.Provider, f.InstanceType, f.Region, f.Zone, f.Mode}
			doubt[k] = append(doubt[k], catalog.Flag(f.Kind))
		}
	}
	for _, o := range c.Offers {
		for i := range o.Prices {
			p := &o.Prices[i]
			if add := doubt[key{o.Provider, o.InstanceType, o.Region, o.Zone, p.Mode}]; len(add) > 0 {
				p.Flags = withFlags(p.Flags, add...)
			}
		}
	}
	return nil
}

func encode(c *catalog.Catalog) (map[string][]byte, error) {
	files := map[string][]byte{}
	var buf bytes.Buffer
	keep := func(name string, err error) error {
		files[name] = bytes.Clone(buf.Bytes())
		buf.Reset()
		return err
	}
	if err := keep("machines.csv", catalog.WriteMachines(&buf, c.Machines)); err != nil {
		return nil, err
	}
	if err := keep("sources.csv", catalog.WriteSources(&buf, c.Sources)); err != nil {
		return nil, err
	}
	byProvider := map[string][]catalog.Row{}
	for _, o := range c.Offers {
		row := catalog.Row{Machine: o.Machine, Region: o.Region, Zone: o.Zone}
		if len(o.Prices) == 0 {
			byProvider[o.Provider] = append(byProvider[o.Provider], row)
		}
		for _, row.Price = range o.Prices {
			byProvider[o.Provider] = append(byProvider[o.Provider], row)
		}
	}
	for provider, rows := range byProvider {
		if err := keep("prices/"+provider+".csv", catalog.WritePrices(&buf, rows)); err != nil {
			return nil, err
		}
	}
	return files, nil
}
