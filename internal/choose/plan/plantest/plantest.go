// Package plantest makes the workloads, offers and inputs that tests of planning need, complete by default. For tests
// only.
package plantest

import (
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"github.com/rackrate/rackrate/internal/facts/software"
)

// Today is the day tests plan for.
const Today = "2026-11-30"

// Model is a model of the embedded table.
func Model(t testing.TB, name string) *model.Model {
	t.Helper()
	m, err := model.Embedded().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Chip is an accelerator of the embedded table.
func Chip(t testing.TB, name string) *accelerator.Accelerator {
	t.Helper()
	a, ok := accelerator.Embedded().Get(name)
	if !ok {
		t.Fatalf("no accelerator %q", name)
	}
	return a
}

// Train is a small pretraining run on demand or spot.
func Train(t testing.TB, modelName string) *workload.Workload {
	return &workload.Workload{
		Kind: workload.Train, Model: Model(t, modelName), Format: "bf16", Method: workload.Full, Sequence: 4096, Tokens: 1e9,
		GlobalBatch: 256, Optimizer: workload.AdamW, Layout: workload.LayoutPin{ZeRO: -1},
		Billing: []catalog.BillingMode{catalog.OnDemand, catalog.Spot}, Prefer: workload.PreferCost,
	}
}

// LoRA is a LoRA fine-tune.
func LoRA(t testing.TB, modelName string) *workload.Workload {
	w := Train(t, modelName)
	w.Kind, w.Method, w.LoRARank, w.GlobalBatch, w.Tokens = workload.Finetune, workload.LoRA, 16, 64, 2e8
	return w
}

// Serve is a service of a few requests a second.
func Serve(t testing.TB, modelName, format string) *workload.Workload {
	return &workload.Workload{
		Kind: workload.Serve, Model: Model(t, modelName), Format: model.Format(format), Layout: workload.LayoutPin{ZeRO: -1},
		Traffic: &workload.Traffic{RequestsPerSecond: 2, InputTokens: 1000, OutputTokens: 200}, Duration: unit.HoursPerMonth,
		Billing: []catalog.BillingMode{catalog.OnDemand, catalog.Spot}, Prefer: workload.PreferCost,
	}
}

// Batch is offline inference.
func Batch(t testing.TB, modelName, format string) *workload.Workload {
	w := Serve(t, modelName, format)
	w.Kind, w.Traffic, w.Duration = workload.BatchInfer, nil, 0
	w.Batch = &workload.Batch{Requests: 1e5, InputTokens: 1000, OutputTokens: 200}
	return w
}

// Price is a fresh listed price in US dollars an hour.
func Price(mode catalog.BillingMode, hourly float64) catalog.Price {
	return catalog.Price{Mode: mode, Hourly: money.PerHour(int64(hourly*1e9), money.USD), AsOf: Today, Source: "test", Confidence: catalog.Listed}
}

// Offer is eight H100 SXM with everything known, at AWS in Ohio; the changes are made to it before it is returned.
func Offer(t testing.TB, changes ...func(*catalog.Offer)) *catalog.Offer {
	o := &catalog.Offer{
		Machine: &catalog.Machine{
			Provider: "aws", InstanceType: "test.8xh100", Accelerator: Chip(t, "H100-SXM-80GB"), Count: 8, VCPU: unit.Some(192.0),
			RAM: unit.Some(2048 * unit.GiB), NVMe: unit.Some(30 * unit.TB), Topology: catalog.NVSwitch, TopologyKnown: true,
			NetworkGbps: unit.Some(3200.0), Network: catalog.EFA, Source: "test", AsOf: Today,
		},
		Region: "us-east-2", Prices: []catalog.Price{Price(catalog.OnDemand, 55)},
	}
	for _, change := range changes {
		change(o)
	}
	return o
}

// Named changes an offer's instance type.
func Named(name string) func(*catalog.Offer) { return func(o *catalog.Offer) { o.InstanceType = name } }

// With puts so many of a chip in the machine, linked as makers link it.
func With(a *accelerator.Accelerator, count float64) func(*catalog.Offer) {
	return func(o *catalog.Offer) {
		o.Accelerator, o.Count, o.Topology = a, count, catalog.InferTopology(a, count)
	}
}

// Priced replaces an offer's prices.
func Priced(prices ...catalog.Price) func(*catalog.Offer) {
	return func(o *catalog.Offer) { o.Prices = prices }
}

// At moves an offer.
func At(providerID, region string) func(*catalog.Offer) {
	return func(o *catalog.Offer) { o.Provider, o.Region = providerID, region }
}

// Input is a search over offers with the embedded facts.
func Input(w *workload.Workload, offers ...*catalog.Offer) plan.Input {
	return plan.Input{
		Workload: w, Offers: offers, Providers: provider.Embedded(), Software: software.Embedded(), Curves: estimate.EmbeddedCurves(),
		Exchange: provider.EmbeddedExchange(), Currency: money.USD, Today: Today,
	}
}

// Search runs a search and fails the test on an error.
func Search(t testing.TB, in plan.Input) *plan.Result {
	t.Helper()
	r, err := plan.Search(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
