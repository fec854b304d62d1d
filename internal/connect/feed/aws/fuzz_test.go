package aws

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

const header = "SKU,OfferTermCode,TermType,EffectiveDate,StartingRange,Unit,PricePerUnit,Currency,LeaseContractLength,PurchaseOption," +
	"OfferingClass,Product Family,Instance Type,Operating System,Tenancy,CapacityStatus,Pre Installed S/W,Region Code,GPU,Memory,Storage\n"

func FuzzOffers(f *testing.F) {
	p5 := "P,J,OnDemand,2026-05-01,0,Hrs,55.04,USD,,,,Compute Instance,p5.48xlarge,Linux,Shared,Used,NA,us-east-1,8,\"2,048 GiB\",8 x 3840 NVMe SSD\n"
	f.Add("a\n\"b\nc\"\n" + header + p5 + strings.Replace(p5, "OnDemand", "Reserved", 1))
	f.Add(header + strings.Replace(p5, ",J,OnDemand,2026-05-01,0,Hrs,55.04,USD,,,,", `,K,Reserved,2026-05-01,,Quantity,1e9,USD,1yr,All Upfront,standard,`, 1))
	f.Add(header + strings.ReplaceAll(p5, "Linux", "\"Li\"\"nux"))
	f.Add("SKU")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := readOffers(strings.NewReader(text), "f", "2026-06-01", map[string]*catalog.Machine{})
		if err != nil {
			return
		}
		held := 0
		for _, m := range o.machines {
			held += m.rows
		}
		malformed := len(o.rejected)
		if o.rows != o.passed+malformed+held {
			t.Fatalf("%d rows: %d passed, %d rejected, %d held", o.rows, o.passed, malformed, held)
		}
		for _, m := range o.done() {
			if m.InstanceType == "" || m.Region == "" {
				t.Errorf("%+v", m.Listing)
			}
			for _, p := range m.Prices {
				if p.Hourly.Nanos() <= 0 || p.Mode == "" {
					t.Errorf("%+v", p)
				}
			}
		}
	})
}

func FuzzRates(f *testing.F) {
	f.Add(strings.Join(planNeed, ",") + "\nS,Hrs,2026-05-05T00:00:00Z,0.1,USD,P,No Upfront,1,year,ComputeSavingsPlans\n")
	f.Add(strings.Join(planNeed, ",") + "\nS,Hrs,,0.1,USD,P,No Upfront,3,year,ComputeSavingsPlans")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := readRates(strings.NewReader(text), "ComputeSavingsPlans", "2026-06-01", map[string]bool{"P": true})
		if err != nil {
			return
		}
		for sku, best := range r.best {
			for mode, p := range best {
				if sku != "P" || p.Mode != mode || p.Hourly.Nanos() <= 0 {
					t.Errorf("%s %s %+v", sku, mode, p)
				}
			}
		}
	})
}

