package assumption

import (
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Kind is what sort of value an assumption has.
type Kind string

// The kinds.
const (
	Money   Kind = "money"
	Share   Kind = "percent"
	Number  Kind = "number"
	Time    Kind = "hours"
	Power   Kind = "power"
	Switch  Kind = "bool"
	Support Kind = "support" // a monthly fee, a share of the bill, or both
)

// Family is one assumption, or one for each provider, country or accelerator.
type Family struct {
	Name string
	Kind Kind
	// Per says what an amount is for: a code in front's catalogue (tonne, kwh …); empty where the kind says it.
	Per string
	// For says what the family may be qualified by: provider, country or gpu; empty is nothing.
	For string
	// Least and Most bound the value: a money family's in its own currency, a share as a part of one, a time in hours, a power
	// in watts.
	Least, Most float64
	Example     string
}

// The names of the families.
const (
	CarbonPrice  = "carbon.price"
	DisksStopped = "disks.stopped"
	Licence      = "licence"
	SupportPlan  = "support"
	ZonesGB      = "zones.gb"
	ZonesPrice   = "zones.price"
	StaffHourly  = "staff.hourly"
	Capex        = "capex"
	Tariff       = "tariff"
	BuyCapex     = "buy.capex"
	BuyLife      = "buy.life"
	BuyResidual  = "buy.residual"
	BuyPower     = "buy.power"
	BuyPUE       = "buy.pue"
	BuyRack      = "buy.rack"
	BuyNetwork   = "buy.network"
	BuySpares    = "buy.spares"
	BuyStaff     = "buy.staff"
	BuyStorage   = "buy.storage"
	BuyTraffic   = "buy.traffic"
	BuyCapital   = "buy.capital"
)

// families are all of them, in the order they are listed. The bounds keep sums of money far from where they saturate.
var families = []Family{
	{CarbonPrice, Money, "tonne", "", 0, 1e5, "75 EUR"},
	{DisksStopped, Switch, "", "", 0, 1, "yes"},
	{Licence, Money, "accelerator_year", "", 0, 1e6, "4500 USD"},
	{SupportPlan, Support, "", "provider", 0, 1e7, "100 USD; 3%"},
	{ZonesGB, Number, "gb_month", "", 0, 1e9, "5000"},
	{ZonesPrice, Money, "gb", "provider", 0, 1e3, "0.02 USD"},
	{StaffHourly, Money, "hour", "", 0, 1e5, "65 USD"},
	{Capex, Money, "accelerator", "gpu", 0, 1e7, "40000 USD"},
	{Tariff, Money, "kwh", "country", 0, 1e3, "0.12 USD"},
	{BuyCapex, Money, "machine", "", 0, 1e8, "320000 USD"},
	{BuyLife, Time, "", "", 8760, 20 * 8760, "5y"},
	{BuyResidual, Share, "", "", 0, 1, "20%"},
	{BuyPower, Power, "machine", "", 1, 1e6, "10.2 kW"},
	{BuyPUE, Number, "", "", 1, 5, "1.3"},
	{BuyRack, Money, "kw_month", "", 0, 1e5, "180 USD"},
	{BuyNetwork, Money, "accelerator", "", 0, 1e7, "4000 USD"},
	{BuySpares, Share, "year", "", 0, 1, "4%"},
	{BuyStaff, Number, "hours_month", "", 0, 1e6, "40"},
	{BuyStorage, Money, "month", "", 0, 1e8, "500 USD"},
	{BuyTraffic, Money, "month", "", 0, 1e8, "200 USD"},
	{BuyCapital, Share, "year", "", 0, 1, "8%"},
}

// FamilyOf finds a family by its name; nil where there is none.
func FamilyOf(name string) *Family {
	for i := range families {
		if families[i].Name == name {
			return &families[i]
		}
	}
	return nil
}

// split finds the family of a key and what it is qualified by: support.aws.
func split(key string) (*Family, string) {
	if f := FamilyOf(key); f != nil {
		return f, ""
	}
	for i := range families {
		f := &families[i]
		if of, ok := strings.CutPrefix(key, f.Name+"."); ok && of != "" && f.For != "" {
			return f, of
		}
	}
	return nil, ""
}

// read makes an assumption of a key and its text.
func read(key, text string) (*Assumption, *problem.Error) {
	f, of := split(key)
	if f == nil {
		var names []string
		for _, f := range families {
			names = append(names, f.Name)
		}
		return nil, problem.New(problem.Input, "workload.unknown_key", problem.Args{"Key": key, "Kind": ""}).With(problem.Nearest(key, names, 3)...)
	}
	v, fault := f.Parse(key, text)
	return &Assumption{Family: f, Of: of, Value: v, Text: strings.TrimSpace(text)}, fault
}
