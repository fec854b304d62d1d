package aws_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/aws"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// columns are some of the list's ninety, in its order; the rest say nothing that counts.
var columns = []string{
	"SKU", "OfferTermCode", "RateCode", "TermType", "PriceDescription", "EffectiveDate", "StartingRange", "EndingRange", "Unit",
	"PricePerUnit", "Currency", "RelatedTo", "LeaseContractLength", "PurchaseOption", "OfferingClass", "Product Family", "serviceCode",
	"Location", "Location Type", "Instance Type", "Current Generation", "Instance Family", "vCPU", "Physical Processor", "Memory",
	"Storage", "Network Performance", "Tenancy", "Operating System", "License Model", "usageType", "operation", "CapacityStatus", "GPU",
	"GPU Memory", "MarketOption", "Pre Installed S/W", "Region Code", "serviceName",
}

type row map[string]string

// with gives a row with some cells changed.
func (r row) with(cells ...string) row {
	out := row{}
	for k, v := range r {
		out[k] = v
	}
	for i := 0; i < len(cells); i += 2 {
		out[cells[i]] = cells[i+1]
	}
	return out
}

// text writes rows as the list does: every cell that is not empty in quotation marks.
func text(rows ...row) string {
	var b strings.Builder
	b.WriteString("\"FormatVersion\",\"v1.0\"\n\"Disclaimer\",\"For information, without \"\"warranty\"\",\nsee the terms.\"\n")
	b.WriteString("\"Publication Date\",\"2026-05-30T00:00:00Z\"\n\"Version\",\"20260530000000\"\n\"OfferCode\",\"AmazonEC2\"\n")
	line := func(cell func(string) string) {
		for i, c := range columns {
			if i > 0 {
				b.WriteByte(',')
			}
			if v := cell(c); v != "" {
				b.WriteString(`"` + strings.ReplaceAll(v, `"`, `""`) + `"`)
			}
		}
		b.WriteByte('\n')
	}
	line(func(c string) string { return c })
	for _, r := range rows {
		line(func(c string) string { return r[c] })
	}
	return b.String()
}

// onDemand is a Linux machine's price as the list has it.
func onDemand(region, kind, sku, price string) row {
	return row{
		"SKU": sku, "OfferTermCode": "JRTCKXETXF", "RateCode": sku + ".JRTCKXETXF.6YS6EN2CT7", "TermType": "OnDemand",
		"PriceDescription": "$" + price + " per On Demand Linux, \"" + kind + "\" Instance Hour", "EffectiveDate": "2026-05-01",
		"StartingRange": "0", "EndingRange": "Inf", "Unit": "Hrs", "PricePerUnit": price, "Currency": "USD",
		"Product Family": "Compute Instance", "serviceCode": "AmazonEC2", "Location": "US East (N. Virginia)", "Location Type": "AWS Region",
		"Instance Type": kind, "Current Generation": "Yes", "Instance Family": "GPU instance", "vCPU": "192", "Memory": "2,048 GiB",
		"Storage": "8 x 3840 GB NVMe SSD", "Network Performance": "3200 Gigabit", "Tenancy": "Shared", "Operating System": "Linux",
		"License Model": "No License required", "usageType": "BoxUsage:" + kind, "operation": "RunInstances", "CapacityStatus": "Used",
		"GPU": "8", "GPU Memory": "640 GB HBM3", "MarketOption": "OnDemand", "Pre Installed S/W": "NA", "Region Code": region,
		"serviceName": "Amazon Elastic Compute Cloud",
	}
}

// reserved is a part of a reservation's price: by the hour, or upfront as Quantity.
func reserved(of row, term, lease, pays, unit, price string) row {
	return of.with("TermType", "Reserved", "OfferTermCode", term, "LeaseContractLength", lease, "PurchaseOption", pays,
		"OfferingClass", "standard", "Unit", unit, "PricePerUnit", price, "StartingRange", map[string]string{"Hrs": "0"}[unit])
}

