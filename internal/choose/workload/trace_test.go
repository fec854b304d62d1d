package workload

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rackrate/rackrate/internal/base/packed"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

const traced = "kind: serve\nmodel: llama-3.1-8b\ntraffic:\n  trace: requests.csv.gz\n"

// What is left open beside a trace is the trace's own.
func TestTraceStandsForTheTraffic(t *testing.T) {
	w, err := Parse("w.yaml", []byte(traced), oneFile, fakeFacts())
	if err != nil {
		t.Fatal(err)
	}
	got := w.Traffic
	if got.RequestsPerSecond != 2 || got.InputTokens != 200 || got.OutputTokens != 50 || len(got.Trace.Requests) != 200 {
		t.Errorf("%g a second, %d in, %d out, %d requests", got.RequestsPerSecond, got.InputTokens, got.OutputTokens, len(got.Trace.Requests))
	}
	if diff := cmp.Diff([]Arrival{{0, 100, 50}, {0.5, 300, 50}, {1, 100, 50}}, got.Trace.Requests[:3]); diff != "" {
		t.Error(diff)
	}
	checkRoundTrip(t, "w.yaml", w)
}

// Lengths stated beside it are met by scaling its own; a stated rate leaves its clock alone.
func TestTraceIsScaledToWhatIsStated(t *testing.T) {
	w, err := Parse("w.yaml", []byte(traced+"  requests_per_second: 10\n  input_tokens: 400\n  output_tokens: 25\n"), oneFile, fakeFacts())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Arrival{{0, 200, 25}, {0.5, 600, 25}, {1, 200, 25}}, w.Traffic.Trace.Requests[:3]); diff != "" {
		t.Error(diff)
	}
	if peak := w.Traffic.Trace.Peak(); math.Abs(peak-2) > 1e-9 || w.Traffic.RequestsPerSecond != 10 {
		t.Errorf("peak %g, traffic %g", peak, w.Traffic.RequestsPerSecond)
	}
	checkRoundTrip(t, "w.yaml", w)
}

func TestTracePeak(t *testing.T) {
	var tr Trace
	for s := range 3000 {
		tr.Requests = append(tr.Requests, Arrival{Seconds: float64(s)})
		if s >= 1000 && s < 1300 {
			tr.Requests = append(tr.Requests, Arrival{Seconds: float64(s) + 0.5})
		}
	}
	if got := tr.Peak(); math.Abs(got-2) > 0.01 {
		t.Errorf("peak %g, want the busiest five minutes' 2", got)
	}
	if b := tr.Busiest(); b[0].Seconds < 999 || b[len(b)-1].Seconds > 1301 {
		t.Errorf("busiest from %g to %g", b[0].Seconds, b[len(b)-1].Seconds)
	}
}

func TestTraceForms(t *testing.T) {
	for text, want := range map[string][]Arrival{
		"GeneratedTokens,Other,timestamp,CONTEXTTOKENS\n5,x,20,1\n\n0,x,10.5,0\n":                                               {{0, 1, 1}, {9.5, 1, 5}},
		"\"TIMESTAMP\",\"ContextTokens\",\"GeneratedTokens\"\n\"1\",\"3\",\"4\"\n":                                              {{0, 3, 4}},
		"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16T18:00:00Z,3,4\n2023-11-16 19:00:01.5+01:00,5,6\n":                  {{0, 3, 4}, {1.5, 5, 6}},
		"\xef\xbb\xbfTIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 23:59:59.5,3,4\r\n2023-11-17 00:00:00.25000,5,6\r\n": {{0, 3, 4}, {0.75, 5, 6}},
	} {
		got, line := readTrace([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || line != 0 {
			t.Errorf("%q: line %d %s", text, line, diff)
		}
	}
	for text, want := range map[string]int{
		"TIMESTAMP,ContextTokens\n1,2\n":                                 1,
		"TIMESTAMP,ContextTokens,GeneratedTokens\n1,2,3\n1,2\n":          3,
		"TIMESTAMP,ContextTokens,GeneratedTokens\nnoon,2,3\n":            2,
		"TIMESTAMP,ContextTokens,GeneratedTokens\n\n1,-2,3\n":            3,
		"TIMESTAMP,ContextTokens,GeneratedTokens\n1,2,9999999999\n":      2,
		"TIMESTAMP,ContextTokens,GeneratedTokens\n1,2,3\nNaN,2,3\n":      3,
		"TIMESTAMP,ContextTokens,GeneratedTokens\n1,2,3\n1,2.5,3\n1,2,3": 3,
	} {
		if got, line := readTrace([]byte(text)); got != nil || line != want {
			t.Errorf("%q: fault at line %d, want %d", text, line, want)
		}
	}
}

func TestTraceFaults(t *testing.T) {
	for code, open := range map[string]func(string) ([]byte, error){
		codeTraceFile:  func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		codeTraceLine:  func(string) ([]byte, error) { return []byte("a,b\n"), nil },
		codeTraceShort: func(string) ([]byte, error) { return evenTrace(minTrace - 1), nil },
		codeContext: func(string) ([]byte, error) {
			z, err := gzip.NewReader(bytes.NewReader(evenTrace(150)))
			if err != nil {
				return nil, err
			}
			plain, err := io.ReadAll(z)
			return bytes.Replace(plain, []byte(",100,50"), []byte(",131072,1"), 1), err
		},
	} {
		_, err := Parse("w.yaml", []byte(traced), open, fakeFacts())
		if list := problem.All(err); len(list) != 1 || list[0].Code != code || list[0].Line != 4 {
			t.Errorf("%s: %v", code, err)
		}
	}
	broken := func(string) ([]byte, error) { return evenTrace(150)[:100], nil }
	if _, err := Parse("w.yaml", []byte(traced), broken, fakeFacts()); len(problem.All(err)) != 1 || problem.All(err)[0].Code != codeTraceFile {
		t.Errorf("half a file: %v", err)
	}
	if _, err := Parse("w.yaml", []byte(strings.Replace(traced, "trace:", "profile: diurnal\n  trace:", 1)), oneFile, fakeFacts()); len(problem.All(err)) != 1 || problem.All(err)[0].Code != codeTwoWays {
		t.Errorf("a profile beside a trace: %v", err)
	}
}

// The public traces can be read as they are: an hour of requests with the published counts.
func TestAzureTraces(t *testing.T) {
	for name, want := range map[string]int{"azure_llm_2023_code.csv.gz": 8819, "azure_llm_2023_conv.csv.gz": 19366} {
		data, err := os.ReadFile(filepath.Join(sharedtest.Dir(t), "traces", name))
		if err == nil {
			data, err = packed.Plain(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		requests, line := readTrace(data)
		if line != 0 || len(requests) != want {
			t.Fatalf("%s: %d requests, fault at line %d; want %d", name, len(requests), line, want)
		}
		tr := Trace{Requests: requests}
		in, out := tr.means()
		t.Logf("%s: %.0f s, peak %.2f/s, %.0f in, %.0f out, longest %d", name, requests[len(requests)-1].Seconds, tr.Peak(), in, out, tr.Longest())
		if mean := tr.Mean(); tr.Peak() <= mean || tr.Peak() > 5*mean {
			t.Errorf("%s: peak %g of mean %g", name, tr.Peak(), mean)
		}
	}
}
