package skypilot_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/feed/skypilot"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

const (
	lambda = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\r\n" +
		"gpu_8x_h100_sxm5,H100,8.0,208,1800,23.92,us-west-3,\"{'Gpus': [{'Name': 'H100', 'Manufacturer': 'NVIDIA', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 81920}}], 'TotalGpuMemoryInMiB': 81920}\",\r\n" +
		"gpu_1x_a10,A10,1.0,30,200,0.75,us-east-1,\"{'Gpus': [{'Name': 'A10', 'Manufacturer': 'NVIDIA', 'Count': 1.0, 'MemoryInfo': {'SizeInMiB': 24576}}], 'TotalGpuMemoryInMiB': 24576}\",\r\n" +
		"cpu_4x_general,,,4,16,0.2,us-east-1,,\r\n"
	nebius = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n" +
		"gpu-h200-sxm_8gpu-128vcpu-1600gb,H200,8,128,1600,28.0,eu-north1,\"{'Gpus': [{'Name': 'H200', 'Manufacturer': 'NVIDIA', 'Count': 8, 'MemoryInfo': {'SizeInMiB': 144384}}]}\",11.6\n"
)

// files are what a server, or a folder, has.
var files = map[string]string{"lambda/vms.csv": lambda, "nebius/vms.csv": nebius}

func server(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/commits" {
			day := map[string]string{"catalogs/v8/lambda/vms.csv": "2026-05-20", "catalogs/v8/nebius/vms.csv": "2025-08-25"}[r.URL.Query().Get("path")]
			_, _ = fmt.Fprintf(w, `[{"sha":"x","commit":{"committer":{"name":"x","date":"%sT07:12:00Z"}}}]`, day)
			return
		}
		text, ok := files[strings.TrimPrefix(r.URL.Path, "/catalogs/v8/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, text)
	}
}

func config(address string) feed.Config {
	return feed.Config{Endpoint: address + "/catalogs/v8", Endpoints: map[string]string{"commits": address + "/commits"}, Providers: []string{"Lambda", "nebius"}}
}

var want = []string{
	"lambda gpu_8x_h100_sxm5 us-west-3 8 x H100 on-demand 23.92 USD",
	"lambda gpu_1x_a10 us-east-1 1 x A10 on-demand 0.75 USD",
	"nebius gpu-h200-sxm_8gpu-128vcpu-1600gb eu-north1 8 x H200 on-demand 28.00 USD",
	"nebius gpu-h200-sxm_8gpu-128vcpu-1600gb eu-north1 8 x H200 spot 11.60 USD",
}

func TestConformance(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(skypilot.Maker, config(address), w)
		},
		Server: func(t *testing.T, _ func() string) http.Handler { return server(t) },
		Want:   want,
		Part:   "/nebius/vms.csv", LostRegion: "",
	})
}

