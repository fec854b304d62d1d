package model_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// longNames are rows whose name says more than a name.
var longNames = map[string]string{"DeepSeek-V3 / R1 (main model)": "DeepSeek-V3"}

// roundedTotals are rows whose total is a sum of rounded parts: denoiser, text encoders and VAE together.
var roundedTotals = map[string]float64{
	"Stable-Diffusion-XL-base-1.0": 1e-3, // the paper prints 2.6B + 817M + 84M
	"Stable-Diffusion-2.1":         1e-5, // 865.9M + 340M + 83.7M
}

// balancingBias is what the table leaves out of the active parameters though its totals hold it: DeepSeek-V3's
// correction bias on the router, one an expert and routing layer, which every token reads.
var balancingBias = map[string]int64{"DeepSeek-V3 / R1 (main model)": 58 * 256, "Kimi-K2-Instruct": 60 * 384}

// cacheDiffers gives the reason where the table counts the cache otherwise.
var cacheDiffers = map[string]string{
	"Whisper-large-v3": "the table adds the cross-attention cache, which grows with audio frames and not with tokens",
}

type truthRow map[string]string

func truthRows(t *testing.T) []truthRow {
	t.Helper()
	var rows []truthRow
	for _, row := range sharedtest.Rows(t, "truth", "models.csv") {
		rows = append(rows, truthRow(row))
	}
	return rows
}

func (r truthRow) number(t *testing.T, column string) (int64, bool) {
	t.Helper()
	if r[column] == "" {
		return 0, false
	}
	v, err := strconv.ParseInt(r[column], 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", r["model"], err)
	}
	return v, true
}

func (r truthRow) find(t *testing.T) *model.Model {
	t.Helper()
	name := r["model"]
	if short, ok := longNames[name]; ok {
		name = short
	}
	m, err := model.Embedded().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCountsEqualTheReferenceTable(t *testing.T) {
	for _, row := range truthRows(t) {
		t.Run(row["model"], func(t *testing.T) {
			m := row.find(t)
			want, ok := row.number(t, "total_params")
			if !ok {
				return // the row has no total
			}
			if slack, ok := roundedTotals[row["model"]]; ok {
				got := float64(m.Params.Total + m.Diffusion.TextEncoder + m.Diffusion.VAE)
				if math.Abs(got/float64(want)-1) > slack {
					t.Errorf("total of all parts %v, want about %d", got, want)
				}
				return
			}
			if m.Params.Total != want {
				t.Errorf("total %d, want %d (off by %d)", m.Params.Total, want, m.Params.Total-want)
			}
			active, _ := row.number(t, "active_params")
			if got := m.Params.Active - balancingBias[row["model"]]; got != active {
				t.Errorf("active %d, want %d (off by %d)", got, active, got-active)
			}
		})
	}
}

func TestCacheEqualsTheReferenceTable(t *testing.T) {
	for _, row := range truthRows(t) {
		want, ok := row.number(t, "kv_bytes_per_token_bf16")
		if !ok || cacheDiffers[row["model"]] != "" {
			continue
		}
		if got := row.find(t).KVBytesPerToken(16); got != float64(want) {
			t.Errorf("%s: %v bytes a token, want %d", row["model"], got, want)
		}
	}
}
