package gcp_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/feed/gcp"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

const tableHead = "name,series,description,region,regionLocation,vCpus,memoryGiB,acceleratorCount,acceleratorType,hour,hourSpot,month,month1yCud,month3yCud\n"

const machineTable = tableHead +
	"a2-highgpu-1g,a2,\"Accelerator Optimized: 1 NVIDIA Tesla A100 GPU, 12 vCPUs, 85GB RAM\",us-central1,\"Council Bluffs, Iowa\",12.0,85.0,1.0,nvidia-tesla-a100,3.673385,1.92802,2681.57,1689.55,938.05\n" +
	"a4-highgpu-8g,a4,,us-central1,Iowa,224.0,3968.0,8.0,nvidia-b200,0.0,39.6336,0.0,,\n" +
	"a4x-highgpu-4g,a4x,,us-central1,Iowa,140.0,884.0,4.0,nvidia-gb200,0.0,0.0,0.0,0.0,0.0\n" +
	"g4-standard-6,g4,,europe-west4,Eemshaven,6.0,22.0,1.0,nvidia-rtx-pro-6000,0.559556,0.223803,408.48,0.0,0.0\n" +
	"n2-standard-8,n2,,us-central1,Iowa,8.0,32.0,0.0,,0.388472,0.09,283.58,178.66,127.61\n"

func TestTable(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(gcp.Table, feed.Config{Endpoint: address}, w)
		},
		Server: func(*testing.T, func() string) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(machineTable)) })
		},
		Want: []string{
			"gcp a2-highgpu-1g us-central1 1 x nvidia-tesla-a100 on-demand 3.673385 USD",
			"gcp a2-highgpu-1g us-central1 1 x nvidia-tesla-a100 spot 1.92802 USD",
			"gcp a2-highgpu-1g us-central1 1 x nvidia-tesla-a100 reserved-1y 2.314452055 USD", // 1689.55 / 730
			"gcp a2-highgpu-1g us-central1 1 x nvidia-tesla-a100 reserved-3y 1.285 USD",
			"gcp a4-highgpu-8g us-central1 8 x nvidia-b200 spot 39.6336 USD",
			"gcp a4x-highgpu-4g us-central1 4 x nvidia-gb200 listed",
			"gcp g4-standard-6 europe-west4 0.125 x nvidia-rtx-pro-6000 on-demand 0.559556 USD",
			"gcp g4-standard-6 europe-west4 0.125 x nvidia-rtx-pro-6000 spot 0.223803 USD",
		},
	})
}

func readTable(t *testing.T, text string, regions ...string) (*feedtest.Sink, error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
	t.Cleanup(s.Close)
	var got feedtest.Sink
	w := feedtest.World(t, nil, fetch.Options{})
	return &got, feedtest.Open(gcp.Table, feed.Config{Endpoint: s.URL, Regions: regions}, w).Fetch(t.Context(), &got)
}

func TestTableAccountsForEveryRow(t *testing.T) {
	got, err := readTable(t, machineTable+
		"a2-highgpu-2g,a2,,us-central1,Iowa,24,170,2,nvidia-tesla-a100,much,1,1,1,1\n"+
		"a2-highgpu-4g,a2,,us-central1,Iowa,48,340,four,nvidia-tesla-a100,1,1,1,1,1\n"+
		"a2-highgpu-4g,a2,,us-central1,Iowa,48,340,NaN,nvidia-tesla-a100,1,1,1,1,1\n"+
		"a2-highgpu-8g,a2\n")
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, r := range got.Rejections {
		columns = append(columns, r.Args["Column"].(string))
	}
	if !slices.Equal(columns, []string{"hour", "acceleratorCount", "acceleratorCount", "name"}) || len(got.Listings) != 4 || got.Passed != 1 {
		t.Errorf("rejected for %v, %d machines, %d passed", columns, len(got.Listings), got.Passed)
	}
	if l := got.Listings[0]; l.VCPU.Or(0) != 12 || l.RAM.Or(0) != 85<<30 || l.At.Line != 2 || l.Prices[0].Confidence != catalog.Secondary {
		t.Errorf("%+v", l)
	}
	got, err = readTable(t, machineTable, "europe-west4")
	if err != nil || len(got.Listings) != 1 || got.Passed != 4 {
		t.Errorf("one region: %v, %v", got.Lines(), err)
	}
}

func TestTablesThatAreRefused(t *testing.T) {
	for text, code := range map[string]string{
		tableHead: "feed.empty",
		strings.Replace(machineTable, "hourSpot", "spot_hour", 1): fetch.CodeMalformed,
		machineTable + "a,\"b\n":                                  fetch.CodeMalformed,
	} {
		got, err := readTable(t, text)
		if p := problem.All(err); len(p) != 1 || p[0].Code != code || len(got.Listings) > 0 {
			t.Errorf("%q: %v, want %s", text[:min(len(text), 40)], err, code)
		}
	}
}
