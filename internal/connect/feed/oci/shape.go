package oci

import (
	"encoding/json"
	"math/big"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// product is a part number with its price.
type product struct {
	Part          string `json:"partNumber"`
	Name          string `json:"displayName"`
	Metric        string `json:"metricName"`
	Localizations []struct {
		Currency string `json:"currencyCode"`
		Prices   []struct {
			Model string      `json:"model"`
			Value json.Number `json:"value"`
		} `json:"prices"`
	} `json:"currencyCodeLocalizations"`
}

// rate is what one unit of a part costs an hour.
type rate struct {
	product
	price *big.Rat
}

// priced gives the prices by part number. Where tiers begin with a free one, the dearest is what a machine is charged.
func priced(products []product, c money.Currency) map[string]rate {
	parts := map[string]rate{}
	for _, p := range products {
		for _, l := range p.Localizations {
			for _, price := range l.Prices {
				n, err := feed.Decimal(price.Value.String())
				if l.Currency != string(c) || price.Model != payAsYouGo || err != nil || n.Sign() == 0 {
					continue
				}
				if old, ok := parts[p.Part]; !ok || n.Cmp(old.price) > 0 {
					parts[p.Part] = rate{p, n}
				}
			}
		}
	}
	return parts
}

// shape is a machine type as the cost estimator knows it.
type shape struct {
	Name        string      `json:"name"`
	Hidden      bool        `json:"hidden"`
	Status      string      `json:"status"`
	Preemptible bool        `json:"allowPreemptible"`
	GPUs        json.Number `json:"gpuQty"`
	GPUMemory   json.Number `json:"gpuMemoryQty"`    // GB, of all GPUs in most shapes and of one in some
	Memory      json.Number `json:"bundleMemoryQty"` // GB, as Oracle calls a GiB
	Machine     word        `json:"shapeType"`
	Kind        word        `json:"subType"`
	Products    []struct {
		Part string      `json:"partNumber"`
		Qty  json.Number `json:"qty"`
		Type word        `json:"type"`
	} `json:"products"`
}

type word struct {
	Value string `json:"value"`
}

// name is a shape's name as instances are launched by: the estimator adds remarks, BM.GPU.GB200.4 (NVL72).
func (s *shape) name() string {
	name, _, _ := strings.Cut(s.Name, " (")
	return strings.TrimSpace(name)
}

// listing is a shape with its prices, or why there is none.
func (s *shape) listing(parts map[string]rate, c money.Currency) (l intake.Listing, kind intake.Kind, args problem.Args) {
	gpus := quantity(s.GPUs)
	if s.Hidden || s.Status != "ACTIVE" || gpus.Sign() == 0 && s.Kind.Value != "gpu" {
		return l, intake.NoAccelerator, nil
	}
	bad := func(column, value, want string) (intake.Listing, intake.Kind, problem.Args) {
		return l, intake.Malformed, problem.Args{"Column": column, "Value": value, "Want": want}
	}
	if gpus.Sign() == 0 {
		return bad("gpuQty", s.GPUs.String(), "number")
	}
	l = intake.Listing{
		Provider: vendor, InstanceType: s.name(), Flags: []catalog.Flag{catalog.AvailabilityUnknown},
		BareMetal: unit.Some(s.Machine.Value == "bm"),
	}
	l.Count, _ = gpus.Float64()
	memory, _ := quantity(s.GPUMemory).Float64()
	l.MiB = memory * 1024
	if ram, _ := quantity(s.Memory).Float64(); ram > 0 && ram < 1e6 {
		l.RAM = unit.Some(unit.Bytes(ram * float64(unit.GiB)))
	}
	total, compute := new(big.Rat), false
	for _, p := range s.Products {
		part, ok := parts[p.Part]
		if !ok {
			return bad("partNumber", p.Part, "price")
		}
		qty := quantity(p.Qty)
		switch kind, metric := p.Type.Value, strings.ToUpper(part.Metric); {
		case kind == "ocpu" && strings.HasPrefix(metric, "GPU"):
			// The GPU's price, in which its share of the host is included.
			total.Add(total, new(big.Rat).Mul(part.price, gpus))
			compute = true
			l.Hints = append(l.Hints, part.Name)
			// An OCPU is two threads; for the Arm hosts of Grace superchips the estimator's count is wrong, and it calls x86
			// hosts of others Arm.
			if cores, _ := qty.Float64(); cores > 0 && !strings.HasPrefix(l.InstanceType, "BM.GPU.GB") {
				l.VCPU = unit.Some(2 * cores)
			}
		case qty.Sign() == 0:
			return bad("qty", p.Qty.String(), "number")
		case kind == "ocpu" && strings.HasPrefix(metric, "OCPU"):
			total.Add(total, new(big.Rat).Mul(part.price, qty))
			compute = true
		case kind == "memory" && strings.HasPrefix(metric, "GIGABYTE"):
			total.Add(total, new(big.Rat).Mul(part.price, qty))
		default:
			return bad("metricName", part.Metric, "GPU Per Hour")
		}
	}
	if !compute {
		return bad("products", "", "price")
	}
	var ok bool
	if l.Prices, ok = s.prices(total, c); !ok {
		return bad("value", total.FloatString(4), "price")
	}
	return l, "", nil
}

func (s *shape) prices(total *big.Rat, c money.Currency) (prices []catalog.Price, ok bool) {
	hourly, err := feed.PerHour(total, c)
	if err != nil || hourly.IsZero() {
		return nil, false
	}
	prices = []catalog.Price{{Mode: catalog.OnDemand, Hourly: hourly, Confidence: catalog.Listed}}
	if s.Preemptible && s.Machine.Value == "vm" {
		half, err := feed.PerHour(new(big.Rat).Mul(total, preemptible), c)
		if err != nil {
			return nil, false
		}
		prices = append(prices, catalog.Price{Mode: catalog.Spot, Hourly: half, Confidence: catalog.Listed})
	}
	return prices, true
}

// quantity is a number of things, 0 where there is none or it cannot be read.
func quantity(n json.Number) *big.Rat {
	q, err := feed.Decimal(n.String())
	if err != nil {
		return new(big.Rat)
	}
	return q
}
