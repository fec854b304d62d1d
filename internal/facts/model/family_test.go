package model_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// Families that no row of the table has, by the totals their checkpoints print on the hub.
func TestPublishedTotalsOfOtherFamilies(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		want   int64
	}{
		"starcoder": {`{"model_type":"gpt_bigcode","n_embd":6144,"n_layer":40,"n_head":48,"n_inner":24576,"n_positions":8192,"vocab_size":49152,"multi_query":true}`, 15517456384},
		"opt-350m": {`{"model_type":"opt","hidden_size":1024,"num_hidden_layers":24,"num_attention_heads":16,"ffn_dim":4096,"vocab_size":50272,
			"max_position_embeddings":2048,"word_embed_proj_dim":512,"do_layer_norm_before":false}`, 331196416},
		"stablelm-2-1.6b": {`{"model_type":"stablelm","hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":32,
			"intermediate_size":5632,"vocab_size":100352,"use_qkv_bias":true,"tie_word_embeddings":false}`, 1644515328},
		"falcon-rw-1b": {`{"model_type":"falcon","hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":32,"vocab_size":50304,"bias":true,"multi_query":false,"parallel_attn":false,"alibi":true}`, 1311625216},
		"nemotron-nano-9b-v2": {`{"model_type":"nemotron_h","hidden_size":4480,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"vocab_size":131072,
			"intermediate_size":15680,"hybrid_override_pattern":"M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-","mamba_num_heads":128,
			"mamba_head_dim":80,"n_groups":8,"ssm_state_size":128,"conv_kernel":4}`, 8888227328},
		"only an architecture": {`{"architectures":["GPT2LMHeadModel"],"n_embd":768,"n_layer":12,"n_head":12,"vocab_size":50257}`, 124439808},
	} {
		m, err := model.ParseConfig(name, []byte(c.config))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if m.Params.Total != c.want {
			t.Errorf("%s: %d, want %d (off by %d)", name, m.Params.Total, c.want, m.Params.Total-c.want)
		}
	}
}

// The papers' own counts of embeddings and of all else, in billions: arXiv:2402.16819 and 2406.11704, table 1; xAI rounds its total.
func TestNetworksAsTheirPapersCountThem(t *testing.T) {
	for name, want := range map[string][2]float64{"nemotron-4-15b": {3.15, 12.5}, "nemotron-4-340b": {9.44, 331.6}, "grok-1": {0.8, 314.9}} {
		m, err := model.Embedded().Get(name)
		if err != nil {
			t.Fatal(err)
		}
		looked := float64(m.Params.Embedding+m.Params.Head) / 1e9
		if rest := float64(m.Params.Total)/1e9 - looked; math.Abs(looked-want[0]) > 0.05 || math.Abs(rest-want[1]) > 0.1 {
			t.Errorf("%s: %.2f billion in embeddings and %.1f besides, want %v", name, looked, rest, want)
		}
	}
}

// A file with thousands of keys is checked for duplicates all the same.
func TestManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"model_type":"gpt2","n_embd":768,"n_layer":12,"n_head":12,"vocab_size":50257`)
	for i := range 1000 {
		fmt.Fprintf(&b, ",\n\"key%d\":%d", i, i)
	}
	if _, err := model.ParseConfig("c.json", []byte(b.String()+"}")); err != nil {
		t.Error(err)
	}
	_, err := model.ParseConfig("c.json", []byte(b.String()+`,"key7":0}`))
	if l := problem.All(err); len(l) != 1 || l[0].Code != "config.duplicate_key" || l[0].Line != 1001 {
		t.Errorf("%v", err)
	}
}

// Wrong kinds of value are faults of their own line, never a default.
func TestWrongKinds(t *testing.T) {
	const head = `{"model_type":"falcon","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":2,"vocab_size":8,`
	for text, code := range map[string]string{
		`"torch_dtype":16}`:                           "config.not_text",
		`"quantization_config":"fp8"}`:                "config.not_object",
		`"bias":1}`:                                   "config.not_bool",
		`"layer_types":{"0":"full_attention"}}`:       "config.not_per_layer",
		`"vision_config":{},"max_seq_len":[1]}`:       "config.not_integer",
		`"num_kv_heads":[1,2]}`:                       "config.not_integer",
		`"n_inner":99999999}`:                         "config.out_of_range",
		`"num_experts":8}`:                            "config.missing",
		`"num_experts":8,"num_experts_per_tok":9}`:    "config.out_of_range",
		`"layer_types":["linear_attention","mamba"]}`: "config.unknown_layer_type",
	} {
		_, err := model.ParseConfig("c.json", []byte(head+text))
		if l := problem.All(err); len(l) == 0 || l[0].Code != code {
			t.Errorf("%s: %v, want %s", text, err, code)
		}
	}
}
