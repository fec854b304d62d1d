package kernelfit

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
)

// table is one of the tables a fit needs.
type table struct {
	name    string
	columns []string
	// where is what the first row holds in a column, where two tables have the same columns.
	column, where string
	except        bool // any other value instead
	of            func(*Tables) *io.Reader
}

var attention, collective = []string{"attn_dtype", "isl", "step", "latency_ms"}, []string{"op", "kernel", "message_size", "latency_ms"}

var needed = []table{
	{"gemm", []string{"gemm_dtype", "m", "n", "k", "latency_ms"}, "", "", false, func(t *Tables) *io.Reader { return &t.Multiply }},
	{"attention of prompts", attention, "isl", "1", true, func(t *Tables) *io.Reader { return &t.Prefill }},
	{"attention of decoding", attention, "isl", "1", false, func(t *Tables) *io.Reader { return &t.Decode }},
	{"collectives", collective, "kernel", "NCCL", false, func(t *Tables) *io.Reader { return &t.Collective }},
	{"all-reduces of engines", collective, "kernel", "NCCL", true, func(t *Tables) *io.Reader { return &t.Engine }},
	{"matrix rates kept up", []string{"max_achievable_matmul_tflops", "fraction"}, "", "", false, func(t *Tables) *io.Reader { return &t.Sustained }},
	{"interconnect", []string{"fabric", "message_bytes", "busbw_gbs"}, "", "", false, func(t *Tables) *io.Reader { return &t.Interconnect }},
}

// Take keeps a table that a fit of kernels needs; false where it is none of them.
func (t *Tables) Take(text []byte) bool {
	c := csv.NewReader(bytes.NewReader(text))
	head, err := c.Read()
	if err != nil {
		return false
	}
	first, err := c.Read()
	if err != nil {
		return false
	}
	for _, n := range needed {
		if slices.ContainsFunc(n.columns, func(c string) bool { return !slices.Contains(head, c) }) {
			continue
		}
		if at := slices.Index(head, n.column); n.column != "" && (first[at] == n.where) == n.except {
			continue
		}
		*n.of(t) = bytes.NewReader(text)
		return true
	}
	return false
}

// Missing names the tables that were not taken; all of them where none was.
func (t *Tables) Missing() []string {
	var names []string
	for _, n := range needed {
		if *n.of(t) == nil {
			names = append(names, n.name)
		}
	}
	return names
}

// Empty says that no table was taken.
func (t *Tables) Empty() bool { return len(t.Missing()) == len(needed) }
