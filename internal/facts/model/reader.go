package model

import (
	"math"
	"strconv"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Bounds on what a configuration may say. Each is several times the largest network known, and together they
// keep every count below 2^62, so that no product overflows.
const (
	maxLayers  = 1 << 10
	maxHidden  = 1 << 17
	maxWidth   = 1 << 20
	maxHeads   = 1 << 14
	maxHeadDim = 1 << 12
	maxExperts = 1 << 12
	maxVocab   = 1 << 24
	maxTokens  = 1 << 30
)

// synonyms lists what families call the same thing, in the order they are looked for after the common name.
var synonyms = map[string][]string{
	"num_hidden_layers":       {"n_layer", "n_layers", "num_layers", "decoder_layers"},
	"hidden_size":             {"n_embd", "d_model", "n_embed", "dim"},
	"num_attention_heads":     {"n_head", "n_heads", "decoder_attention_heads"},
	"num_key_value_heads":     {"num_kv_heads", "multi_query_group_num", "kv_n_heads", "n_head_kv"},
	"head_dim":                {"kv_channels", "attention_head_dim"},
	"intermediate_size":       {"n_inner", "ffn_dim", "ffn_hidden_size", "hidden_dim", "decoder_ffn_dim"},
	"vocab_size":              {"padded_vocab_size"},
	"max_position_embeddings": {"n_positions", "seq_length", "max_seq_len", "max_target_positions", "model_max_length"},
	"num_local_experts":       {"num_experts", "n_routed_experts", "moe_num_experts"},
	"num_experts_per_tok":     {"experts_per_token", "moe_top_k"},
	"n_shared_experts":        {"num_shared_experts"},
	"torch_dtype":             {"dtype"},
	"attention_bias":          {"add_qkv_bias"},
}

// reader takes fields out of a configuration and gathers every fault on the way, so that one run reports all.
type reader struct {
	file string
	// scopes are looked through in order: the text part of a multimodal file, then the file itself.
	scopes   []node
	defaults map[string]int // what the family's own code assumes for an absent key
	used     []string       // the keys found, as written
	faults   problem.List
}

func (r *reader) find(key string) (node, string, bool) {
	for _, scope := range r.scopes {
		if n, ok := scope.get(key); ok {
			r.used = append(r.used, key)
			return n, key, true
		}
		for _, other := range synonyms[key] {
			if n, ok := scope.get(other); ok {
				r.used = append(r.used, other)
				return n, other, true
			}
		}
	}
	return node{}, key, false
}

func (r *reader) fault(code string, line int, args problem.Args) {
	r.faults = append(r.faults, problem.New(problem.Input, code, args).At(r.file, line))
}

// line is where the outermost scope begins: the place of a fault of absence.
func (r *reader) line() int { return r.scopes[0].line }

// integer reads a whole number within bounds; absent is the family's default, and false where it has none.
func (r *reader) integer(key string, least, most int) (int, bool) {
	n, name, ok := r.find(key)
	if !ok {
		v, known := r.defaults[key]
		return v, known
	}
	v, err := strconv.ParseFloat(n.text, 64)
	if n.kind != numberNode || err != nil && v == 0 || v != math.Trunc(v) {
		r.fault("config.not_integer", n.line, problem.Args{"Key": name, "Value": n.show()})
		return least, true
	}
	if v < float64(least) || v > float64(most) {
		r.fault("config.out_of_range", n.line, problem.Args{"Key": name, "Value": n.show(), "Min": least, "Max": most})
		return least, true
	}
	return int(v), true
}

// need is integer for a key without which there is nothing to count.
func (r *reader) need(key string, most int) int {
	v, ok := r.integer(key, 1, most)
	if !ok {
		r.fault("config.missing", r.line(), problem.Args{"Key": key})
		return 1
	}
	return v
}

// or is integer with a default of the family's code. Zero is allowed where the default is zero.
func (r *reader) or(key string, def, most int) int {
	if v, ok := r.integer(key, min(def, 1), most); ok {
		return v
	}
	return def
}

func (r *reader) flag(key string, def bool) bool {
	n, name, ok := r.find(key)
	if !ok {
		return def
	}
	if n.kind != boolNode {
		r.fault("config.not_bool", n.line, problem.Args{"Key": name, "Value": n.show()})
	}
	return n.text == "true"
}

func (r *reader) str(key string) string {
	n, name, ok := r.find(key)
	if ok && n.kind != stringNode {
		r.fault("config.not_text", n.line, problem.Args{"Key": name, "Value": n.show()})
		return ""
	}
	return n.text
}

// list reads an array with one entry for each layer. Llama 4 writes an empty one for the default.
func (r *reader) list(key string, layers int) []node {
	n, name, ok := r.find(key)
	if !ok || n.kind == arrayNode && len(n.vals) == 0 {
		return nil
	}
	if n.kind != arrayNode || len(n.vals) != layers {
		r.fault("config.not_per_layer", n.line, problem.Args{"Key": name, "Count": len(n.vals), "Layers": layers})
		return nil
	}
	return n.vals
}

// inner descends into an object of settings, such as attn_config; nil where there is none.
func (r *reader) inner(key string) *reader {
	n, name, ok := r.find(key)
	if ok && n.kind != objectNode {
		r.fault("config.not_object", n.line, problem.Args{"Key": name, "Value": n.show()})
		ok = false
	}
	if !ok {
		return nil
	}
	return &reader{file: r.file, scopes: []node{n}}
}

// show is a value short enough for a message.
func (n node) show() string {
	switch n.kind {
	case objectNode:
		return "{…}"
	case arrayNode:
		return "[…]"
	case nullNode:
		return "null"
	}
	if len(n.text) > 40 {
		return n.text[:40] + "…"
	}
	return n.text
}