func eastRows() []row {
	p5 := onDemand("us-east-1", "p5.48xlarge", "P5", "55.0400000000")
	g4 := onDemand("us-east-1", "g4dn.xlarge", "G4", "0.5260000000").with("vCPU", "4", "Memory", "16 GiB", "Storage", "125 GB NVMe SSD",
		"Network Performance", "Up to 25 Gigabit", "GPU", "1", "GPU Memory", "16 GB")
	metal := onDemand("us-east-1", "g4dn.metal", "G4M", "7.8240000000").with("Product Family", "Compute Instance (bare metal)",
		"Storage", "2 x 900 GB NVMe SSD", "Network Performance", "100 Gigabit", "vCPU", "96", "Memory", "384 GiB")
	slice := onDemand("us-east-1", "g6f.large", "G6F", "0.2020000000").with("Storage", "EBS only", "Network Performance", "4x 25 Gigabit",
		"vCPU", "2", "Memory", "8 GiB", "GPU", "1", "GPU Memory", "2861 MB")
	return []row{
		p5,
		reserved(p5, "A1", "1yr", "No Upfront", "Hrs", "37.5100000000"),
		reserved(p5, "A2", "1yr", "Partial Upfront", "Hrs", "18.4000000000"),
		reserved(p5, "A2", "1yr", "Partial Upfront", "Quantity", "161184"),
		reserved(p5, "A3", "1yr", "All Upfront", "Hrs", "0.0000000000"),
		reserved(p5, "A3", "1yr", "All Upfront", "Quantity", "316000"),
		reserved(p5, "A4", "3yr", "All Upfront", "Quantity", "645000"), // and no row by the hour
		reserved(p5, "A5", "3yr", "Partial Upfront", "Quantity", "300000"),
		reserved(p5, "A6", "3yr", "No Upfront", "Hrs", "30").with("EffectiveDate", "2026-07-01"), // in force next month
		reserved(p5, "A7", "3yr", "No Upfront", "Hrs", "25.7").with("EffectiveDate", "2026-05-20"),
		reserved(p5, "A8", "3yr", "No Upfront", "Hrs", "26").with("EffectiveDate", "2026-04-20"), // older
		reserved(p5, "A9", "1yr", "No Upfront", "Hrs", "39").with("OfferingClass", "convertible"),
		g4, metal, slice,
		// A family newer than everything known here, and chips that are no GPUs.
		onDemand("us-east-1", "p9.48xlarge", "P9", "200").with("Instance Family", "Whatever", "GPU", "NA", "GPU Memory", "NA"),
		onDemand("us-east-1", "inf2.xlarge", "I2", "0.7582000000").with("Instance Family", "Machine Learning ASIC Instances", "GPU", "1", "GPU Memory", "32 GB"),
		// A Local Zone's machine in its region's file.
		onDemand("us-east-1-atl-1", "g4dn.2xlarge", "L1", "0.940").with("Location Type", "AWS Local Zone"),
		// Only in capacity blocks, and also in capacity blocks: neither has a price.
		onDemand("us-east-1", "p6-b200.48xlarge", "CB1", "0.0000000000").with("MarketOption", "CapacityBlock", "operation", "RunInstances:CB"),
		onDemand("us-east-1", "p5.48xlarge", "CB2", "0.0000000000").with("MarketOption", "CapacityBlock", "operation", "RunInstances:CB"),
	}
}

