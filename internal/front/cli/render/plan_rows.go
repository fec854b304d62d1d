package render

import (
	"strconv"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
)

// planHeads are the columns of the CSV of plan; a column is never renamed or moved, only added at the end.
var planHeads = []string{
	"rank", "pareto", "provider", "region", "zone", "instance_type", "accelerator", "accelerators_per_instance", "instances",
	"accelerators", "billing", "hours", "low_hours", "high_hours", "p95_hours", "currency", "cost", "cost_low", "cost_high",
	"cost_per_unit", "unit", "carbon_kg", "speed", "speed_low", "speed_high", "speed_unit", "basis",
	"memory_used_bytes", "memory_bytes", "layout", "hourly", "price_currency", "price_as_of", "price_source", "price_confidence",
	"warnings", "runs", "cost_per_run", "upfront", "effective_hourly", "mix", "cold_share",
}

// Rows gives one row a plan, the heads first. An unknown figure is an empty cell.
func (d *Plans) Rows() [][]string {
	rows := [][]string{planHeads}
	plans := d.shown()
	for i := range plans {
		q := &plans[i]
		o, e, t := q.Offer, q.Estimate, q.Time
		rows = append(rows, []string{
			strconv.Itoa(q.Rank), strconv.FormatBool(q.OnFront), o.Provider, o.Region, o.Zone, o.InstanceType,
			o.Accelerator.Name, float(o.Count), strconv.Itoa(q.Instances), strconv.Itoa(q.Accelerators), string(q.Billing),
			float(float64(t.Hours)), float(float64(t.LowHours)), float(float64(t.HighHours)), float(float64(t.P95Hours)),
			string(q.Cost.Total.Currency()), q.Cost.Total.Decimal(), q.Cost.Low.Decimal(), q.Cost.High.Decimal(),
			float(q.Cost.PerUnit.Price), q.Cost.PerUnit.Unit, maybe(q.Carbon.Kg),
			float(e.Speed.Value), float(e.Speed.Low), float(e.Speed.High), e.Speed.Unit, string(e.Speed.Basis),
			strconv.FormatInt(int64(e.Memory.Used), 10), strconv.FormatInt(int64(e.Memory.Capacity), 10), layout(e.Layout),
			q.Price.Hourly.Decimal(), string(q.Price.Hourly.Currency()), q.Price.AsOf, q.Price.Source, string(q.Price.Confidence),
			warningCodes(q.Warnings), strconv.Itoa(q.Cost.Runs), q.Cost.PerRun.Decimal(),
			upfront(q.Cost.Flow, q.Cost.Total.Currency()).Decimal(), q.Cost.Effective.Decimal(), mixText(q.Mix), cold(q.Serverless),
		})
	}
	return rows
}

// float prints a number for a program, to nine significant digits.
func float(v float64) string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

func maybe[T ~float64](m unit.Maybe[T]) string {
	if v, ok := m.Get(); ok {
		return float(float64(v))
	}
	return ""
}

// cold is the share of requests that wait for a worker to start; empty where nothing is serverless.
func cold(v *plan.Serverless) string {
	if v == nil {
		return ""
	}
	return float(v.Cold)
}
