package alibaba

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// machine is a type as DescribeInstanceTypes has it.
type machine struct {
	ID        string      `json:"InstanceTypeId"`
	Family    string      `json:"InstanceTypeFamily"`
	VCPU      feed.Number `json:"CpuCoreCount"`
	RAM       feed.Number `json:"MemorySize"` // GiB
	GPUs      feed.Number `json:"GPUAmount"`  // 1 or 0 where it is a share of one
	GPU       string      `json:"GPUSpec"`    // NVIDIA V100, NVIDIA A10*1/6
	GPUMemory feed.Number `json:"GPUMemorySize"`
	Disks     feed.Number `json:"LocalStorageAmount"`
	DiskSize  feed.Number `json:"LocalStorageCapacity"` // GiB of one
	Bandwidth feed.Number `json:"InstanceBandwidthTx"`  // kbit/s
	ERI       feed.Number `json:"EriQuantity"`          // elastic RDMA interfaces
}

func (m *machine) accelerated() bool { return m.ID != "" && (m.GPUs.Positive() || m.GPU != "") }

// share is the part of one GPU in a specification, if it has one.
var share = regexp.MustCompile(`[*x× ]?\s*(\d{1,3})/(\d{1,3})$`)

// listing is the machine in a region, without prices.
func (m *machine) listing(region string) intake.Listing {
	l := intake.Listing{
		Provider: vendor, InstanceType: m.ID, Region: region, Accelerator: m.GPU, Hints: []string{m.Family},
		MiB: m.GPUMemory.Float() * 1024, Count: m.GPUs.Float(), VCPU: m.VCPU.Size(), RAM: m.RAM.Bytes(1 << 30),
		At: intake.Place{File: region + " " + m.ID},
	}
	if part := share.FindStringSubmatch(m.GPU); part != nil {
		of, _ := strconv.Atoi(part[1]) // digits only
		in, _ := strconv.Atoi(part[2])
		if of > 0 && of < in {
			l.Accelerator = strings.TrimSpace(share.ReplaceAllString(m.GPU, ""))
			l.Count = max(1, l.Count) * float64(of) / float64(in)
		}
	}
	if disks := m.Disks.Float() * m.DiskSize.Float() * (1 << 30); disks > 0 && disks < 1<<60 {
		l.NVMe = unit.Some(unit.Bytes(disks))
	}
	if gbps := m.Bandwidth.Float() / 1e6; gbps > 0 {
		l.NetworkGbps = unit.Some(gbps)
	}
	if m.ERI.Positive() {
		l.Network = catalog.ERDMA
	}
	return l
}

// spot is the newest price in a zone.
type spot struct {
	price catalog.Price
	at    string
}

// offer is a machine in a region with its prices.
type offer struct {
	machine machine
	region  string
	inStock bool
	prices  []catalog.Price
	spots   map[string]spot
}

// emit adds the prices of a region, and those of each zone.
func (o *offer) emit(to feed.Sink) {
	stock := catalog.SoldOut
	if o.inStock {
		stock = catalog.InStock
	}
	l := o.machine.listing(o.region)
	for _, p := range o.prices {
		p.Flags = []catalog.Flag{stock}
		l.Prices = append(l.Prices, p)
	}
	to.Add(l)
	for _, zone := range slices.Sorted(maps.Keys(o.spots)) {
		l.Zone, l.Prices = zone, []catalog.Price{o.spots[zone].price}
		l.At.File = o.region + " " + zone + " " + o.machine.ID
		to.Add(l)
	}
}

// terms are the lengths that prices are asked for, one of each.
var terms = []struct {
	unit  string
	hours int64
	mode  catalog.BillingMode
}{
	{"Hour", 1, catalog.OnDemand},
	{"Month", int64(unit.HoursPerMonth), catalog.PrepaidMonthHourly},
	{"Year", int64(unit.HoursPerYear), catalog.PrepaidYearHourly},
}

// unsold are codes that say that a type is not sold so, and no failure.
var unsold = []string{"InvalidInstanceType", "InvalidInstanceTypeFamily", "PriceNotFound", "InvalidPeriod", "InvalidChargeType"}

func notSold(err error) bool {
	code := codeOf(err)
	return slices.ContainsFunc(unsold, func(c string) bool { return code == c || strings.HasPrefix(code, c+".") })
}