// others are rows that must not count.
func others() []row {
	p5 := onDemand("us-east-1", "p5.48xlarge", "X", "1")
	var rows []row
	for i, r := range []row{
		p5.with("Operating System", "Windows"), p5.with("Operating System", "Ubuntu Pro"), p5.with("Tenancy", "Dedicated"), p5.with("Tenancy", "Host"),
		p5.with("CapacityStatus", "UnusedCapacityReservation"), p5.with("CapacityStatus", "AllocatedCapacityReservation"),
		p5.with("Pre Installed S/W", "SQL Web"), p5.with("License Model", "Bring your own license"), p5.with("Product Family", "Dedicated Host"),
		p5.with("TermType", "Other"), p5.with("MarketOption", "Other"), p5.with("StartingRange", "750"), p5.with("EffectiveDate", "2026-06-02"),
		onDemand("us-east-1", "m5.xlarge", "M5", "0.192").with("Instance Family", "General purpose", "GPU", "", "GPU Memory", "NA"),
		{"SKU": "Y", "TermType": "OnDemand", "Product Family": "Storage", "Unit": "GB-Mo", "PricePerUnit": "0.1"},
	} {
		rows = append(rows, r.with("SKU", fmt.Sprint("X", i)))
	}
	return rows
}

var planColumns = "SKU,RateCode,Unit,EffectiveDate,DiscountedRate,Currency,DiscountedSKU,DiscountedServiceCode,DiscountedUsageType," +
	"DiscountedOperation,PurchaseOption,LeaseContractLength,LeaseContractLengthUnit,ServiceCode,UsageType,Operation,Description," +
	"Instance Family,Location,Location Type,Granularity,Product Family,DiscountedRegionCode,DiscountedInstanceType\n"

func plan(sku, price, pays, years, family string) string {
	return fmt.Sprintf("S,S.%s,Hrs,2026-05-05T18:51:13Z,%s,USD,%s,AmazonEC2,BoxUsage:x,RunInstances,%s,%s,year,ComputeSavingsPlans,"+
		"u,,%s year %s Savings Plan,,US East (N. Virginia),AWS Region,hourly,%s,us-east-1,x\n", sku, price, sku, pays, years, years, pays, family)
}

var eastPlans = "FormatVersion,v1.0\nDisclaimer,None\nPublication Date,2026-05-30T18:44:47Z\nVersion,1\nOfferCode,AmazonComputeSavingsPlan\n" + planColumns +
	plan("P5", "39.1", "No Upfront", "1", "ComputeSavingsPlans") +
	plan("P5", "30.2", "No Upfront", "3", "ComputeSavingsPlans") +
	plan("P5", "37.2", "Partial Upfront", "1", "ComputeSavingsPlans") +
	plan("P5", "36.4", "No Upfront", "1", "EC2InstanceSavingsPlans") +
	plan("P5", "0.0", "No Upfront", "3", "EC2InstanceSavingsPlans") +
	plan("P5", "44", "No Upfront", "5", "ComputeSavingsPlans") +
	plan("X3", "9", "No Upfront", "1", "ComputeSavingsPlans") +
	strings.Replace(plan("G4", "0.4", "No Upfront", "1", "ComputeSavingsPlans"), "2026-05-05", "2026-07-05", 1) +
	plan("G4", "0.38", "No Upfront", "1", "ComputeSavingsPlans") +
	plan("G4", "0.37", "No Upfront", "1", "ComputeSavingsPlans") +
	plan("CB1", "5", "No Upfront", "1", "ComputeSavingsPlans")

const (
	offersPath = "/offers/v1.0/aws/AmazonEC2/20260530/"
	plansPath  = "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/20260529/"
)

