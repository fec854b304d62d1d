// Package kernelfit fits the curves of data/efficiency/kernels.yaml to published measurements of single kernels and
// collectives, and says how far off they are on measurements left out.
//
// Pure and deterministic: it reads tables from readers and returns the text of the file. Imported by front.
package kernelfit

import (
	"bytes"
	"io"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Tables are the measurements, as the text of comma-separated tables with a header; their columns are those of the
// published collections named in the text that Fit returns.
type Tables struct {
	Multiply     io.Reader // gemm_perf: system, gemm_dtype, m, n, k, latency_ms
	Prefill      io.Reader // context_attention_perf
	Decode       io.Reader // generation_attention_perf
	Collective   io.Reader // nccl_perf: system, op, kernel, dtype, num_gpus, message_size, latency_ms
	Engine       io.Reader // custom_allreduce_perf, the same columns
	Sustained    io.Reader // mamf: accelerator, precision, fraction, source
	Interconnect io.Reader // interconnect: system, accelerator, gpus, nodes, fabric, message_bytes, algbw_gbs, busbw_gbs
	// Links is the table of links, for what the measurements do not show.
	Links *estimate.Curves
}

// Fit is the text of data/efficiency/kernels.yaml.
func Fit(t Tables, chips *accelerator.Table, asOf string) ([]byte, error) {
	table, err := fit(t, chips)
	if err != nil {
		return nil, err
	}
	table.AsOf = asOf
	return write(table), nil
}

func fit(t Tables, chips *accelerator.Table) (*estimate.KernelTable, error) {
	out := &estimate.KernelTable{Inside: map[string]estimate.CollectiveTable{}}
	multiplied, err := readMultiplies(t.Multiply, chips)
	if err != nil {
		return nil, err
	}
	out.Multiply = fitMultiplies(multiplied)
	ceilings, err := readCeilings(t.Sustained, chips)
	if err != nil {
		return nil, err
	}
	out.Sustained = sustain(out.Multiply, ceilings)

	decoded, err := readAttention(t.Decode, chips)
	if err != nil {
		return nil, err
	}
	prefilled, err := readAttention(t.Prefill, chips)
	if err != nil {
		return nil, err
	}
	out.Decode, out.Prefill = map[string]map[string]estimate.DecodeCurve{}, map[string]map[string]estimate.PrefillCurve{}
	decode, prefill := decodes(), prefills()
	for _, cache := range sortedKeys(decoded) {
		out.Decode[cache] = decode.all(decoded[cache])
	}
	for _, cache := range sortedKeys(prefilled) {
		out.Prefill[cache] = prefill.all(prefilled[cache])
	}

	messages := map[catalog.Topology]map[string][]sample[message]{}
	for _, r := range [...]io.Reader{t.Collective, t.Engine} {
		if err := readCollectives(r, chips, messages); err != nil {
			return nil, err
		}
	}
	for topology, operations := range messages {
		out.Inside[string(topology)] = fitCollectives(operations)
	}
	// Read twice: once for the links inside machines, once for those between them.
	interconnect, err := io.ReadAll(t.Interconnect)
	if err != nil {
		return nil, err
	}
	if err := readMesh(bytes.NewReader(interconnect), chips, out.Inside); err != nil {
		return nil, err
	}
	out.Between, err = fitBetween(bytes.NewReader(interconnect), chips, out, t.Links)
	return out, err
}