// disks are kinds of the disk that a quote is for, one of which every type takes: new ones the first alone, old ones not.
var disks = []string{"cloud_essd", "cloud_efficiency", "cloud_ssd"}

// otherDisk says that a type does not take the kind of disk.
func otherDisk(err error) bool {
	code := codeOf(err)
	return strings.HasPrefix(code, "InvalidSystemDiskCategory") || code == "InvalidInstanceType.NotSupportDiskCategory"
}

// prices are what a type costs in a region. The quote is for a machine with its disk; the detail of the machine counts, at its
// list price.
func (s *source) prices(ctx context.Context, r region, id string) (all []catalog.Price, err error) {
	disk := 0
	for _, t := range terms {
		var q quote
		for {
			q = quote{}
			err = s.ask(ctx, r.RegionEndpoint, "DescribePrice", map[string]string{
				"RegionId": r.RegionID, "ResourceType": "instance", "InstanceType": id, "PriceUnit": t.unit, "Period": "1", "Amount": "1",
				"InstanceNetworkType": "vpc", "IoOptimized": "optimized", "SystemDisk.Category": disks[disk], "SystemDisk.Size": "40",
			}, &q)
			if !otherDisk(err) || disk == len(disks)-1 {
				break
			}
			disk++
		}
		if otherDisk(err) || notSold(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if q.PriceInfo == nil || len(q.PriceInfo.Price.Currency) != 3 {
			return nil, fetch.Malformed(s.address, errors.New("no PriceInfo, or no currency"))
		}
		for _, d := range q.PriceInfo.Price.DetailInfos.DetailInfo {
			if d.Resource != "instanceType" || !d.OriginalPrice.Positive() {
				continue
			}
			rate, err := feed.Hourly(string(d.OriginalPrice), t.hours, q.PriceInfo.Price.Currency)
			if err != nil {
				return nil, fetch.Malformed(s.address, err)
			}
			all = append(all, catalog.Price{Mode: t.mode, Hourly: rate, Confidence: catalog.Listed})
		}
	}
	return all, nil
}

// quote is the answer of DescribePrice.
type quote struct {
	PriceInfo *struct {
		Price struct {
			Currency    money.Currency
			DetailInfos struct {
				DetailInfo []struct {
					Resource      string
					OriginalPrice feed.Number
				}
			}
		}
	}
}

// spots are the newest prices by zone; a price is set every hour, so a day has some.
func (s *source) spots(ctx context.Context, r region, id string) (map[string]spot, error) {
	found := map[string]spot{}
	offset := "0"
	for range maxPages {
		var answer struct {
			Currency   money.Currency
			NextOffset feed.Number
			SpotPrices *struct {
				SpotPriceType []struct {
					ZoneID    string `json:"ZoneId"`
					SpotPrice feed.Number
					Timestamp string
				}
			}
		}
		now := s.world.Now().UTC()
		err := s.ask(ctx, r.RegionEndpoint, "DescribeSpotPriceHistory", map[string]string{
			"RegionId": r.RegionID, "NetworkType": "vpc", "InstanceType": id, "OSType": "linux", "IoOptimized": "optimized", "Offset": offset,
			"StartTime": now.Add(-24 * time.Hour).Format("2006-01-02T15:04:05Z"), "EndTime": now.Format("2006-01-02T15:04:05Z"),
		}, &answer)
		if notSold(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if answer.SpotPrices == nil {
			return nil, fetch.Malformed(s.address, errors.New("no SpotPrices"))
		}
		rows := answer.SpotPrices.SpotPriceType
		for _, p := range rows {
			rate, err := feed.Hourly(string(p.SpotPrice), 1, answer.Currency)
			if err != nil || len(answer.Currency) != 3 || len(p.Timestamp) < len(time.DateOnly) {
				return nil, fetch.Malformed(s.address, errors.New("a spot price without price, currency or time"))
			}
			if !rate.IsZero() && p.ZoneID != "" && p.Timestamp >= found[p.ZoneID].at {
				found[p.ZoneID] = spot{catalog.Price{Mode: catalog.Spot, Hourly: rate, Confidence: catalog.Listed}, p.Timestamp}
			}
		}
		if offset = string(answer.NextOffset); !answer.NextOffset.Positive() || len(rows) == 0 {
			return found, nil
		}
	}
	return nil, fetch.Malformed(s.address, errors.New("pages without end"))
}
