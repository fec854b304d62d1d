package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Row is one row of the table.
type Row struct {
	Model   *Model
	Aliases []string // further names
}

// entryKeys are the keys a row may have. A network is either drawn from config, in a config.json's own
// words, or has its figures stated, where no formula of ours counts it (CNN, UNet, MMDiT).
var entryKeys = []string{"name", "hf", "aliases", "published", "source", "as_of", "confidence", "notes", "license", "config", "stated"}

// readRow reads a row of a file. The table's own rows must have no key in their configuration that nothing reads, and their
// notes are for whoever keeps the table; those of a user's row begin with the codes of what was assumed in counting it.
func readRow(file string, root node, strict bool) (*Row, problem.List) {
	r := &reader{file: file, scopes: []node{root}}
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
	var notes []string
	config, isConfig := root.get("config")
	stated, isStated := root.get("stated")
	switch {
	case isConfig == isStated:
		r.fault("config.missing", root.line, problem.Args{"Key": "config"})
	case isConfig:
		b, inner := draw(file, config)
		r.faults = append(r.faults, inner.faults...)
		if strict {
			r.faults = append(r.faults, unread(config, inner)...)
		} else if b != nil {
			notes = b.notes
		}
		if len(inner.faults) == 0 {
			m = b.model(name)
		}
	default:
		m = readStated(name, stated, r)
	}
	readProvenance(r, m)
	m.Notes = strings.TrimSpace(strings.Join(notes, " ") + " " + m.Notes)
	if name == "" {
		r.fault("config.missing", root.line, problem.Args{"Key": "name"})
	}
	out := &Row{Model: m}
	if list, _, ok := r.find("aliases"); ok {
		for _, v := range list.vals {
			out.Aliases = append(out.Aliases, v.text)
		}
	}
	return out, r.faults
}

// readProvenance reads where a row's facts come from, without which no row is one.
func readProvenance(r *reader, m *Model) {
	m.HF, m.Source, m.AsOf = r.str("hf"), r.str("source"), r.str("as_of")
	m.Confidence, m.Notes, m.License = r.str("confidence"), r.str("notes"), r.str("license")
	m.Published = published(r.whole("published"))
	if m.Source == "" || !isDate(m.AsOf) {
		r.fault("config.missing", r.line(), problem.Args{"Key": "source, as_of"})
	}
	switch accelerator.Confidence(m.Confidence) {
	case accelerator.Verified, accelerator.SingleSource, accelerator.Unverified:
	case "":
		r.fault("config.missing", r.line(), problem.Args{"Key": "confidence"})
	default:
		r.fault("config.out_of_range", r.line(), problem.Args{"Key": "confidence", "Value": m.Confidence})
	}
}

// unread finds keys of an embedded configuration that its family has no use for: a slip of the pen, since the
// row holds nothing else.
func unread(config node, r *reader) (bad problem.List) {
	for i, key := range config.keys {
		if config.vals[i].kind != nullNode && !slices.Contains(r.used, key) {
			bad = append(bad, problem.New(problem.Input, "data.unknown_key", problem.Args{"Key": key}).At(r.file, config.vals[i].line))
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
	r := &reader{file: outer.file, scopes: []node{n}}
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
