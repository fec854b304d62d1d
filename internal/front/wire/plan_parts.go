package wire

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/front/say"
)

func fromOnePlan(p *plan.Plan, s *Speaker) Plan {
	o := p.Offer
	return Plan{
		Rank: p.Rank, Provider: o.Provider, Region: o.Region, Zone: text(o.Zone), InstanceType: o.InstanceType,
		Accelerator: o.Accelerator.Name, AcceleratorsPerInstance: o.Count,
		Instances: p.Instances, Accelerators: p.Accelerators,
		Layout: p.Estimate.Layout, Billing: string(p.Billing),
		Memory: FromMemory(p.Estimate.Memory), Speed: FromSpeed(p.Estimate), Work: positive(p.Estimate.Work),
		Time: Time{
			number(float64(p.Time.Hours), 9), number(float64(p.Time.LowHours), 9),
			number(float64(p.Time.HighHours), 9), number(float64(p.Time.P95Hours), 9), number(float64(p.Time.Start), 9),
		},
		Cost:     fromCost(p.Cost),
		CarbonKg: known(p.Carbon.Kg),
		Carbon: Carbon{
			Kg: known(p.Carbon.Kg), EnergyKWh: known(p.Carbon.Energy),
			GridGramsPerKWh: known(p.Carbon.Grid), PUE: positive(p.Carbon.PUE), Basis: p.Carbon.Basis,
		},
		Bottleneck: SharesOf(p.Estimate.Bottleneck),
		Serving:    fromServing(p.Estimate.Serving),
		Spot:       fromSpot(p.Spot),
		Mix:        fromMix(p.Mix),
		Serverless: fromServerless(p.Serverless),
		Warnings:   warningsOf(p.Warnings, s),
		Notes:      NotesOf(p.Estimate.Notes, s),
		Price:      *PriceOf(p.Price, p.Hourly, true),
		Machine:    MachineOf(o.Machine), Chip: ChipOf(o.Accelerator),
		AlsoIn: elsewhereOf(p.AlsoIn), Sizes: sizesOf(p.Sizes), Pareto: p.OnFront,
	}
}

// FromMemory gives the JSON of an accelerator's memory.
func FromMemory(m estimate.Memory) Memory {
	return Memory{int64(m.Capacity), int64(m.Used), int64(m.Free()), partsOf(m.Parts)}
}

// FromSpeed gives the JSON of an estimate's speed.
func FromSpeed(e estimate.Estimate) Speed {
	v := e.Speed
	return Speed{
		Value: number(v.Value, 9), Low: number(v.Low, 9), High: number(v.High, 9), Unit: v.Unit,
		Basis: string(v.Basis), Source: text(v.Source), Like: text(string(v.Like)), Target: text(string(v.Target)), Measurements: v.Measurements,
		MFU: positive(e.MFU), Precision: e.Precision.String(),
	}
}

func fromCost(c plan.Cost) Cost {
	out := Cost{Total: moneyOf(c.Total), Low: moneyOf(c.Low), High: moneyOf(c.High), Lines: []Line{}, Unknown: []string{},
		CashFlow: fromFlow(c.Flow), Effective: rateOf(c.Effective), Runs: c.Runs, PerRun: moneyOf(c.PerRun)}
	for _, l := range c.Lines {
		out.Lines = append(out.Lines, Line{string(l.Item), l.Amount.Decimal(), l.Assumed})
	}
	for _, item := range c.Unknown {
		out.Unknown = append(out.Unknown, string(item))
	}
	if c.PerUnit.Unit != "" {
		out.PerUnit = &PerUnit{decimal(c.PerUnit.Price, 6), string(c.Total.Currency()), c.PerUnit.Unit}
	}
	return out
}

// Share is a named part of the time.
type Share struct {
	Name  string
	Value float64
}

// Shares lists where the time goes, in the order it is shown.
func Shares(b estimate.Shares) []Share {
	return []Share{
		{"compute", b.Compute}, {"memory_bandwidth", b.Memory}, {"link", b.Link}, {"network", b.Network},
		{"pipeline_bubble", b.Bubble}, {"input", b.Input}, {"overhead", b.Overhead},
	}
}

// SharesOf gives where the time goes, by name.
func SharesOf(b estimate.Shares) map[string]float64 {
	out := map[string]float64{}
	for _, share := range Shares(b) {
		if v := number(share.Value, 6); v != nil {
			out[share.Name] = *v
		}
	}
	return out
}

