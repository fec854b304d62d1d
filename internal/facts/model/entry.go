package model

import (
	"slices"
	"strconv"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// entry is one row of the table.
type entry struct {
	model   *Model
	aliases []string
}

// entryKeys are the keys a row may have. A network is either drawn from config, in a config.json's own
// words, or has its figures stated, where no formula of ours counts it (CNN, UNet, MMDiT).
var entryKeys = []string{"name", "hf", "aliases", "published", "source", "as_of", "confidence", "notes", "config", "stated"}

func readEntry(root node) (*entry, problem.List) {
	r := &reader{file: modelsFile, scopes: []node{root}}
	if root.kind != objectNode {
		r.fault("config.root_not_object", root.line, problem.Args{"Value": root.show()})
		return nil, r.faults
	}
	for _, key := range root.keys {
		if !slices.Contains(entryKeys, key) {
			r.fault("data.unknown_key", root.line, problem.Args{"Key": key})
		}
	}
	name := r.str("name")
	m := &Model{}
	config, isConfig := root.get("config")
	stated, isStated := root.get("stated")
	switch {
	case isConfig == isStated:
		r.fault("config.missing", root.line, problem.Args{"Key": "config"})
	case isConfig:
		b, inner := draw(modelsFile, config)
		r.faults = append(r.faults, inner.faults...)
		r.faults = append(r.faults, unread(config, inner)...)
		if len(inner.faults) == 0 {
			m = b.model(name)
		}
	default:
		m = readStated(name, stated, r)
	}
	readProvenance(r, m)
	if name == "" {
		r.fault("config.missing", root.line, problem.Args{"Key": "name"})
	}
	e := &entry{model: m}
	if list, _, ok := r.find("aliases"); ok {
		for _, v := range list.vals {
			e.aliases = append(e.aliases, v.text)
		}
	}
	return e, r.faults
}

// readProvenance reads where a row's facts come from, without which no row is one.
func readProvenance(r *reader, m *Model) {
	m.HF, m.Source, m.AsOf = r.str("hf"), r.str("source"), r.str("as_of")
	m.Confidence, m.Notes = r.str("confidence"), r.str("notes")
	m.Published = published(r.whole("published"))
	if m.Source == "" || !isDate(m.AsOf) {
		r.fault("config.missing", r.line(), problem.Args{"Key": "source, as_of"})
	}
	switch accelerator.Confidence(m.Confidence) {
	case accelerator.Verified, accelerator.SingleSource, accelerator.Unverified:
	default:
		r.fault("config.out_of_range", r.line(), problem.Args{"Key": "confidence", "Value": m.Confidence})
	}
}

// unread finds keys of an embedded configuration that its family has no use for: a slip of the pen, since the
// row holds nothing else.
func unread(config node, r *reader) (bad problem.List) {
	for i, key := range config.keys {
		if config.vals[i].kind != nullNode && !slices.Contains(r.used, key) {
			bad = append(bad, problem.New(problem.Internal, "data.unknown_key", problem.Args{"Key": key}).At(modelsFile, config.vals[i].line))
		}
	}
	return bad
}

// whole reads a count too large for integer's bounds; 0 where it is absent.
func (r *reader) whole(key string) int64 {
	n, name, ok := r.find(key)
	if !ok {
		return 0
	}
	v, err := strconv.ParseInt(n.text, 10, 64)
	if n.kind != numberNode || err != nil || v <= 0 {
		r.fault("config.not_integer", n.line, problem.Args{"Key": name, "Value": n.show()})
	}
	return v
}

// giga reads a figure in units of 10^9; unknown where it is absent.
func (r *reader) giga(key string) unit.Maybe[unit.FLOP] {
	n, name, ok := r.find(key)
	if !ok {
		return unit.None[unit.FLOP]()
	}
	v, err := strconv.ParseFloat(n.text, 64)
	if n.kind != numberNode || err != nil || v <= 0 {
		r.fault("config.out_of_range", n.line, problem.Args{"Key": name, "Value": n.show()})
	}
	return unit.Some(unit.FLOP(v * 1e9))
}

// readStated reads a network whose figures are taken from its source. Its parameters are Other, since they are
// not told apart; a generator's are its denoiser's, with text encoders and VAE in Diffusion.
func readStated(name string, n node, outer *reader) *Model {
	r := &reader{file: modelsFile, scopes: []node{n}}
	m := &Model{Name: name, Family: r.str("family"), Class: Class(r.str("class")), NativeFormat: dtypes[r.str("torch_dtype")]}
	m.Layers, m.Hidden = r.or("layers", 0, maxLayers), r.or("hidden", 0, maxHidden)
	m.Heads = r.or("heads", 0, maxHeads)
	m.Params.Other = r.whole("params")
	m.Params.Total, m.Params.Active = m.Params.Other, m.Params.Other
	m.PerSample = r.giga("gflop")
	switch m.Class {
	case Vision, Speech, Recommender, Graph:
	case Generator:
		decode, ok := r.giga("vae_gflop").Get()
		if !ok {
			r.fault("config.missing", n.line, problem.Args{"Key": "vae_gflop"})
		}
		m.Diffusion = &Diffusion{
			Steps: r.need("steps", 1<<12), Guidance: r.need("guidance", 8), RefWidth: r.need("width", 1<<16), RefHeight: r.need("height", 1<<16),
			TextEncoder: r.whole("text_encoder"), VAE: r.whole("vae"), VAEDecodeFLOP: decode,
		}
	default:
		r.fault("config.out_of_range", n.line, problem.Args{"Key": "class", "Value": string(m.Class)})
	}
	outer.faults = append(append(outer.faults, r.faults...), unread(n, r)...)
	return m
}
