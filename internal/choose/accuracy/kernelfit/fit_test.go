package kernelfit_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/accuracy/kernelfit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

func open(t *testing.T, path ...string) io.Reader {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{sharedtest.Dir(t)}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	r := io.Reader(bytes.NewReader(text))
	if filepath.Ext(path[len(path)-1]) == ".gz" {
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func tables(t *testing.T) kernelfit.Tables {
	return kernelfit.Tables{
		Multiply: open(t, "truth", "kernel_perf", "gemm_perf.csv.gz"), Prefill: open(t, "truth", "kernel_perf", "context_attention_perf.csv.gz"),
		Decode: open(t, "truth", "kernel_perf", "generation_attention_perf.csv.gz"), Collective: open(t, "truth", "kernel_perf", "nccl_perf.csv.gz"),
		Engine: open(t, "truth", "kernel_perf", "custom_allreduce_perf.csv.gz"), Sustained: open(t, "truth", "mamf.csv"), Interconnect: open(t, "truth2", "interconnect.csv"), Links: estimate.EmbeddedCurves(),
	}
}

// The embedded file is what a fit to the published tables gives, byte for byte. RACKRATE_UPDATE=1 writes it anew.
func TestFitIsTheFile(t *testing.T) {
	got, err := kernelfit.Fit(tables(t), accelerator.Embedded(), "2026-11-30")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "..", "..", "data", filepath.FromSlash(estimate.KernelsFile))
	if os.Getenv("RACKRATE_UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the tables give; RACKRATE_UPDATE=1 writes it anew", estimate.KernelsFile)
	}
}