func fromServing(v estimate.Serving) *Serving {
	if v == (estimate.Serving{}) {
		return nil
	}
	var byHour []int
	if v.ByHour != [24]int{} {
		byHour = v.ByHour[:]
	}
	between := func(i int) *Range {
		if v.Highs[i] == 0 {
			return nil
		}
		return &Range{Low: seconds(v.Lows[i]), High: seconds(v.Highs[i])}
	}
	basis := "mean"
	if v.ReplicasNeeded > 0 { // a service's
		basis = "p99"
	}
	return &Serving{
		LatencyBasis: basis,
		TTFTRange:    between(0), TPOTRange: between(1), E2ERange: between(2),
		TTFT: seconds(v.TTFT), TPOT: seconds(v.TPOT), E2E: seconds(v.E2E), Concurrency: v.Concurrency,
		RequestsPerSecond: number(v.RequestsPerSecond, 9), ReplicasNeeded: v.ReplicasNeeded, Replicas: v.Replicas,
		PerReplica: v.AcceleratorsPerReplica, ByHour: byHour,
	}
}

func fromSpot(v *plan.Spot) *Spot {
	if v == nil {
		return nil
	}
	notice := (*float64)(nil)
	if h, ok := v.Notice.Get(); ok {
		notice = number(h.Seconds(), 9)
	}
	return &Spot{
		PerHour: number(v.PerHour, 9), Basis: string(v.Basis), Source: text(v.Source), NoticeSeconds: notice,
		CheckpointEveryHours: positive(float64(v.CheckpointEvery)), Overhead: number(v.Overhead, 9),
		Preemptions: number(v.ExpectedPreemptions, 9),
	}
}

func warningsOf(ws []plan.Warning, s *Speaker) []Message {
	out := []Message{}
	for _, w := range ws {
		out = append(out, Message{w.Code, args(w.Args), s.Warning(w)})
	}
	return out
}

// NotesOf gives the notes of an estimate.
func NotesOf(ns []estimate.Note, s *Speaker) []Message {
	out := []Message{}
	for _, n := range ns {
		out = append(out, Message{n.Code, args(n.Args), s.Note(n)})
	}
	return out
}

func elsewhereOf(places []plan.Elsewhere) []Elsewhere {
	out := []Elsewhere{}
	for _, e := range places {
		out = append(out, Elsewhere{e.Region, text(e.Zone), moneyOf(e.Total)})
	}
	return out
}

func sizesOf(sizes []plan.Size) []OtherSize {
	out := []OtherSize{}
	for _, z := range sizes {
		out = append(out, OtherSize{z.Instances, number(float64(z.Hours), 9), moneyOf(z.Total), known(z.Kg), z.OnFront})
	}
	return out
}

func fromRejection(r plan.Rejection, c money.Currency, s *Speaker) Rejection {
	out := Rejection{Reason: string(r.Reason), Count: r.Count}
	n := r.Nearest
	if n == nil {
		return out
	}
	out.Nearest = &NearMiss{
		Billing: text(string(n.Mode)), Instances: n.Instances, Quantity: n.Quantity,
		Have: number(n.Have, 9), Want: number(n.Want, 9), Text: text(n.Text),
		ShortBy: shortBy(n, c),
	}
	if b := n.Because; b != nil {
		out.Nearest.Because = &Message{b.Code, args(b.Args), s.Warning(*b)}
	}
	if o := n.Offer; o != nil {
		out.Nearest.Provider, out.Nearest.Region, out.Nearest.InstanceType = o.Provider, o.Region, o.InstanceType
		if o.Accelerator != nil {
			out.Nearest.Accelerator = text(o.Accelerator.Name)
		}
	}
	return out
}

// shortBy says by how much a candidate missed. It is English whatever the reader's language: it is a contract.
func shortBy(n *plan.NearMiss, c money.Currency) *string {
	gap := math.Abs(n.Want - n.Have)
	en := say.For(say.English)
	switch n.Quantity {
	case "bytes":
		return text(unit.Bytes(gap).Binary())
	case "hours":
		return text(unit.Sig3(gap) + " h")
	case "seconds":
		return text(unit.Sig3(gap) + " s")
	case "money":
		return text(decimal(gap, 6) + " " + string(c))
	case "kg":
		return text(unit.Sig3(gap) + " kg")
	case "percent":
		return text(unit.Sig3(gap) + " %")
	case "days":
		return text(unit.Sig3(gap) + " d")
	case "gbps":
		return text(unit.Sig3(gap) + " Gbit/s")
	case "count":
		return text(en.Number(gap))
	}
	return nil
}