// A copy's prices are second-hand and of the day of the copy; nothing is said to be all there is.
func TestDays(t *testing.T) {
	got, err := feedtest.ReadAt(t, skypilot.Maker, config, nil, server(t))
	if err != nil || got.Passed != 1 || len(got.Covered) != 0 {
		t.Fatalf("%v, %d passed, covers %v", err, got.Passed, got.Covered)
	}
	for _, l := range got.Listings {
		for _, p := range l.Prices {
			if p.AsOf != map[string]string{"lambda": "2026-05-20", "nebius": "2025-08-25"}[l.Provider] || p.Confidence != catalog.Secondary {
				t.Errorf("%+v", p)
			}
		}
	}
	for _, c := range []struct {
		asOf, want string
		unknown    bool
	}{{"2026-01-02", "2026-01-02", false}, {"", "", true}} {
		got, err := feedtest.ReadAt(t, skypilot.Maker, func(address string) feed.Config {
			return feed.Config{Endpoint: address + "/catalogs/v8", Providers: []string{"lambda"}, Options: map[string]string{"as_of": c.asOf}}
		}, nil, server(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range got.Listings {
			if p := l.Prices[0]; p.AsOf != c.want || slices.Contains(p.Flags, catalog.DateUnknown) != c.unknown {
				t.Errorf("as of %q: %+v", c.asOf, p)
			}
		}
	}
}

func TestAProviderThatIsNotThere(t *testing.T) {
	got, err := feedtest.ReadAt(t, skypilot.Maker, func(address string) feed.Config {
		c := config(address)
		c.Providers = append(c.Providers, "coreweave")
		return c
	}, nil, server(t))
	if err != nil || len(got.Losses) != 1 || got.Losses[0].Provider != "coreweave" || len(got.Lines()) != len(want) {
		t.Errorf("%v, losses %v", err, got.Losses)
	}
}

// folder lets a source read files below a folder called catalog.
func folder(t *testing.T, texts map[string]string, c feed.Config) (*feedtest.Sink, error) {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range texts {
		tree["catalog/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	w := feedtest.World(t, nil, fetch.Options{})
	w.Read = tree.ReadFile
	w.List = func(at string) (names []string, err error) {
		below, err := fs.Sub(tree, at)
		if err != nil {
			return nil, err
		}
		err = fs.WalkDir(below, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, name)
			}
			return err
		})
		return names, err
	}
	c.Path = "catalog"
	var got feedtest.Sink
	err := feedtest.Open(skypilot.Maker, c, w).Fetch(t.Context(), &got)
	return &got, err
}

func TestFolder(t *testing.T) {
	got, err := folder(t, map[string]string{
		"v9/lambda/vms.csv": strings.ReplaceAll(lambda, "23.92", "99"), "v10/lambda/vms.csv": lambda, "v8/nebius/vms.csv": nebius,
		"v8/common/accelerators.csv": "a,b\n", "v8/unheard-of/vms.csv": lambda, "README.md": "x", "v8/do/images.csv": "x",
	}, feed.Config{})
	if err != nil {
		t.Fatal(err)
	}
	lines := got.Lines()
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], " date_unknown")
	}
	if !slices.Equal(lines, slices.Sorted(slices.Values(want))) {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
	if got, err = folder(t, map[string]string{"lambda/vms.csv": lambda, "nebius/vms.csv": "not,prices\n1,2\n"}, feed.Config{}); err != nil || len(got.Losses) != 1 {
		t.Errorf("%v, losses %v", err, got.Losses)
	}
	if _, err := folder(t, map[string]string{"README.md": "x"}, feed.Config{}); problem.All(err)[0].Code != "feed.empty" {
		t.Errorf("%v", err)
	}
	if _, err := folder(t, nil, feed.Config{}); problem.All(err)[0].Code != "feed.unreadable" {
		t.Errorf("%v", err)
	}
}

func TestSettings(t *testing.T) {
	_, err := folder(t, nil, feed.Config{Endpoint: "https://example.com", Options: map[string]string{"as_of": "May"}, Providers: []string{"lamda"}, Regions: []string{"x"}})
	var codes []string
	for _, p := range problem.All(err) {
		codes = append(codes, p.Code)
	}
	if !slices.Equal(codes, []string{"feed.not_taken", "feed.not_both", "feed.bad_setting", "provider.unknown"}) {
		t.Errorf("%v", codes)
	}
}

// Every file of the public catalogs is read, and every row of it accounted for.
func TestPublicFiles(t *testing.T) {
	root := filepath.Join(sharedtest.Dir(t), "catalog", "skypilot")
	w := feedtest.World(t, nil, fetch.Options{})
	var mu sync.Mutex
	var read []string
	w.Read = func(name string) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		read = append(read, name)
		return os.ReadFile(name)
	}
	w.List = func(at string) (names []string, err error) {
		err = fs.WalkDir(os.DirFS(at), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, name)
			}
			return err
		})
		return names, err
	}
	var got feedtest.Sink
	if err := feedtest.Open(skypilot.Maker, feed.Config{Path: root}, w).Fetch(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	for _, l := range got.Losses {
		t.Errorf("lost %s: %v", l.Provider, l.Why)
	}
	rows := 0
	for _, name := range read {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rows += strings.Count(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	if n := len(got.Listings) + len(got.Rejections) + got.Passed; n != rows || len(read) < 20 || len(got.Listings) < 2500 {
		t.Errorf("%d rows of %d in %d files, %d of them listed", n, rows, len(read), len(got.Listings))
	}
}
