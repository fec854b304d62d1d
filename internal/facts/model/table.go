package model

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

const modelsFile = "models/models.jsonl"

// Table is the known models.
type Table struct {
	models []*Model
	byName map[string]*Model // by folded name, alias and hub name
	// pointless is byName without the points of version numbers; nil where two models would share the key.
	pointless map[string]*Model
	names     []string        // canonical ones, for suggestions
	own       map[string]bool // the names of the user's own; nil in the table that ships with the program
}

// Load reads models.jsonl, one model a line, strictly: every fault of every row comes back, as data.bad_row with its line.
// A row is counted as it is read: all of them take under 3 ms.
func Load(fsys fs.FS) (*Table, error) {
	text, err := fs.ReadFile(fsys, modelsFile)
	if err != nil {
		return nil, fmt.Errorf("reading models: %w", err)
	}
	const names = 1024 // about what the file holds, to spare the maps their growth
	t := &Table{byName: make(map[string]*Model, names), pointless: make(map[string]*Model, names)}
	var faults problem.List
	line := 0
	for row := range strings.Lines(string(text)) {
		line++
		root, bad, _ := parseJSON(modelsFile, row, line)
		if len(bad) == 0 {
			var e *Row
			if e, bad = readRow(modelsFile, root, true); len(bad) == 0 {
				bad = t.add(e, line)
			}
		}
		name, _ := root.get("name")
		for _, b := range bad {
			faults = append(faults, badRow(modelsFile, line, name.text, errors.New(strings.TrimPrefix(b.Error(), fmt.Sprintf("%s:%d: ", modelsFile, line)))))
		}
	}
	return t, faults.OrNil()
}

// add files a model under all its names; two models never share one.
func (t *Table) add(e *Row, line int) (bad problem.List) {
	for _, name := range append([]string{e.Model.Name, e.Model.HF, hubName(e.Model.HF)}, e.Aliases...) {
		key := foldName(name)
		if key == "" {
			continue
		}
		if other := t.byName[key]; other != nil && other != e.Model {
			bad = append(bad, problem.New(problem.Internal, "data.duplicate", problem.Args{"Name": name}).At(modelsFile, line))
			continue
		}
		t.byName[key] = e.Model
		short := strings.ReplaceAll(key, ".", "")
		if other, taken := t.pointless[short]; taken && other != e.Model {
			t.pointless[short] = nil
		} else {
			t.pointless[short] = e.Model
		}
	}
	t.models = append(t.models, e.Model)
	t.names = append(t.names, e.Model.Name)
	return bad
}

// Embedded is the table in the program. A fault in it is a fault of the build, found by its tests.
var Embedded = sync.OnceValue(func() *Table {
	t, err := Load(data.FS)
	if err != nil {
		panic(err)
	}
	return t
})

// All lists the models in the order of the file; the caller must not change them.
func (t *Table) All() []*Model { return t.models }

// Get finds a model by any usual way to write its name: case and punctuation aside, with or without its maker or hub
// organisation, an -instruct or -chat or a month, or a quantization, which then is the NativeFormat of a copy. A reference to a
// hub finds the model of that name whatever the revision; where it is not known the error says how to bring it in.
func (t *Table) Get(name string) (*Model, error) {
	written := name
	if IsRef(name) {
		ref, err := ParseRef(name)
		if err != nil {
			return nil, err
		}
		name = ref.Name
	}
	words := splitName(hubName(name))
	for _, whole := range [][]string{splitName(name), words} { // vit-b/16, then organisation/name
		if m := t.find(whole); m != nil {
			return m, nil
		}
	}
	var format Format
	var core []string
	for _, w := range words {
		if f, ok := nameFormats[w]; ok {
			format = f
		} else if !isTuning(w) {
			core = append(core, w)
		}
	}
	if m := t.find(core); m != nil {
		return m.shippedIn(format), nil
	}
	return nil, unknown(written).With(problem.Nearest(strings.Join(core, "-"), t.names, 3)...)
}

// CodeNotHere is the code of a model of a hub that was not brought in; its Ref says which.
const CodeNotHere = "model.not_here" // {Ref}

// unknown is the problem of a model that is not known. What looks like a hub's name may be one.
func unknown(name string) *problem.Error {
	if IsRef(name) {
		return problem.New(problem.Input, CodeNotHere, problem.Args{"Ref": name})
	}
	ref := ""
	if r, err := ParseRef(string(HuggingFace) + ":" + name); err == nil && strings.Contains(name, "/") {
		ref = r.String()
	}
	return problem.New(problem.Input, "model.unknown", problem.Args{"Name": name, "Ref": ref})
}

// find looks for the words as one name, again without the maker's before it, and at last without points, for
// llama-3-1-70b and qwen25-7b; a name that means two models without them (opt-1.3b, opt-13b) means neither.
func (t *Table) find(words []string) *Model {
	if len(words) > 1 && slices.Contains(makers, words[0]) {
		if m := t.find(words[1:]); m != nil {
			return m
		}
	}
	name := strings.Join(words, "")
	if m := t.byName[name]; m != nil {
		return m
	}
	return t.pointless[strings.ReplaceAll(name, ".", "")]
}

// makers are words people put before a model's name.
var makers = []string{"meta", "mistralai", "google", "microsoft", "openai", "nvidia", "hf", "alibaba"}

func (m *Model) shippedIn(f Format) *Model {
	if f == "" || f == m.NativeFormat {
		return m
	}
	quantized := *m
	quantized.NativeFormat = f
	return &quantized
}

// nameFormats are endings of a checkpoint's name that say what it ships in.
var nameFormats = map[string]Format{
	"fp8": "fp8", "nvfp4": "nvfp4", "fp4": "nvfp4", "mxfp4": "mxfp4", "awq": "awq", "gptq": "gptq", "bf16": "bf16", "fp16": "fp16",
	"int8": "int8", "int4": "int4", "w8a8": "int8", "w4a16": "int4",
}

// isTuning says whether a word ends a name without changing the architecture: -instruct, -it, -hf, or a month such as 2507.
func isTuning(word string) bool {
	switch word {
	case "instruct", "chat", "it", "pt", "hf", "base", "text", "thinking", "preview", "dynamic", "gguf", "block":
		return true
	}
	return len(word) == 4 && strings.Trim(word, "0123456789") == ""
}

// splitName cuts a name into folded words. A point is part of a word only between
// digits: it tells opt-1.3b from opt-13b.
func splitName(name string) []string {
	if len(name) > 200 {
		return nil
	}
	s := strings.ToLower(name)
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	var words []string
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && !strings.ContainsRune("-_ /:()@,", rune(s[i])) && (s[i] != '.' || digit(i-1) && digit(i+1)) {
			continue
		}
		if i > start {
			words = append(words, s[start:i])
		}
		start = i + 1
	}
	return words
}

// foldName is a name as the index knows it.
func foldName(name string) string { return strings.Join(splitName(name), "") }

// hubName is what follows the organisation in organisation/name.
func hubName(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// isDate says whether s is an ISO date.
func isDate(s string) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	return strings.Trim(s[:4]+s[5:7]+s[8:], "0123456789") == ""
}

// published is a Maybe of a figure where 0 stands for a blank cell.
func published(v int64) unit.Maybe[int64] {
	if v == 0 {
		return unit.None[int64]()
	}
	return unit.Some(v)
}
