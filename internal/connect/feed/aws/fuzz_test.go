package aws

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/facts/catalog"
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
			if m.InstanceType == "" || m.Region == "" && !m.block {
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
