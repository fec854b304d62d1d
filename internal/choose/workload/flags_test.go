package workload

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rackrate/rackrate/internal/base/problem"
)

func TestFromFlags(t *testing.T) {
	w, err := FromFlags(map[string]string{
		"kind": "serve", "model": "qwen3-32b", "requests-per-second": "5", "input-tokens": "1000", "output-tokens": "300",
		"gpu": "H100:8, A100:4", "ttft-p99": "1s", "regions": "eu,us", "budget": "$5000", "needs": "fp8",
	}, nil, fakeFacts())
	if err != nil {
		t.Fatal(err)
	}
	if w.Traffic.InputTokens != 1000 || len(w.Limits.Accelerators) != 2 || len(w.Limits.Regions) != 2 || w.Name != "serve qwen3-32b" {
		t.Errorf("got %+v", w)
	}
}

func TestFlagFaults(t *testing.T) {
	_, err := FromFlags(map[string]string{
		"kind": "train", "model": "lama-3.1-8b", "deadline": "72", "gpus": "8", "frames": "7", "steps": "10", "tokens": "5",
		"residency": "GDPRR", "bound": "memory",
	}, nil, fakeFacts())
	var got []string
	for _, e := range problem.All(err) {
		if e.File != "" || e.Line != 0 {
			t.Errorf("%v has a place", e)
		}
		got = append(got, fmt.Sprint(e.Code, " ", e.Args["Flag"]))
	}
	want := []string{
		"workload.not_for_kind --bound", "workload.bad_value --deadline", "workload.not_for_kind --frames", "workload.unknown_flag --gpus",
		"model.unknown --model", "workload.unknown_name --residency", "workload.two_ways --steps",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	_, err = FromFlags(nil, nil, fakeFacts())
	if e := problem.All(err)[0]; e.Code != codeMissing || e.Args["Flag"] != "--kind" {
		t.Errorf("no flags at all: %v", err)
	}
}

// TestFlagsBeatTheFile, and put aside the file's other way of saying the same.
func TestFlagsBeatTheFile(t *testing.T) {
	file := []byte("kind: finetune\nmodel: llama-3.1-8b\ntokens: 2B\nlimits:\n  deadline: 3d\n  budget: 5 USD\n")
	w, err := ParseWith("w.yaml", file, map[string]string{"steps": "10", "deadline": "5h", "max-gpus": "8", "tp": "4"}, nil, fakeFacts())
	if err != nil {
		t.Fatal(err)
	}
	if w.Tokens != 10*64*4096 || w.Limits.Deadline != 5 || w.Limits.MaxCount != 8 || !w.Limits.Budget.Known() || w.Layout.TP != 4 {
		t.Errorf("got %+v", w)
	}
	_, err = ParseWith("w.yaml", file, map[string]string{"deadline": "soon", "budget": "0 USD"}, nil, fakeFacts())
	for _, e := range problem.All(err) {
		if e.Args["Flag"] == nil || e.File != "" {
			t.Errorf("a flag's fault at a line: %v", e)
		}
	}
	if n := len(problem.All(err)); n != 2 {
		t.Errorf("%d faults", n)
	}
}

func TestFlagsCoverTheTable(t *testing.T) {
	n := 0
	for _, f := range Flags() {
		n += len(f.Fields)
	}
	if n != len(Fields()) {
		t.Errorf("%d of %d fields have a flag", n, len(Fields()))
	}
}
