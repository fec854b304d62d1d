package model

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// ParseConfig reads a config.json as checkpoints carry it. The name is the file's, for the places of faults and the model's name.
// An unknown model_type that has a standard decoder's fields is counted as one and noted (architecture.assumed).
// All faults come together as a problem.List of kind Input; it never panics, whatever the bytes.
func ParseConfig(name string, data []byte) (*Model, error) {
	text, fault := decodeText(name, data)
	if fault != nil {
		return nil, problem.List{fault}
	}
	root, faults, whole := parseJSON(name, text, 1)
	if !whole {
		return nil, faults
	}
	b, r := draw(name, root)
	if faults = append(faults, r.faults...); len(faults) > 0 {
		slices.SortStableFunc(faults, func(a, b *problem.Error) int { return a.Line - b.Line })
		return nil, faults
	}
	m := b.model(name)
	m.Notes = strings.Join(b.notes, " ")
	return m, nil
}

// textParts are where multimodal files keep their language model.
var textParts = []string{"text_config", "llm_config", "language_config"}

// draw makes the blueprint of a configuration.
func draw(file string, root node) (*blueprint, *reader) {
	r := &reader{file: file, scopes: []node{root}}
	if root.kind != objectNode {
		r.fault("config.root_not_object", root.line, problem.Args{"Value": root.show()})
		return nil, r
	}
	kind := r.str("model_type")
	for _, part := range textParts {
		if inner, ok := root.get(part); ok && inner.kind == objectNode {
			r.scopes = []node{inner, root}
			if t := r.str("model_type"); t != "" {
				kind = t
			}
			break
		}
	}
	if kind == "" {
		kind = byArchitecture(r)
	}
	if same, ok := sameType[kind]; ok {
		kind = same
	}
	b := drawKind(r, kind)
	if b == nil {
		return nil, r
	}
	if _, _, ok := r.find("vision_config"); ok {
		b.notes = append(b.notes, "vision.uncounted")
	}
	if _, _, ok := r.find("index_n_heads"); ok { // DeepSeek-V3.2 picks what to attend to with a small network
		b.notes = append(b.notes, "indexer.uncounted")
	}
	format, note := native(r)
	b.native = format
	if note != "" {
		b.notes = append(b.notes, note)
	}
	return b, r
}

func byArchitecture(r *reader) string {
	list, _, _ := r.find("architectures")
	for _, class := range list.vals {
		if kind, ok := architectures[class.text]; ok {
			return kind
		}
	}
	return ""
}

// foreign are kinds of network whose common fields would be counted wrongly as a plain decoder's.
var foreign = []string{
	"t5", "bart", "mamba", "jamba", "zamba", "rwkv", "recurrent", "granitemoehybrid", "bamba", "clip", "siglip",
	"electra", "albert", "deberta", "xlnet", "wav2vec", "speech", "diffusion", "llava", "minimax", "longformer", "gemma3n", "lfm2", "kimi_linear",
}

func drawKind(r *reader, kind string) *blueprint {
	if s, ok := styles[kind]; ok {
		return decoder(r, s)
	}
	if k, ok := encoders[kind]; ok {
		return encoder(r, k)
	}
	switch kind {
	case "vit":
		return vision(r)
	case "whisper":
		return whisper(r)
	case "mamba", "mamba2":
		return stateSpace(r, kind == "mamba2")
	case "nemotron_h":
		return hybrid(r)
	}
	for _, f := range foreign {
		if strings.Contains(strings.ToLower(kind), f) {
			unsupported(r, kind)
			return nil
		}
	}
	s := assumedStyle
	s.family = kind
	b := decoder(r, s)
	b.notes = append(b.notes, "architecture.assumed")
	return b
}