// files are what the server of price lists has.
func files() map[string]string {
	west := onDemand("us-west-2", "p4d.24xlarge", "P4", "21.9576420000")
	return map[string]string{
		"/offers/v1.0/aws/index.json": `{"formatVersion":"v1.0","offers":{"AmazonS3":{},"AmazonEC2":{"offerCode":"AmazonEC2",
			"currentRegionIndexUrl":"/offers/v1.0/aws/AmazonEC2/current/region_index.json",
			"currentSavingsPlanIndexUrl":"/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json"}}}`,
		"/offers/v1.0/aws/AmazonEC2/current/region_index.json": `{"regions":{
			"us-east-1":{"regionCode":"us-east-1","currentVersionUrl":"` + offersPath + `us-east-1/index.json"},
			"us-west-2":{"regionCode":"us-west-2","currentVersionUrl":"` + offersPath + `us-west-2/index.json"},
			"us-west-2-lax-1":{"regionCode":"us-west-2-lax-1","currentVersionUrl":"` + offersPath + `us-west-2-lax-1/index.json"}}}`,
		"/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json": `{"regions":[
			{"regionCode":"us-east-1","versionUrl":"` + plansPath + `us-east-1/index.json"},
			{"regionCode":"us-west-2","versionUrl":"` + plansPath + `us-west-2/index.json"}]}`,
		offersPath + "us-east-1/index.csv":       text(slices.Concat(eastRows(), others())...),
		offersPath + "us-west-2/index.csv":       text(west),
		offersPath + "us-west-2-lax-1/index.csv": text(onDemand("us-west-2-lax-1", "m5.xlarge", "M", "0.2").with("Instance Family", "General purpose", "GPU", "")),
		plansPath + "us-east-1/index.csv":        eastPlans,
		plansPath + "us-west-2/index.csv":        eastPlans,
	}
}

var want = []string{
	"aws p5.48xlarge us-east-1 8 x - on-demand 55.04 USD",
	"aws p5.48xlarge us-east-1 8 x - reserved-1y 37.51 USD",
	"aws p5.48xlarge us-east-1 8 x - reserved-1y-partial-upfront 36.80 USD",    // 18.40 + 161184/8760
	"aws p5.48xlarge us-east-1 8 x - reserved-1y-all-upfront 36.073059361 USD", // 316000/8760
	"aws p5.48xlarge us-east-1 8 x - reserved-3y-all-upfront 24.543378995 USD", // 645000/26280
	"aws p5.48xlarge us-east-1 8 x - reserved-3y 25.70 USD",
	"aws p5.48xlarge us-east-1 8 x - savings-plan-1y 39.10 USD",
	"aws p5.48xlarge us-east-1 8 x - savings-plan-3y 30.20 USD",
	"aws g4dn.xlarge us-east-1 1 x - on-demand 0.526 USD",
	"aws g4dn.xlarge us-east-1 1 x - savings-plan-1y 0.38 USD",
	"aws g4dn.metal us-east-1 8 x - on-demand 7.824 USD",
	"aws g6f.large us-east-1 0 x - on-demand 0.202 USD",
	"aws p9.48xlarge us-east-1 0 x - on-demand 200.00 USD",
	"aws inf2.xlarge us-east-1 1 x - on-demand 0.7582 USD",
	"aws g4dn.2xlarge us-east-1-atl-1 8 x - on-demand 0.94 USD",
	"aws p6-b200.48xlarge us-east-1 8 x - listed",
	"aws p4d.24xlarge us-west-2 8 x - on-demand 21.957642 USD",
}

func serve(files map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := files[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(body))
	}
}

func TestPriceList(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(aws.Maker, feed.Config{Endpoint: address}, w)
		},
		Server: func(*testing.T, func() string) http.Handler { return serve(files()) },
		Want:   want,
		Part:   offersPath + "us-west-2/", LostRegion: "us-west-2",
	})
}

// read reads a source once from a server with some files.
func read(t *testing.T, m feed.Maker, files map[string]string, c feed.Config) (*feedtest.Sink, error) {
	t.Helper()
	return feedtest.Read(t, m, c, nil, serve(files))
}

