//go:build !race

// The race detector takes several times the memory that is measured here.

package aws_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/aws"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/fetch"
)

// bulk is a server whose one region has a price list of so many bytes, in rows as wide as the real ones.
func bulk(size int64) (h http.HandlerFunc, blocks int) {
	f := files()
	f["/offers/v1.0/aws/AmazonEC2/current/region_index.json"] = `{"regions":{
		"us-east-1":{"regionCode":"us-east-1","currentVersionUrl":"` + offersPath + `us-east-1/index.json"}}}`
	pad := strings.Repeat(`,"Up to 10000 Megabit"`, 40) + "\n"
	head := strings.Split(text(), "\n")
	names := ""
	for i := range 40 {
		names += fmt.Sprintf(`,"Further %d"`, i)
	}
	head[len(head)-2] += names
	header := strings.Join(head, "\n")
	// One row of fifty is a machine's with accelerators, used by anybody: about what the real list has.
	var block strings.Builder
	for i := range inBlock {
		r := onDemand("us-east-1", fmt.Sprintf("m%d.%dxlarge", i%9, i), fmt.Sprint("SKU", i), "1.92").with("Instance Family", "General purpose", "GPU", "")
		switch {
		case i%50 == 0:
			r = onDemand("us-east-1", fmt.Sprintf("g%d.%dxlarge", i%9, i), fmt.Sprint("SKU", i), "12.5")
		case i%5 > 0:
			r["Operating System"], r["Tenancy"] = "Windows", "Dedicated"
		}
		row := text(r)
		row = strings.TrimRight(row[strings.Index(row, "serviceName")+len("serviceName\"\n"):], "\n")
		block.WriteString(row + pad)
	}
	blocks = int(size / int64(block.Len()))
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != offersPath+"us-east-1/index.csv" {
			serve(f)(w, r)
			return
		}
		_, err := io.WriteString(w, header)
		for i := 0; i < blocks && err == nil; i++ {
			_, err = io.WriteString(w, block.String())
		}
	}, blocks
}

const (
	serverVar = "RACKRATE_TEST_PRICE_SERVER"
	bulkSize  = 1 << 30
	inBlock   = 2000 // rows that repeat
	maxMemory = 64 << 20
)

// A price list of a gigabyte passes through a process of its own that never holds more than 64 MB.
func TestGigabyteInLittleMemory(t *testing.T) {
	if address := os.Getenv(serverVar); address != "" {
		readAll(t, address)
		return
	}
	h, blocks := bulk(bulkSize)
	server := httptest.NewServer(h)
	defer server.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestGigabyteInLittleMemory$", "-test.v")
	cmd.Env = append(os.Environ(), serverVar+"="+server.URL)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var read, peak int64
	for line := range strings.Lines(string(out)) {
		_, _ = fmt.Sscanf(strings.TrimSpace(line), "peak=%d rows=%d", &peak, &read)
	}
	rows := int64(blocks * inBlock * 49 / 50) // the others are of the same forty machines again and again
	t.Logf("%d rows without accelerators, %d MB at most", read, peak>>20)
	if read < rows || peak <= 0 || peak > maxMemory {
		t.Errorf("%d rows of %d in %d bytes of memory, at most %d allowed", read, rows, peak, int64(maxMemory))
	}
}

// readAll is what the process does whose memory is measured.
func readAll(t *testing.T, address string) {
	var got feedtest.Sink
	err := feedtest.Open(aws.Maker, feed.Config{Endpoint: address}, feedtest.World(t, nil, fetch.Options{})).Fetch(context.Background(), &got)
	if err != nil || len(got.Listings) != inBlock/50 {
		t.Fatalf("%d machines, %v", len(got.Listings), err)
	}
	fmt.Printf("peak=%d rows=%d\n", peakMemory(t), got.Passed)
}

// peakMemory is the most that this process has held: as the system counts it, or where it does not, as Go does.
func peakMemory(t *testing.T) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.Sys)
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("no VmHWM in /proc/self/status")
	return 0
}

func BenchmarkPriceList(b *testing.B) {
	const size = 64 << 20
	h, blocks := bulk(size)
	server := httptest.NewServer(h)
	defer server.Close()
	source := feedtest.Open(aws.Maker, feed.Config{Endpoint: server.URL}, feedtest.World(b, nil, fetch.Options{}))
	b.SetBytes(size)
	for b.Loop() {
		if err := source.Fetch(b.Context(), &feedtest.Sink{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(blocks*inBlock)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
