// Package fronttest makes results by hand for the tests of front, so that what they show does not change with the
// estimates and the catalog.
//
// Invariants: every result is complete and consistent (lines sum to the total, parts to the memory used). Imported by
// tests in front only.
package fronttest

import (
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Today is the day of every result.
const Today = "2026-06-01"

// Workload is a fine-tuning of a large model with a deadline and a budget.
func Workload(t testing.TB) *workload.Workload {
	t.Helper()
	w, err := workload.FromFlags(map[string]string{
		"kind": "finetune", "model": "llama-3.1-70b", "method": "lora", "tokens": "200M", "deadline": "72h", "budget": "5000 USD",
	}, nil, workload.EmbeddedFacts())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Chip is a chip that is sold under its name.
func Chip(t testing.TB, name string) *accelerator.Accelerator {
	t.Helper()
	a, ok := accelerator.Embedded().Get(name)
	if !ok {
		t.Fatalf("no chip %s", name)
	}
	fixed := *a
	fixed.Source, fixed.AsOf, fixed.Confidence = "data sheet", "2026-01-15", accelerator.Verified
	return &fixed
}

// Result is an answer with three plans, one of them on spot and one of unknown emissions, and two rejections.
func Result(t testing.TB) *plan.Result {
	t.Helper()
	h100, a100 := Chip(t, "H100-SXM-80GB"), Chip(t, "A100-SXM-40GB")
	big := machine("gcp", "a3-highgpu-8g", h100, 8, unit.Some(1872*unit.GiB))
	small := machine("aws", "p4d.24xlarge", a100, 8, unit.None[unit.Bytes]())
	spot := onePlan(1, offer(big, "us-central1", catalog.Spot, 24_100_000_000, money.USD), 2, 8.5)
	spot.OnFront = true
	spot.Spot = &plan.Spot{
		PerHour: 0.05, Basis: provider.BasisPublished, Source: "spot advisor of the provider", Notice: unit.Some(unit.Hours(1.0 / 120)),
		CheckpointEvery: 0.5, Overhead: 1.09, ExpectedPreemptions: 0.43,
	}
	spot.Warnings = []plan.Warning{{Code: "price_old", Args: map[string]any{"Days": 120, "AsOf": "2026-02-01"}}}
	spot.AlsoIn = []plan.Elsewhere{{Region: "europe-west4", Total: money.Micros(430_000_000, money.USD)}}
	spot.Sizes = []plan.Size{{Instances: 4, Hours: 4.6, Total: money.Micros(470_000_000, money.USD), OnFront: true}}
	full := onePlan(2, offer(big, "us-central1", catalog.OnDemand, 88_490_000_000, money.USD), 2, 7.8)
	full.Warnings = []plan.Warning{{Code: "price_old", Args: map[string]any{"Days": 134, "AsOf": "2026-01-18"}}}
	yuan := onePlan(3, offer(small, "cn-north-1", catalog.OnDemand, 230_000_000_000, money.CNY), 4, 20)
	yuan.Hourly = money.PerHour(31_900_000_000, money.USD)
	yuan.Carbon = plan.Carbon{Basis: "unknown"}
	yuan.Cost.Unknown = []plan.Item{plan.Egress}
	yuan.Warnings = []plan.Warning{
		{Code: "host_ram_unknown", Args: map[string]any{"Want": 640 * unit.GiB}}, {Code: "carbon_unknown"},
		{Code: "cost_unknown", Args: map[string]any{"Item": "egress"}},
	}
	return &plan.Result{
		AsOf: Today, Workload: Workload(t), Currency: money.USD, FXAsOf: "2026-05-29", FXSource: "central bank",
		Needs: needs(), Plans: []plan.Plan{spot, full, yuan}, Feasible: 9, Ranked: 3, OffersFit: 4,
		Rejected: rejected(small), Pareto: []int{1}, Searched: plan.Searched{Offers: 420, Candidates: 900, Layouts: 5000},
	}
}

// Nothing is an answer without plans.
func Nothing(t testing.TB) *plan.Result {
	t.Helper()
	r := Result(t)
	r.Plans, r.Pareto, r.Feasible, r.Ranked, r.OffersFit = nil, nil, 0, 0, 0
	return r
}

func needs() plan.Needs {
	return plan.Needs{
		Precision: "bf16", ParametersTotal: 70_553_706_496, ParametersActive: 70_553_706_496, Memory: 152 * unit.GB,
		Parts: []estimate.Part{{Name: "weights", Bytes: 141 * unit.GB}, {Name: "activations", Bytes: 11 * unit.GB}},
		FLOP:  5.9e19, Fits: []plan.Fit{{GB: 80, Count: 2}, {GB: 180, Count: 1}}, HostRAM: 304 * unit.GB, Storage: 6 * unit.GB,
		Checkpoint: 3 * unit.GB,
	}
}

func machine(by, name string, chip *accelerator.Accelerator, count float64, ram unit.Maybe[unit.Bytes]) *catalog.Machine {
	return &catalog.Machine{
		Provider: by, InstanceType: name, Accelerator: chip, Count: count, VCPU: unit.Some(208.0), RAM: ram,
		Topology: catalog.NVSwitch, TopologyKnown: true, NetworkGbps: unit.Some(3200.0), Network: catalog.TCPX,
		Source: "price list", AsOf: "2026-05-20",
	}
}

func offer(m *catalog.Machine, region string, mode catalog.BillingMode, nanos int64, c money.Currency) *catalog.Offer {
	return &catalog.Offer{Machine: m, Region: region, Prices: []catalog.Price{{
		Mode: mode, Hourly: money.PerHour(nanos, c), AsOf: "2026-05-20", Source: "price-list", Confidence: catalog.Listed,
	}}}
}

// onePlan is a plan of so many machines for so many hours; its cost is that of the machines and 3.20 of storage.
func onePlan(rank int, o *catalog.Offer, machines int, hours float64) plan.Plan {
	quote := o.Prices[0]
	hourly := money.PerHour(quote.Hourly.Nanos(), money.USD)
	if quote.Hourly.Currency() != money.USD {
		hourly = money.PerHour(31_900_000_000, money.USD)
	}
	compute := hourly.Mul(float64(machines)).For(hours)
	storage := money.Micros(3_200_000, money.USD)
	total := compute.Add(storage)
	memory := estimate.Collect(79*unit.GiB, estimate.Part{Name: "weights", Bytes: 18 * unit.GiB}, estimate.Part{Name: "activations", Bytes: 50 * unit.GiB})
	return plan.Plan{
		Rank: rank, Offer: o, Price: quote, Billing: quote.Mode, Hourly: hourly, Provider: &provider.Provider{ID: o.Provider, Name: o.Provider},
		Region:    provider.Region{Provider: o.Provider, ID: o.Region},
		Instances: machines, Accelerators: 8 * machines,
		Estimate: estimate.Estimate{
			Layout: estimate.Layout{TP: 8, PP: 1, DP: machines, MicroBatch: 1, ZeRO: 1, Recompute: "selective"}, Memory: memory,
			Speed: estimate.Speed{Value: 8210, Low: 6900, High: 9500, Unit: "tokens/s", Basis: estimate.Predicted, Source: "kernel timings", Like: estimate.LikeChip},
			Work:  2e8, Hours: 6.77, LowHours: 5.85, HighHours: 8.05,
			Bottleneck: estimate.Shares{Compute: 0.71, Memory: 0.12, Link: 0.1, Network: 0.07}, MFU: 0.41, Precision: accelerator.BF16,
			Load: 0.8, Checkpoint: 3 * unit.GB,
		},
		Time: plan.Time{Hours: unit.Hours(hours), LowHours: unit.Hours(hours * 0.86), HighHours: unit.Hours(hours * 1.2), P95Hours: unit.Hours(hours * 1.3), Start: 0.1},
		Cost: plan.Cost{
			Total: total, Low: total.Mul(0.86), High: total.Mul(1.2), PerUnit: plan.PerUnit{Price: total.Float() / 200, Unit: "1M tokens"},
			Lines: []plan.Line{{Item: plan.Compute, Amount: compute}, {Item: plan.Storage, Amount: storage, Assumed: true}},
			Flow:  price.Flow{{Upfront: money.Zero(money.USD), Running: compute}}, Effective: hourly, Runs: 1, PerRun: total,
		},
		Carbon: plan.Carbon{Kg: unit.Some(unit.Kilograms(38)), Energy: unit.Some(unit.KilowattHours(96)), Grid: unit.Some(unit.GramsPerKWh(396)), PUE: 1.1, Basis: "region"},
	}
}

func rejected(small *catalog.Machine) []plan.Rejection {
	o := offer(small, "us-east-1", catalog.OnDemand, 32_770_000_000, money.USD)
	return []plan.Rejection{
		{Reason: "memory", Count: 412, Nearest: &plan.NearMiss{Offer: o, Instances: 1, Quantity: "bytes", Have: 40 << 30, Want: 52 << 30}},
		{Reason: plan.ByRegion, Count: 96, Nearest: &plan.NearMiss{Offer: o, Quantity: "text", Text: "eu"}},
		{Reason: plan.ByBudget, Count: 41, Nearest: &plan.NearMiss{
			Offer: o, Mode: catalog.OnDemand, Instances: 8, Quantity: "money", Have: 5038, Want: 5000,
		}},
	}
}