func TestWhatIsKnownOfAMachine(t *testing.T) {
	got, err := read(t, aws.Maker, files(), feed.Config{Regions: []string{"us-east-1"}})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range got.Listings {
		nvme, net, metal := "-", "-", "-"
		if v, ok := l.NVMe.Get(); ok {
			nvme = fmt.Sprint(v.GB())
		}
		if v, ok := l.NetworkGbps.Get(); ok {
			net = fmt.Sprint(v)
		}
		if v, ok := l.BareMetal.Get(); ok {
			metal = fmt.Sprint(v)
		}
		lines = append(lines, fmt.Sprintf("%s %s %v CPUs %v GiB, %v MiB on chips, NVMe %s, net %s, metal %s, reserved %t", l.InstanceType, l.Region,
			l.VCPU.Or(-1), float64(l.RAM.Or(-1))/float64(unit.GiB), l.MiB, nvme, net, metal, l.Reservation))
		if l.At.File == "" || l.At.Line < 8 {
			t.Errorf("stood at %v", l.At)
		}
	}
	wantLines := []string{
		"g4dn.metal us-east-1 96 CPUs 384 GiB, 655360 MiB on chips, NVMe 1800, net 100, metal true, reserved false",
		"g4dn.xlarge us-east-1 4 CPUs 16 GiB, 16384 MiB on chips, NVMe 125, net -, metal false, reserved false",
		"g6f.large us-east-1 2 CPUs 8 GiB, 0 MiB on chips, NVMe -, net 100, metal false, reserved false",
		"inf2.xlarge us-east-1 192 CPUs 2048 GiB, 32768 MiB on chips, NVMe 30720, net 3200, metal false, reserved false",
		"p5.48xlarge us-east-1 192 CPUs 2048 GiB, 655360 MiB on chips, NVMe 30720, net 3200, metal false, reserved false",
		"p6-b200.48xlarge us-east-1 192 CPUs 2048 GiB, 655360 MiB on chips, NVMe 30720, net 3200, metal false, reserved true",
		"p9.48xlarge us-east-1 192 CPUs 2048 GiB, 0 MiB on chips, NVMe 30720, net 3200, metal false, reserved false",
		"g4dn.2xlarge us-east-1-atl-1 192 CPUs 2048 GiB, 655360 MiB on chips, NVMe 30720, net 3200, metal false, reserved false",
	}
	if !slices.Equal(lines, wantLines) {
		t.Errorf("%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(wantLines, "\n"))
	}
	if len(got.Losses) > 0 || len(got.Rejections) > 0 {
		t.Errorf("lost %v, rejected %v", got.Losses, got.Rejections)
	}
}

// Every row of the list is passed, rejected or part of a machine that is listed.
func TestRowsAddUp(t *testing.T) {
	bad := []row{
		onDemand("us-east-1", "p5.48xlarge", "Z1", "55,04"), onDemand("us-east-1", "p5.48xlarge", "Z2", "-1"),
		onDemand("us-east-1", "p5.48xlarge", "Z3", "1").with("Currency", "Dollars"), onDemand("", "p5.48xlarge", "Z4", "1"),
		onDemand("us-east-1", "p5.48xlarge", "Z5", "1").with("Unit", "Quantity"), onDemand("us-east-1", "p5.48xlarge", "Z6", "1").with("Unit", "Days"),
		reserved(onDemand("us-east-1", "p5.48xlarge", "Z7", "1"), "T", "2yr", "No Upfront", "Hrs", "1"),
		onDemand("us-east-1", "trn2.48xlarge", "Z8", "0.0000000000"),
		reserved(onDemand("us-east-1", "trn2.48xlarge", "Z9", "1"), "T", "3yr", "Partial Upfront", "Hrs", "1"),
	}
	all := slices.Concat(eastRows(), others(), bad)
	f := files()
	f[offersPath+"us-east-1/index.csv"] = text(all...) + "\"Linux\",\"Shared\"\n"
	f[plansPath+"us-east-1/index.csv"] = eastPlans[:strings.Index(eastPlans, planColumns)+len(planColumns)] + plan("P5", "1/2", "No Upfront", "1", "ComputeSavingsPlans")
	got, err := read(t, aws.Maker, f, feed.Config{Regions: []string{"us-east-1"}})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, r := range got.Rejections {
		kinds = append(kinds, fmt.Sprint(r.Kind, " ", r.InstanceType, " ", r.Args["Column"]))
	}
	wantKinds := []string{
		"row p5.48xlarge PricePerUnit", "row p5.48xlarge PricePerUnit", "row p5.48xlarge Currency", "row p5.48xlarge Region Code",
		"row p5.48xlarge Unit", "row p5.48xlarge Unit", "row p5.48xlarge PurchaseOption", "row  <nil>",
		"row trn2.48xlarge PricePerUnit", "zero_price trn2.48xlarge <nil>",
	}
	if slices.Sort(kinds[8:]); !slices.Equal(kinds, wantKinds) {
		t.Errorf("rejected\n%s\nwant\n%s", strings.Join(kinds, "\n"), strings.Join(wantKinds, "\n"))
	}
	// Of the rows of P5 one is in force next month and one convertible; CB2 is sold otherwise too.
	if len(got.Covered) != 0 {
		t.Errorf("says that it has read all of %v", got.Covered)
	}
	const ofMachines = 10 + 3 + 2 + 1 + 1
	passed := len(eastRows()) - ofMachines + len(others()) + 1
	if got.Passed != passed || len(got.Listings) != 8 {
		t.Errorf("%d passed, %d listed; want %d and 8", got.Passed, len(got.Listings), passed)
	}
}

// The order of rows never shows, even where two terms or rates are of one day.
func TestOrderOfRowsDoesNotCount(t *testing.T) {
	g4 := onDemand("us-east-1", "g4dn.xlarge", "G4", "0.526").with("GPU", "1")
	rows := append(eastRows(), reserved(g4, "B2", "1yr", "No Upfront", "Hrs", "0.31"), reserved(g4, "B1", "1yr", "No Upfront", "Hrs", "0.33"),
		reserved(g4, "B1", "1yr", "Partial Upfront", "Hrs", "0.1"), reserved(g4, "B2", "1yr", "Partial Upfront", "Quantity", "1000"))
	head, body := eastPlans[:strings.Index(eastPlans, planColumns)+len(planColumns)], slices.Collect(strings.Lines(eastPlans))
	body = body[6:]
	var first []string
	rapid.Check(t, func(rt *rapid.T) {
		f := files()
		f[offersPath+"us-east-1/index.csv"] = text(rapid.Permutation(rows).Draw(rt, "rows")...)
		f[plansPath+"us-east-1/index.csv"] = head + strings.Join(rapid.Permutation(body).Draw(rt, "plans"), "")
		got, err := read(t, aws.Maker, f, feed.Config{Regions: []string{"us-east-1"}})
		if err != nil {
			rt.Fatal(err)
		}
		if first == nil {
			first = got.Lines()
		}
		if !slices.Equal(got.Lines(), first) {
			rt.Fatalf("%s\nand in another order\n%s", strings.Join(got.Lines(), "\n"), strings.Join(first, "\n"))
		}
	})
	if !slices.Contains(first, "aws g4dn.xlarge us-east-1 1 x - reserved-1y 0.33 USD") || !slices.Contains(first, "aws g4dn.xlarge us-east-1 1 x - savings-plan-1y 0.38 USD") {
		t.Error(strings.Join(first, "\n"))
	}
}

// Savings plans with a row that is none are not said to be complete.
func TestRaggedSavingsPlans(t *testing.T) {
	f := files()
	f[plansPath+"us-east-1/index.csv"] += "No Upfront,1,year\n"
	got, err := read(t, aws.Maker, f, feed.Config{Regions: []string{"us-east-1"}})
	if err != nil || len(got.Covered) != 2*7 || !slices.Contains(got.Lines(), "aws p5.48xlarge us-east-1 8 x - savings-plan-1y 39.10 USD") {
		t.Errorf("%v, covers %v", err, got.Covered)
	}
}

// Blocks that have a price after all are read as such.
func TestPricedCapacityBlocks(t *testing.T) {
	f := files()
	f[offersPath+"us-east-1/index.csv"] = text(onDemand("us-east-1", "p5.48xlarge", "CB", "31.464").with("MarketOption", "CapacityBlock"))
	got, err := read(t, aws.Maker, f, feed.Config{Regions: []string{"us-east-1"}})
	if err != nil || !slices.Equal(got.Lines(), []string{"aws p5.48xlarge us-east-1 8 x - capacity-block 31.464 USD"}) || !got.Listings[0].Reservation {
		t.Errorf("%v %v", got.Lines(), err)
	}
}

func TestSavingsPlanOfOneFamily(t *testing.T) {
	got, err := read(t, aws.Maker, files(), feed.Config{Regions: []string{"us-east-1"}, Options: map[string]string{"savings-plan": "ec2-instance"}})
	if err != nil {
		t.Fatal(err)
	}
	plans := slices.DeleteFunc(got.Lines(), func(l string) bool { return !strings.Contains(l, "savings-plan") })
	if !slices.Equal(plans, []string{"aws p5.48xlarge us-east-1 8 x - savings-plan-1y 36.40 USD"}) {
		t.Error(plans)
	}
}

// Where only the savings plans cannot be read, the other prices stand, and those of savings plans are not said to be gone.
func TestSavingsPlansAreLostAlone(t *testing.T) {
	for name, spoil := range map[string]func(map[string]string){
		"a region's": func(f map[string]string) { f[plansPath+"us-east-1/index.csv"] = "no list" },
		"their index": func(f map[string]string) {
			f["/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json"] = "no index"
		},
	} {
		f := files()
		spoil(f)
		got, err := read(t, aws.Maker, f, feed.Config{Regions: []string{"us-east-1"}})
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(slices.Sorted(slices.Values(want)), func(l string) bool {
			return strings.Contains(l, "savings-plan") || strings.Contains(l, "us-west-2")
		})
		if !slices.Equal(got.Lines(), lines) {
			t.Errorf("%s: %v", name, got.Lines())
		}
		if len(got.Losses) != 1 || got.Losses[0].Region != "us-east-1" {
			t.Errorf("%s: losses %v", name, got.Losses)
		}
		if len(got.Covered) != 2*7 || slices.ContainsFunc(got.Covered, func(c catalog.Cover) bool { return strings.HasPrefix(string(c.Mode), "savings") }) {
			t.Errorf("%s: covers %v", name, got.Covered)
		}
	}
}

func TestCovers(t *testing.T) {
	got, err := read(t, aws.Maker, files(), feed.Config{})
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string][]string{}
	for _, c := range got.Covered {
		modes[c.Region] = append(modes[c.Region], string(c.Mode))
	}
	for region, n := range map[string]int{"us-east-1": 9, "us-east-1-atl-1": 9, "us-west-2": 9, "us-west-2-lax-1": 7} {
		if len(modes[region]) != n || slices.Contains(modes[region], string(catalog.CapacityBlock)) {
			t.Errorf("%s: %v", region, modes[region])
		}
	}
}

