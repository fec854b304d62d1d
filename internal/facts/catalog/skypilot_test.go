package catalog_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

const skyHead = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,Generation\n"

func parseSky(t *testing.T, text string) ([]catalog.Row, []catalog.Fault) {
	t.Helper()
	rows, faults, err := catalog.ParseSkyPilot("feed.csv", strings.NewReader(text), accelerator.Embedded(), "acme", today)
	if err != nil {
		t.Fatal(err)
	}
	return rows, faults
}

// Case 17: what public files of this format really hold.
func TestParseSkyPilotQuirks(t *testing.T) {
	for _, w := range []struct {
		name, row string
		want      string // chip x count: mode price …; faults
	}{
		{"Python dict with null", `n3-A100x2,A100-80G-PCIe,2,60,240.0,"{'Gpus': [{'Name': 'A100-80G-PCIe', 'Manufacturer': null, 'Count': 2, 'MemoryInfo': {'SizeInMiB': 81920}}], 'TotalGpuMemoryInMiB': 163840}",2.7,,CANADA-1,V1`,
			"2 x A100-PCIe-80GB: on-demand 2.70"},
		{"JSON with doubled quotes, count as text", `x,A40,1.0,2,4,"{""Gpus"":[{""Name"":""A40"",""Count"":""1.0"",""MemoryInfo"":{""SizeInMiB"":49152}}]}",0.36979999999999996,,ca,V1`,
			"1 x A40: on-demand 0.3698"},
		{"lower-case keys", `g,H100,8,160,1920.0,"{'gpus': [{'name': 'h100', 'memoryinfo': {'sizeinmib': 81559}}]}",47.60,,tor1,V1`,
			"8 x H100-PCIe-80GB: on-demand 47.60"},
		{"bare name, ragged tail", `x,V100-32GB,2.0,8,64,V100-32GB,4.9,,us,V1,V2`, "2 x V100-PCIe-32GB: on-demand 4.90"},
		{"spot 0.00 is none", `x,L40S,1,8,64,L40S,1.5,0.00,us,V1`, "1 x L40S: on-demand 1.50"},
		{"spot", `x,L40S,1,8,64,L40S,1.5,0.5,us,V1`, "1 x L40S: on-demand 1.50, spot 0.50"},
		{"no price at all", `x,L40S,1,8,64,L40S,,,us,V1`, "1 x L40S: listed"},
		{"node total as memory of one", `x,H200,2,32,64,"{'Gpus': [{'Name': 'H200', 'Count': 2, 'MemoryInfo': {'SizeInMiB': 287542}}]}",5.18,0.00,"France, FR, EU",V1`,
			"2 x H200-NVL-141GB: on-demand 5.18; node_memory flag"},
		{"memory times count twice", `x,A100-80GB,8,240,1800,"{""Gpus"":[{""Name"":""A100-80GB"",""MemoryInfo"":{""SizeInMiB"":5242880}}]}",14.32,,US,V1`,
			"8 x A100-PCIe-80GB: on-demand 14.32; node_memory flag"},
		{"a modified card", `x,RTX4090,1,32,64,"{'Gpus': [{'Name': 'RTX4090', 'MemoryInfo': {'SizeInMiB': 49140}}]}",0.4,,US,V1`, "; memory error"},
		{"no accelerator", `cpu,,,4,16,,0.2,,US,V1`, ""},
		{"host part", `a2-highgpu-1g,,,12,85,,0.94803,0.47407,asia,V1`, "; part_alone error"},
		{"accelerator part", `,A100,1,,,A100,2.9,1.4,asia,V1`, "; part_alone error"},
		{"count missing", `x,A100,,12,85,,3.9,,asia,V1`, "; count error"},
		{"unknown chip", `x,Frobnitz 9,1,12,85,,3.9,,asia,V1`, "; identity error"},
		{"negative price", `x,L4,1,12,85,,-3.9,,asia,V1`, "1 x L4: listed; row error"},
		{"short row", `x,L4,1`, "; row error"},
	} {
		t.Run(w.name, func(t *testing.T) {
			for _, eol := range []string{"\n", "\r\n", ""} {
				rows, faults := parseSky(t, strings.ReplaceAll(skyHead, "\n", cmpOr(eol, "\n"))+w.row+eol)
				if got := describe(rows, faults); got != w.want {
					t.Errorf("%q, want %q", got, w.want)
				}
			}
		})
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func describe(rows []catalog.Row, faults []catalog.Fault) string {
	var b strings.Builder
	for i, r := range rows {
		if i == 0 {
			fmt.Fprintf(&b, "%g x %s: ", r.Count, r.Accelerator.Name)
		} else {
			b.WriteString(", ")
		}
		if r.Price.Mode == "" {
			b.WriteString("listed")
		} else {
			fmt.Fprintf(&b, "%s %s", r.Price.Mode, r.Price.Hourly.Decimal())
		}
	}
	for _, f := range faults {
		fmt.Fprintf(&b, "; %s %s", f.Kind, f.Severity)
	}
	return b.String()
}

// Case 4: eight GPUs of model "None" with no memory.
func TestGPUPresentModelMissing(t *testing.T) {
	text := skyHead +
		`p5.48xlarge,None,8,192,2048,"{'Gpus': [{'Name': 'None', 'Count': 8, 'MemoryInfo': {'SizeInMiB': 0}}], 'TotalGpuMemoryInMiB': 0}",55.04,,us-east-1,V1` + "\n"
	rows, faults := parseSky(t, text)
	if len(rows) != 0 {
		t.Errorf("the row would rank: %+v", rows)
	}
	want := []catalog.Fault{{
		Kind: catalog.BadIdentity, Severity: catalog.IsError, Provider: "acme", InstanceType: "p5.48xlarge", Region: "us-east-1",
		Line: 2, Args: problem.Args{"Missing": "model,memory", "Count": 8.0},
	}}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
}

// Case 10: a price in the wrong unit is found in a file as in the catalog.
func TestVerifySkyPilotChecksRowsAgainstEachOther(t *testing.T) {
	text := skyHead + "m,H100-SXM,8,192,2048,,17520,,us,V1\n" + "s,H100-SXM,1,24,256,,3,3.1,us,V1\n"
	faults, err := catalog.VerifySkyPilot("feed.csv", strings.NewReader(text), accelerator.Embedded(), "acme", today)
	if err != nil {
		t.Fatal(err)
	}
	want := []catalog.FaultKind{catalog.SpotNotBelow, catalog.LooseTopology, catalog.BadUnits}
	if diff := cmp.Diff(want, kinds(faults)); diff != "" {
		t.Error(diff)
	}
}

// An on-demand price of zero is a fault; a spot price of zero says in several feeds that there is none.
func TestSkyPilotZeroPrice(t *testing.T) {
	for cells, want := range map[string]string{
		"0,":      "8 x H100-SXM-80GB: listed; zero_price error",
		"55.04,0": "8 x H100-SXM-80GB: on-demand 55.04",
		",":       "8 x H100-SXM-80GB: listed",
	} {
		if got := describe(parseSky(t, skyHead+"p5.48xlarge,H100-SXM,8,192,2048,,"+cells+",us-east-1,V1\n")); got != want {
			t.Errorf("%s: %q, want %q", cells, got, want)
		}
	}
}

func TestSkyPilotRefusesWhatItCannotRead(t *testing.T) {
	wide := string(rune(0xfeff)) + skyHead
	var utf16LE strings.Builder
	for _, u := range utf16.Encode([]rune(wide)) {
		utf16LE.WriteByte(byte(u))
		utf16LE.WriteByte(byte(u >> 8))
	}
	for _, w := range []struct{ name, text, code string }{
		{"UTF-16", utf16LE.String(), "catalog.encoding"},
		{"Latin-1", skyHead + "caf\xe9,L4,1,1,1,,1,,x,V1\n", "catalog.encoding"},
		{"empty", "", "catalog.no_header"},
		{"other columns", "name,price\nx,1\n", "catalog.missing_columns"},
	} {
		_, _, err := catalog.ParseSkyPilot("feed.csv", strings.NewReader(w.text), accelerator.Embedded(), "acme", today)
		var e *problem.Error
		if !errors.As(err, &e) || e.Code != w.code || e.File != "feed.csv" {
			t.Errorf("%s: %v, want %s at feed.csv", w.name, err, w.code)
		}
	}
}

func FuzzParseSkyPilot(f *testing.F) {
	f.Add(skyHead + `x,H200,2,32,64,"{'Gpus': [{'Name': 'H200', 'Count': 2, 'MemoryInfo': {'SizeInMiB': 287542}}]}",5.18,0.00,"France, FR, EU",V1`)
	f.Add(skyHead + "x,V100-32GB,2.0,8,64,V100-32GB,4.9,,us,V1,V2\r\n\"")
	f.Add("InstanceType,AcceleratorName,AcceleratorCount,Price,Region\nx,A100,1e300,1e9,\n")
	f.Fuzz(func(t *testing.T, text string) {
		faults, err := catalog.VerifySkyPilot("feed.csv", strings.NewReader(text), accelerator.Embedded(), "acme", today)
		if err != nil && faults != nil {
			t.Error("faults beside an error")
		}
		rows, _, _ := catalog.ParseSkyPilot("feed.csv", strings.NewReader(text), accelerator.Embedded(), "acme", today)
		for _, r := range rows {
			if r.Accelerator == nil || r.Count <= 0 || r.Price.Mode != "" && r.Price.Hourly.Nanos() <= 0 {
				t.Errorf("%+v", r)
			}
		}
	})
}
