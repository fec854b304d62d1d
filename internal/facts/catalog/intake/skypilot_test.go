package intake_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

const skyHead = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,Generation\n"

// heard keeps what a reader hands on.
type heard struct {
	rows []intake.Listing
	out  []intake.Rejection
}

func (h *heard) Add(l intake.Listing)      { h.rows = append(h.rows, l) }
func (h *heard) Reject(r intake.Rejection) { h.out = append(h.out, r) }

// taken reads a text without a catalog and says what was made of it: offers with their prices, then what was left out.
func taken(t *testing.T, name, text string, o intake.ReadOptions) string {
	t.Helper()
	in := options(nil)
	if err := intake.Read(name, strings.NewReader(text), in, o); err != nil {
		t.Fatal(err)
	}
	r := in.Result()
	checkTally(t, r, 0)
	var out []string
	for _, row := range r.Rows {
		place := row.Region
		if row.Zone != "" {
			place += "/" + row.Zone
		}
		line := fmt.Sprintf("%s %s %s x %s %s", row.Provider, row.InstanceType, catalog.FormatCount(row.Count), row.Accelerator.Name, place)
		if row.Price.Mode != "" {
			line += fmt.Sprintf(" %s %s", row.Price.Mode, row.Price.Hourly)
		}
		for _, f := range row.Price.Flags {
			line += " !" + string(f)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	for _, x := range r.Rejections {
		out = append(out, fmt.Sprintf("%s:%d", x.Kind, x.At.Line))
	}
	return strings.Join(out, "; ")
}

// What public files of this format really hold (cases 1, 4, 10 and 17).
func TestSkyPilotQuirks(t *testing.T) {
	for _, w := range []struct{ name, row, want string }{
		{"Python dict with null", `n3-A100x2,A100-80G-PCIe,2,60,240.0,"{'Gpus': [{'Name': 'A100-80G-PCIe', 'Manufacturer': null, 'Count': 2, 'MemoryInfo': {'SizeInMiB': 81920}}], 'TotalGpuMemoryInMiB': 163840}",2.7,,CANADA-1,V1`,
			"acme n3-A100x2 2 x A100-PCIe-80GB CANADA-1 on-demand 2.70 USD/h"},
		{"JSON with doubled quotes, count as text", `x,A40,,2,4,"{""Gpus"":[{""Name"":""A40"",""Count"":""1.0"",""MemoryInfo"":{""SizeInMiB"":49152}}]}",0.36979999999999996,,ca,V1`,
			"acme x 1 x A40 ca on-demand 0.3698 USD/h"},
		{"lower-case keys", `g,H100,8,160,1920.0,"{'gpus': [{'name': 'h100', 'memoryinfo': {'sizeinmib': 81559}}]}",47.60,,tor1,V1`,
			"acme g 8 x H100-PCIe-80GB tor1 on-demand 47.60 USD/h"},
		{"bare name, ragged tail", `x,V100-32GB,2.0,8,64,V100-32GB,4.9,,us,V1,V2`, "acme x 2 x V100-PCIe-32GB us on-demand 4.90 USD/h"},
		{"name in the info only", `x,,1,8,64,"{'Gpus': [{'Name': 'L40S', 'MemoryInfo': {'SizeInMiB': 46068}}]}",1.5,,us,V1`, "acme x 1 x L40S us on-demand 1.50 USD/h"},
		{"spot 0.00 is none", `x,L40S,1,8,64,L40S,1.5,0.00,us,V1`, "acme x 1 x L40S us on-demand 1.50 USD/h"},
		{"spot", `x,L40S,1,8,64,L40S,1.5,0.5,us,V1`, "acme x 1 x L40S us on-demand 1.50 USD/h; acme x 1 x L40S us spot 0.50 USD/h"},
		{"no price at all", `x,L40S,1,8,64,L40S,,,us,V1`, "acme x 1 x L40S us"},
		{"a price of zero", `x,L40S,1,8,64,L40S,0,,us,V1`, "zero_price:2"},
		{"node total as memory of one", `x,H200,2,32,64,"{'Gpus': [{'Name': 'H200', 'Count': 2, 'MemoryInfo': {'SizeInMiB': 287542}}]}",5.18,0.00,"France, FR, EU",V1`,
			"acme x 2 x H200-NVL-141GB France, FR, EU on-demand 5.18 USD/h"},
		{"memory times count twice", `x,A100-80GB,8,240,1800,"{""Gpus"":[{""Name"":""A100-80GB"",""MemoryInfo"":{""SizeInMiB"":5242880}}]}",14.32,,US,V1`,
			"acme x 8 x A100-PCIe-80GB US on-demand 14.32 USD/h"},
		{"a modified card", `x,RTX4090,1,32,64,"{'Gpus': [{'Name': 'RTX4090', 'MemoryInfo': {'SizeInMiB': 49140}}]}",0.4,,US,V1`, "memory:2"},
		{"no accelerator", `cpu,,,4,16,,0.2,,US,V1`, "no_accelerator:2"},
		{"a count of zero is none", `cpu,,0.0,4,16,,0.2,,US,V1`, "no_accelerator:2"},
		{"words for nothing", `cpu,None,null,4,16,NaN,0.2,,US,V1`, "no_accelerator:2"},
		{"accelerator part", `,A100,1,,,A100,2.9,1.4,asia,V1`, "part_alone:2"},
		{"count missing", `x,A100,,12,85,,3.9,,asia,V1`, "count:2"},
		{"model missing", `p5.48xlarge,None,8,192,2048,"{'Gpus': [{'Name': 'None', 'Count': 8, 'MemoryInfo': {'SizeInMiB': 0}}]}",55.04,,us-east-1,V1`, "identity:2"},
		{"unknown chip", `x,Frobnitz 9,1,12,85,,3.9,,asia,V1`, "unknown_chip:2"},
		{"the price of a month", `m,H100-SXM,8,192,2048,,17520,,us,V1`, "units:2"},
		{"negative price", `x,L4,1,12,85,,-3.9,,asia,V1`, "row:2"},
		{"no number", `x,L4,one,12,85,,3.9,,asia,V1`, "row:2"},
		{"short row", `x,L4,1`, "row:2"},
		{"a quote that never closes", `x,L4,1,12,85,"{,3.9,,asia,V1`, "row:2"},
		{"a cell over two lines", "x,L4,1,12,85,\"{'Name':\n'L4'}\",3.9,,asia,V1", "acme x 1 x L4 asia on-demand 3.90 USD/h"},
		{"a quote inside of a cell", `x 3.5",L4,1,12,85,,3.9,,asia,V1`, `acme x 3.5" 1 x L4 asia on-demand 3.90 USD/h`},
	} {
		t.Run(w.name, func(t *testing.T) {
			for _, end := range []string{"\n", "\r\n", ""} {
				text := strings.ReplaceAll(skyHead, "\n", lineEnd(end)) + w.row + end
				if got := taken(t, "acme/vms.csv", text, readOptions(nil)); got != w.want {
					t.Errorf("with %q: %s, want %s", end, got, w.want)
				}
			}
		})
	}
}

func lineEnd(end string) string {
	if end == "" {
		return "\n"
	}
	return end
}

// One bad row takes no other with it, and each is told with its line.
func TestEveryFaultIsTold(t *testing.T) {
	text := skyHead + "a,L4,1,12,85,,x,,r,V1\n\n" + `b,L4,1,12,85,"open,3,,r,V1` + "\nc,L4,1\n" + "d,L4,1,12,85,,3,,r,V1\n"
	if got, want := taken(t, "acme/vms.csv", text, readOptions(nil)), "acme d 1 x L4 r on-demand 3.00 USD/h; row:2; row:4; row:5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What is peculiar about single providers.
func TestProviderQuirks(t *testing.T) {
	for _, w := range []struct{ name, file, rows, want string }{
		{"vast: device from the type, memory of the node, region to its country", "vast/vms.csv",
			`2x-RTX_4070S_Ti-32-65536,RTX4070,2,32,64.0,"{'Gpus': [{'Name': 'RTX4070S_Ti', 'Count': 2, 'MemoryInfo': {'SizeInMiB': 32752}}]}",0.44,0.00,"Michigan, US, NA",V1`,
			"vast 2x-RTX_4070S_Ti-32-65536 2 x RTX-4070-Ti-Super US on-demand 0.44 USD/h"},
		{"vast: both sizes of A100 under one name", "vast/vms.csv",
			`1x-A100_SXM4-32-65536,A100,1,32,64.0,"{'Gpus': [{'Name': 'A100_SXM4', 'MemoryInfo': {'SizeInMiB': 40960}}]}",0.6,0.00,"Texas, US, NA",V1`,
			"vast 1x-A100_SXM4_40GB-32-65536 1 x A100-SXM-40GB US on-demand 0.60 USD/h"},
		{"primeintellect: spot rows, Israel", "primeintellect/vms.csv",
			"lambdalabs__1xA10,A10,1,30,200,,0.75,,IL,V1\nlambdalabs__1xA10__SPOT,A10,1,30,200,,,0.35,IL,V1",
			"primeintellect lambdalabs__1xA10 1 x A10 IL on-demand 0.75 USD/h; primeintellect lambdalabs__1xA10 1 x A10 IL spot 0.35 USD/h"},
		{"mithril: the floor of an auction", "mithril/vms.csv", "h100-80gb.sxm.8x,H100,8,168,1814,,8.0,8.0,us-central2-a,V1",
			"mithril h100-80gb.sxm.8x 8 x H100-SXM-80GB us-central2-a spot 8.00 USD/h !auction_floor"},
		{"seeweb: no currency, an Italian vendor", "seeweb/vms.csv", "eGPU,L40S,1,8,64,,1.5,,it-mi2,V1",
			"seeweb eGPU 1 x L40S it-mi2 on-demand 1.50 EUR/h !currency_assumed"},
		{"gcp: hosts that are sold only with accelerators", "gcp/vms.csv", "a2-highgpu-1g,,,12,85,,0.94803,0.47407,asia-east1,V1\na3-highgpu-8g,,,208,1872,,43,,us,V1\nn1-standard-4,,,4,15,,0.2,,us,V1",
			"part_alone:2; part_alone:3; no_accelerator:4"},
		{"gcp: the whole price of a TPU slice", "gcp/vms.csv", ",tpu-v5p-8,1,,,tpu-v5p-8,16.8,,us-east5,V1\n,tpu-v5litepod-4,1,,,,4.8,,us-west4,V1\n,tpu-v4-4096,1,,,,700,700,us-central2,V1",
			"gcp tpu-v4-4096 2048 x TPU-v4 us-central2; gcp tpu-v5litepod-4 4 x TPU-v5e us-west4 on-demand 4.80 USD/h; gcp tpu-v5p-8 4 x TPU-v5p us-east5 on-demand 16.80 USD/h"},
		{"a folder that is an alias", "v6/do/vms.csv", "gpu-l40sx1-48gb,L40S,1,8,64,,1.57,,tor1,V1", "digitalocean gpu-l40sx1-48gb 1 x L40S tor1 on-demand 1.57 USD/h"},
	} {
		t.Run(w.name, func(t *testing.T) {
			if got := taken(t, w.file, skyHead+w.rows+"\n", readOptions(nil)); got != w.want {
				t.Errorf("%s\nwant %s", got, w.want)
			}
		})
	}
}

func TestQuirksOfMachines(t *testing.T) {
	for file, want := range map[string]string{"lium": "[marketplace]", "spheron": "[aggregated]", "lambda": "[availability_unknown]", "vast": "[marketplace host_doubtful]", "oci": "[availability_unknown]"} {
		var h heard
		if err := intake.Read(file+"/vms.csv", strings.NewReader(skyHead+"BM.x,L4,1,12,85,,3,,r,V1\n"), &h, readOptions(nil)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(h.rows[0].Flags); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
		if h.rows[0].BareMetal.Known() != (file == "oci") {
			t.Errorf("%s: bare metal %v", file, h.rows[0].BareMetal)
		}
	}
}

// IBM leaves the region out where the zone tells it.
func TestRegionFromZone(t *testing.T) {
	text := "InstanceType,AcceleratorName,AcceleratorCount,Price,Region,AvailabilityZone\ngx2,V100,1,2.5,,jp-tok-2\n"
	if got, want := taken(t, "ibm/vms.csv", text, readOptions(nil)), "ibm gx2 1 x V100-PCIe-16GB jp-tok on-demand 2.50 USD/h"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A machine that is known to have accelerators has them where a file forgets to say so.
func TestKnownMachineWithoutNamedAccelerators(t *testing.T) {
	known, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	in := options(known)
	if err := intake.Read("azure/vms.csv", strings.NewReader(skyHead+"Standard_ND96isr_H100_v5,,,96,1900,,98.32,,eastus,V1\nStandard_D2,,,2,8,,0.1,,eastus,V1\n"), in, readOptions(known)); err != nil {
		t.Fatal(err)
	}
	r := in.Result()
	if len(r.Machines) != 1 || r.Machines[0].Accelerator.Name != "H100-SXM-80GB" || r.Machines[0].Count != 8 || len(r.Rejections) != 1 || r.Rejections[0].Kind != intake.NoAccelerator {
		t.Errorf("%v %+v", lines(r), r.Rejections)
	}
}

func TestWhoseProvider(t *testing.T) {
	row := skyHead + "x,L4,1,12,85,,3,,r,V1\n"
	for _, w := range []struct{ stated, file, want string }{
		{"", "/data/catalogs/v8/lambda/vms.csv", "lambda"},
		{"", "Google Cloud/vms.csv", "gcp"},
		{"", `C:\prices\aws.csv`, "aws"},
		{"", "/tmp/aws_gpu_2026.csv", "aws"},
		{"", "/tmp/acme.csv", "acme"},
		{"", "acme/vms.csv", "acme"},
		{"Lambda Labs", "/tmp/x.csv", "lambda"},
		{"Acme", "lambda/vms.csv", "acme"},
		{"", "vms.csv", ""},
		{"", "Our prices (new).csv", ""},
		{"a b/c", "lambda/vms.csv", ""},
	} {
		o := readOptions(nil)
		o.Provider = w.stated
		var h heard
		err := intake.Read(w.file, strings.NewReader(row), &h, o)
		switch {
		case w.want == "":
			wantCode(t, w.file, err, "intake.no_provider")
		case err != nil || h.rows[0].Provider != w.want:
			t.Errorf("%s, %s: %v %v, want %s", w.stated, w.file, h.rows, err, w.want)
		}
	}
}

func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	var e *problem.Error
	if !errors.As(err, &e) || e.Code != code || e.File == "" {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestRefusesWhatItCannotRead(t *testing.T) {
	var utf16LE strings.Builder
	for _, u := range utf16.Encode([]rune("\ufeff" + skyHead)) {
		utf16LE.WriteByte(byte(u))
		utf16LE.WriteByte(byte(u >> 8))
	}
	for _, w := range []struct{ name, text, code string }{
		{"UTF-16", utf16LE.String(), "intake.encoding"},
		{"Latin-1", skyHead + "caf\xe9,L4,1,1,1,,1,,x,V1\n", "intake.encoding"},
		{"a zero byte far down", skyHead + strings.Repeat("x,,,1,1,,1,,x,V1\n", 40_000) + "\x00", "intake.encoding"},
		{"gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00", "intake.encoding"},
		{"empty", "", "intake.empty"},
		{"empty lines", "\n\r\n", "intake.empty"},
		{"other columns", "name,price\nx,1\n", "intake.not_prices"},
		{"a quote without an end", "\"name,price\nx,1\n", "intake.not_prices"},
		{"a column short", strings.Replace(skyHead, "Price,", "", 1), "catalog.missing_columns"},
		{"one long line", skyHead + strings.Repeat("x", 2<<20), "intake.long_row"},
	} {
		var h heard
		wantCode(t, w.name, intake.Read("acme/vms.csv", strings.NewReader(w.text), &h, readOptions(nil)), w.code)
	}
}

// A file may be as large as the limits say, and no larger.
func TestLimits(t *testing.T) {
	var h heard
	wantCode(t, "bytes", intake.Read("acme/vms.csv", endless(skyHead, strings.Repeat(" ", 1000)+"\n"), &h, readOptions(nil)), "intake.too_large")
	wantCode(t, "rows", intake.Read("acme/vms.csv", endless(skyHead, "x,,,1,1,,1,,x,V1\n"), &h, readOptions(nil)), "intake.too_many_rows")
}

// endless gives a head and then a line without end.
func endless(head, line string) *endlessly { return &endlessly{[]byte(head), []byte(line)} }

type endlessly struct{ rest, line []byte }

func (e *endlessly) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(e.rest) == 0 {
			e.rest = e.line
		}
		k := copy(p[n:], e.rest)
		n, e.rest = n+k, e.rest[k:]
	}
	return n, nil
}

// The bounds of a buffer show nowhere: a file in pieces of any size reads as in one.
func TestPiecesOfAnySize(t *testing.T) {
	text := "\ufeff" + string(regional(3_000))
	var whole heard
	if err := intake.Read("azure/vms.csv", strings.NewReader(text), &whole, readOptions(nil)); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 7, 100, 4096} {
		var h heard
		if err := intake.Read("azure/vms.csv", &pieces{text, size}, &h, readOptions(nil)); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(h) != fmt.Sprint(whole) {
			t.Errorf("in pieces of %d: %d and %d rows, not %d and %d", size, len(h.rows), len(h.out), len(whole.rows), len(whole.out))
		}
	}
}

type pieces struct {
	text string
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), p.size)], p.text)
	p.text = p.text[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