func TestChina(t *testing.T) {
	const path = "/offers/v1.0/cn/AmazonEC2/20260530/cn-north-1/index"
	got, err := read(t, aws.China, map[string]string{
		"/offers/v1.0/cn/index.json":                          `{"offers":{"AmazonEC2":{"currentRegionIndexUrl":"/offers/v1.0/cn/AmazonEC2/current/region_index.json"}}}`,
		"/offers/v1.0/cn/AmazonEC2/current/region_index.json": `{"regions":{"cn-north-1":{"regionCode":"cn-north-1","currentVersionUrl":"` + path + `.json"}}}`,
		path + ".csv": text(onDemand("cn-north-1", "g4dn.xlarge", "C", "4.3140000000").with("Currency", "CNY", "GPU", "1")),
	}, feed.Config{})
	if err != nil || !slices.Equal(got.Lines(), []string{"aws g4dn.xlarge cn-north-1 1 x - on-demand 4.314 CNY"}) {
		t.Errorf("%v %v", got.Lines(), err)
	}
	if len(got.Covered) != 7 || len(got.Losses) > 0 {
		t.Errorf("covers %v, lost %v", got.Covered, got.Losses)
	}
}

func TestRegionThatIsNot(t *testing.T) {
	got, err := read(t, aws.Maker, files(), feed.Config{Regions: []string{"us-west-2", "us-esat-1", "us-esat-1"}, File: "sources.yaml", Line: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Losses) != 1 || got.Losses[0].Region != "us-esat-1" {
		t.Fatalf("losses %v", got.Losses)
	}
	p := problem.All(got.Losses[0].Why)[0]
	if p.Code != "feed.no_region" || p.File != "sources.yaml" || p.Line != 3 || !slices.Contains(p.Suggest, "us-east-1") {
		t.Errorf("%+v", p)
	}
}

func TestListsThatAreRefused(t *testing.T) {
	header := text()
	for name, c := range map[string]struct{ path, body, code, says string }{
		"no EC2":         {"/offers/v1.0/aws/index.json", `{"offers":{"AmazonS3":{}}}`, fetch.CodeMalformed, "AmazonEC2"},
		"another server": {"/offers/v1.0/aws/index.json", `{"offers":{"AmazonEC2":{"currentRegionIndexUrl":"//evil.example/x.json"}}}`, fetch.CodeMalformed, "this server"},
		"no regions":     {"/offers/v1.0/aws/AmazonEC2/current/region_index.json", `{"regions":{}}`, "feed.empty", "aws"},
		"a number":       {"/offers/v1.0/aws/AmazonEC2/current/region_index.json", `{"regions":7}`, fetch.CodeMalformed, "regions"},
		"elsewhere": {"/offers/v1.0/aws/AmazonEC2/current/region_index.json",
			`{"regions":{"us-east-1":{"regionCode":"us-east-1","currentVersionUrl":"https://evil.example/index.json"}}}`, fetch.CodeMalformed, "us-east-1"},
		"no rows":               {offersPath + "us-east-1/index.csv", header, "feed.empty", "us-east-1"},
		"no header":             {offersPath + "us-east-1/index.csv", strings.Repeat("a,b\n", 40), fetch.CodeMalformed, "SKU"},
		"other columns":         {offersPath + "us-east-1/index.csv", strings.Replace(header, "PricePerUnit", "Price", 1), fetch.CodeMalformed, "PricePerUnit"},
		"open quotes":           {offersPath + "us-east-1/index.csv", header + "\"a,b\n", fetch.CodeMalformed, "quotation"},
		"rows of another width": {offersPath + "us-east-1/index.csv", header + strings.Repeat("Linux,Shared\n", 25_000), fetch.CodeMalformed, "cannot be read"},
		"a long row":            {offersPath + "us-east-1/index.csv", header + strings.Repeat("a", 2<<20) + "\n", fetch.CodeMalformed, "bytes"},
	} {
		f := files()
		f[c.path] = c.body
		got, err := read(t, aws.Maker, f, feed.Config{Regions: []string{"us-east-1"}})
		if p := problem.All(err); len(p) != 1 || p[0].Code != c.code || !strings.Contains(p[0].Error(), c.says) {
			t.Errorf("%s: %v, want %s %q", name, err, c.code, c.says)
		}
		if len(got.Listings)+len(got.Covered) > 0 {
			t.Errorf("%s: %v stands", name, got.Lines())
		}
	}
}

func TestSettings(t *testing.T) {
	_, err := aws.Maker.New(feed.Config{
		Name: "aws", Kind: "aws", Path: "x", Options: map[string]string{"savings-plan": "convertible", "partition": "cn"}, File: "s.yaml", Line: 2,
	}, feedtest.World(t, nil, fetch.Options{}))
	var codes []string
	for _, p := range problem.All(err) {
		codes = append(codes, p.Code)
	}
	if !slices.Equal(codes, []string{"feed.not_taken", "feed.unknown_option", "feed.bad_setting"}) {
		t.Errorf("%v", err)
	}
}
