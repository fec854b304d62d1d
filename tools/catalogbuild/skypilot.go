package main

import (
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// skyPilotSource is one file in SkyPilot's format and what is peculiar about it.
type skyPilotSource struct {
	provider, path string
	commit         string // of skypilot-catalog; empty for the dated copies of another catalog
	// asOf is the oldest day the evidence allows where the file is undated, so that a price never looks fresher than
	// it may be: schema v5 is described on 2023-06-15, v6 appears on 2024-12-13, v8 after 2025-08-25; Mithril and
	// Verda were first proposed on 2025-11-03 and 2025-12-02 (dates of the catalog's public pull requests).
	asOf string
}

const (
	sinceV5 = "2023-06-15"
	sinceV6 = "2024-12-13"
	sinceV8 = "2025-08-25"
)

func (f skyPilotSource) source() string {
	if f.commit == "" {
		return "anycloud"
	}
	return "skypilot-" + f.provider
}

// skyPilotFiles are all files taken. Left out: slurm, a template; AWS, Azure and GCP, which have better sources.
var skyPilotFiles = []skyPilotSource{
	{provider: "lambda", path: "anycloud/lambda/vms.csv", asOf: "2026-05-07"},
	{provider: "vast", path: "anycloud/vast/vms.csv", asOf: "2026-04-29"},
	{provider: "ibm", path: "skypilot/v5/ibm/vms.csv", commit: "6cd128a59e84c66224f42d960f1c72e0662e7c72", asOf: sinceV5},
	{provider: "digitalocean", path: "skypilot/v6/do/vms.csv", commit: "1fbe7331dd1f13d70ac4f249bb7ee7a659fc6b6a", asOf: sinceV6},
	{provider: "fluidstack", path: "skypilot/v6/fluidstack/vms.csv", commit: "002403bca05e2ab5110637448f3b1654c983d5d5", asOf: sinceV6},
	{provider: "ovhcloud", path: "skypilot/v6/ovhcloud/vms.csv", commit: "8a258f54356e9a8c3a08083f1eebc169a4078d1c", asOf: sinceV6},
	{provider: "paperspace", path: "skypilot/v6/paperspace/vms.csv", commit: "e520054145d1bce6748bcf18c9a25ddd6ea9a348", asOf: sinceV6},
	{provider: "runpod", path: "skypilot/v6/runpod/vms.csv", commit: "098741e70562f65d7af1cceb81e33b284f742604", asOf: sinceV6},
	{provider: "scaleway", path: "skypilot/v6/scaleway/vms.csv", commit: "1fbe7331dd1f13d70ac4f249bb7ee7a659fc6b6a", asOf: sinceV6},
	{provider: "simplepod", path: "skypilot/v7/simplepod/vms.csv", commit: "1010b7594439e103435466844552cf3580460085", asOf: sinceV6},
	{provider: "cudo", path: "skypilot/v8/cudo/vms.csv", commit: "113567a74b2f208af08e0c9236e26cc354a2bf65", asOf: sinceV8},
	{provider: "daytona", path: "skypilot/v8/daytona/vms.csv", commit: "0eb5da57210acb5149367bd2b2f23237591aa2f5", asOf: sinceV8},
	{provider: "hyperbolic", path: "skypilot/v8/hyperbolic/vms.csv", commit: "0082b0435f3912ae4c566856b272455cc78f4f61", asOf: sinceV8},
	{provider: "hyperstack", path: "skypilot/v8/hyperstack/vms.csv", commit: "fdc9d908ab0b2af9f468f139fb3f662c8c6b3257", asOf: sinceV8},
	{provider: "jarvislabs", path: "skypilot/v8/jarvislabs/vms.csv", commit: "57d65781a544958d7d07014f062f7d1cad8415a7", asOf: sinceV8},
	{provider: "lambda", path: "skypilot/v8/lambda/vms.csv", commit: "0f4070387edc953d7004cff197940e1918a1d6aa", asOf: sinceV8},
	{provider: "lium", path: "skypilot/v8/lium/vms.csv", commit: "04a03aee12247fb62be7a2ee9d460bbf6dff30b1", asOf: sinceV8},
	{provider: "mithril", path: "skypilot/v8/mithril/vms.csv", commit: "1f9eb0c264f9a6d78833766f4b18353ac7dfdde9", asOf: "2025-11-03"},
	{provider: "nebius", path: "skypilot/v8/nebius/vms.csv", commit: "0082b0435f3912ae4c566856b272455cc78f4f61", asOf: sinceV8},
	{provider: "oci", path: "skypilot/v8/oci/vms.csv", commit: "0588751183820cf2dab5c8a89447e8aac9f73fd5", asOf: sinceV8},
	{provider: "primeintellect", path: "skypilot/v8/primeintellect/vms.csv", commit: "d9a304ea01e96cd4a043159c60d9326d8de4cf0f", asOf: sinceV8},
	{provider: "seeweb", path: "skypilot/v8/seeweb/vms.csv", commit: "004a1aef76542bb40d12fcedaaf091551ddf5fb4", asOf: sinceV8},
	{provider: "spheron", path: "skypilot/v8/spheron/vms.csv", commit: "38989832381639474084a75fd97e82a4290070ea", asOf: sinceV8},
	{provider: "vast", path: "skypilot/v8/vast/vms.csv", commit: "01b8cdda287814b30ff0acb49746cca19fbd4355", asOf: sinceV8},
	{provider: "verda", path: "skypilot/v8/verda/vms.csv", commit: "000c1d0bf24621f4ac37cfa585f0897c1aa1d9cf", asOf: "2025-12-02"},
	{provider: "yotta", path: "skypilot/v8/yotta/vms.csv", commit: "1f6904890c9bb9408f1d11e2865c3c1ee4d409c0", asOf: sinceV8},
}

func (b *builder) skypilot() error {
	for _, f := range skyPilotFiles {
		if err := b.skyPilotFile(f); err != nil {
			return err
		}
	}
	return nil
}

// listings keeps what a reader hands on.
type listings struct {
	rows []intake.Listing
	left int // rows that cannot be read
}

// Add keeps a row.
func (l *listings) Add(row intake.Listing) { l.rows = append(l.rows, row) }

// Reject counts the rows that are left out for being unreadable.
func (l *listings) Reject(r intake.Rejection) {
	if r.Kind == intake.Malformed {
		l.left++
	}
}

// skyPilotRows reads a file in SkyPilot's format, the oddities of its provider undone.
func (b *builder) skyPilotRows(provider, path string) ([]intake.Listing, error) {
	file, err := b.src.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var l listings
	err = intake.Read(path, file, &l, intake.ReadOptions{Provider: provider, Chips: b.chips})
	for range l.left {
		b.report.left(provider, "unreadable row")
	}
	return l.rows, err
}

func (b *builder) skyPilotFile(f skyPilotSource) error {
	rows, err := b.skyPilotRows(f.provider, f.path)
	for _, l := range rows {
		if l.Accelerator != "" && l.InstanceType != "" { // not an accelerator without a host
			b.report.in[f.provider]++
			b.skyPilotRow(f, l)
		}
	}
	return err
}

func (b *builder) skyPilotRow(f skyPilotSource, l intake.Listing) {
	if l.Count == 0 {
		b.report.left(f.provider, "count of accelerators missing: "+l.InstanceType)
		return
	}
	chip, flags := b.identify(f.provider, l.InstanceType, catalog.Evidence{
		Name: l.Accelerator, Texts: append(l.Hints, l.InstanceType), MiB: l.MiB, Count: l.Count,
	})
	if chip == nil {
		return
	}
	machine := b.machine(catalog.Machine{
		Provider: f.provider, InstanceType: l.InstanceType, Accelerator: chip, Count: l.Count, VCPU: l.VCPU, RAM: l.RAM,
		BareMetal: l.BareMetal, Source: f.source(), AsOf: f.asOf, Flags: catalog.WithFlags(flags, l.Flags...),
	})
	if machine == nil {
		return
	}
	b.list(machine, l.Region, l.Zone)
	for _, p := range l.Prices {
		if p.Hourly.IsZero() {
			continue // a price that is not known
		}
		p.AsOf, p.Source, p.Confidence = f.asOf, f.source(), catalog.Secondary
		if f.commit != "" {
			p.Flags = catalog.WithFlags(p.Flags, catalog.DateUnknown)
		}
		b.price(machine, l.Region, l.Zone, p)
	}
}