func FuzzIndexes(f *testing.F) {
	f.Add([]byte(`{"offers":{"AmazonEC2":{"currentRegionIndexUrl":"/a","currentSavingsPlanIndexUrl":"/b"}}}`))
	f.Add([]byte(`{"regions":[{"regionCode":"us-east-1","versionUrl":"/a/index.json"}]}`))
	f.Add([]byte(`{"regions":{"x":{"regionCode":"us-east-1","currentVersionUrl":"/a/index.json"}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if i, err := decodeIndex(body); err == nil && !onServer(i.Regions) {
			t.Errorf("%+v", i)
		}
		regions, err := decodeRegions(body)
		for _, r := range regions {
			if err != nil || r.code == "" || !onServer(r.path) || !strings.HasSuffix(r.path, ".csv") {
				t.Errorf("%+v", r)
			}
		}
	})
}

func FuzzSpotPrices(f *testing.F) {
	f.Add([]byte("<DescribeSpotPriceHistoryResponse><spotPriceHistorySet><item><instanceType>p5.48xlarge</instanceType>" +
		"<productDescription>Linux/UNIX</productDescription><spotPrice>18.17</spotPrice><timestamp>2026-05-28T01:40:10.000Z</timestamp>" +
		"<availabilityZone>us-east-1a</availabilityZone></item></spotPriceHistorySet><nextToken/></DescribeSpotPriceHistoryResponse>"))
	f.Add([]byte("<DescribeSpotPriceHistoryResponse><spotPriceHistorySet><item><spotPrice>1e-9</spotPrice></item></spotPriceHistorySet></DescribeSpotPriceHistoryResponse>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var answer pricesAnswer
		if xml.Unmarshal(body, &answer) != nil {
			return
		}
		p := newPrices("aws-spot", "us-east-1", money.USD, nil)
		for _, row := range answer.Prices {
			p.add(row)
		}
		var got feedtest.Sink
		p.emit(&got, nil)
		if p.seen != len(got.Listings)+len(got.Rejections)+got.Passed {
			t.Errorf("%d rows: %d listed, %d rejected, %d passed", p.seen, len(got.Listings), len(got.Rejections), got.Passed)
		}
		for _, l := range got.Listings {
			if l.Prices[0].Hourly.Nanos() <= 0 || !strings.HasPrefix(l.Zone, "us-east-1") || !strings.HasPrefix(l.Region, "us-east-1") {
				t.Errorf("%+v", l)
			}
		}
	})
}

func FuzzTypes(f *testing.F) {
	f.Add([]byte("<DescribeInstanceTypesResponse><instanceTypeSet><item><instanceType>g6f.large</instanceType><memoryInfo><sizeInMiB>8192</sizeInMiB></memoryInfo>" +
		"<gpuInfo><gpus><item><name>L4</name><count>0</count><memoryInfo><sizeInMiB>2861</sizeInMiB></memoryInfo></item></gpus></gpuInfo></item></instanceTypeSet></DescribeInstanceTypesResponse>"))
	f.Add([]byte("<DescribeInstanceTypesResponse><instanceTypeSet><item><memoryInfo><sizeInMiB>9223372036854775807</sizeInMiB></memoryInfo></item></instanceTypeSet></DescribeInstanceTypesResponse>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var answer typesAnswer
		if xml.Unmarshal(body, &answer) != nil {
			return
		}
		for _, kind := range answer.Types {
			l := kind.listing()
			if l.RAM.Or(1) <= 0 || l.NVMe.Or(1) <= 0 || l.VCPU.Or(1) <= 0 || l.Count < 0 || l.MiB < 0 {
				t.Errorf("%+v", l)
			}
		}
	})
}

func FuzzAdvice(f *testing.F) {
	f.Add([]byte(`{"ranges":[{"index":0,"label":"<5%"}],"spot_advisor":{"us-east-1":{"Linux":{"p5.48xlarge":{"s":67,"r":0}},"Windows":{"x":{}}}}}`))
	f.Add([]byte(`{"ranges":[{"index":0,"label":"> 20 %"}],"spot_advisor":{"us-east-1":{"Linux":{"p5.48xlarge":{"s":1e300,"r":0}}}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var all advice
		bands, passed, err := all.decode(body, nil, nil)
		if err != nil {
			return
		}
		entries := 0
		for _, systems := range all.Regions {
			for _, types := range systems {
				entries += len(types)
			}
		}
		if entries != len(bands)+passed {
			t.Errorf("%d entries: %d bands, %d passed", entries, len(bands), passed)
		}
		for _, b := range bands {
			if s := b.Savings.Or(0); !slices.Contains(provider.Ranges(), b.Range) || s < -100 || s > 100 {
				t.Errorf("%+v", b)
			}
		}
	})
}

// The table reads what the standard library writes, whatever is in the cells, with any chunks coming in.
func TestTableReadsCSV(t *testing.T) {
	cell := rapid.StringOf(rapid.SampledFrom([]rune("ab,\"\n ü")))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "columns")
		rows := rapid.SliceOf(rapid.SliceOfN(cell, n, n)).Draw(t, "rows")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.Write(append([]string{"SKU"}, slices.Repeat([]string{"x"}, n-1)...)); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		table, _, err := openTable(&pieces{b.Bytes(), rapid.IntRange(1, 9).Draw(t, "piece")}, []string{"SKU"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range rows {
			row, err := table.next()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range table.split(row) {
				got = append(got, string(c))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q, want %q", got, want)
			}
		}
		if _, err := table.next(); err != io.EOF {
			t.Fatal(err)
		}
	})
}

// pieces reads a few bytes at a time.
type pieces struct {
	rest []byte
	size int
}

func (p *pieces) Read(to []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(to, p.rest[:min(p.size, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

func TestAttributes(t *testing.T) {
	for text, want := range map[string]float64{
		"100 Gigabit": 100, "4x 100 Gigabit": 400, "8 x 100 Gigabit": 800, "12500 Megabit": 12.5, "Up to 25 Gigabit": -1, "High": -1, "": -1, "NA": -1,
	} {
		if got := network(text).Or(-1); got != want {
			t.Errorf("network %q: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]float64{
		"8 x 3840 NVMe SSD": 30720, "1 x 450 GB NVMe SSD": 450, "125 GB NVMe SSD": 125, "2 x 900 GB NVMe SSD": 1800, "4 x 1,000 SSD": 4000,
		"EBS only": -1, "24 x 2000 HDD": -1, "8 x 3840 NVMe SSD and more": -1, "": -1,
	} {
		got := -1.0
		if b, ok := disks(text).Get(); ok {
			got = b.GB()
		}
		if got != want {
			t.Errorf("disks %q: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]float64{"2,048 GiB": 2048, "0.5 GiB": 0.5, "640 GB HBM3": 640, "16 GB": 16, "2861 MB": -1, "NA": -1, "": -1, "1e300 GiB": -1} {
		got := -1.0
		if b, ok := memory(text).Get(); ok {
			got = float64(b) / (1 << 30)
		}
		if got != want {
			t.Errorf("memory %q: %v, want %v", text, got, want)
		}
	}
}
