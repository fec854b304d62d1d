package workload

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// modelRef is a model with the text that asks for it again.
type modelRef struct {
	ref   string
	model *model.Model
}

// modelCodec is a known name, the hub's organisation/name, or the path of a config.json. A text with a slash is tried as a name first and as a path then.
var modelCodec = codec[modelRef]{
	name: "model",
	read: func(r *reader, f *Field, n *yaml.Node) (modelRef, bool) {
		s, ok := r.text(f, n)
		if !ok {
			return modelRef{}, false
		}
		if isPath(s) {
			return r.modelFile(f, n, s)
		}
		m, err := r.facts.Model(s)
		if err == nil {
			return modelRef{r.modelName(m, s), m}, true
		}
		if strings.ContainsAny(s, `/\`) && r.open != nil {
			if data, openErr := r.open(s); openErr == nil {
				return r.modelConfig(f, n, s, data)
			}
		}
		r.refused(f, n, s, err)
		return modelRef{}, false
	},
	write:  func(v modelRef) (any, bool) { return v.ref, v.ref != "" },
	schema: textSchema,
}

// modelName is the canonical name, or the text as written where that says more, as in llama-3.1-8b-awq.
func (r *reader) modelName(m *model.Model, written string) string {
	if plain, err := r.facts.Model(m.Name); err == nil && plain.NativeFormat == m.NativeFormat {
		return m.Name
	}
	return written
}

// isPath says whether text can only be a path.
func isPath(s string) bool {
	return strings.HasSuffix(strings.ToLower(s), ".json") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || filepath.IsAbs(s)
}

func (r *reader) modelFile(f *Field, n *yaml.Node, path string) (modelRef, bool) {
	if r.open == nil {
		r.fault(n, codeModelFile, problem.Args{"Key": f.Path, "Path": clip(path), "Detail": ""})
		return modelRef{}, false
	}
	data, err := r.open(path)
	if err != nil {
		r.fault(n, codeModelFile, problem.Args{"Key": f.Path, "Path": clip(path), "Detail": reason(err)}).Wrap(err)
		return modelRef{}, false
	}
	return r.modelConfig(f, n, path, data)
}

// reason is an error of the file system without the path, which the message names already.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func (r *reader) modelConfig(f *Field, n *yaml.Node, path string, data []byte) (modelRef, bool) {
	m, err := r.facts.ModelConfig(configName(path), data)
	if err != nil {
		before := len(r.faults)
		r.refused(f, n, path, err)
		inside := problem.All(err)
		for i, fault := range r.faults[before:] { // the place in the file that the model's line names
			if fault.Args["Inside"] = clip(path); i < len(inside) && inside[i].Line > 0 {
				fault.Args["Inside"] = clip(path) + ":" + strconv.Itoa(inside[i].Line)
			}
		}
		return modelRef{}, false
	}
	return modelRef{path, m}, true
}

// configName names a model by its file, or by its folder where the file is called config.json as on the hub.
func configName(path string) string {
	path = filepath.ToSlash(path)
	dir, base := path[:strings.LastIndex(path, "/")+1], path[strings.LastIndex(path, "/")+1:]
	name := strings.TrimSuffix(base, filepath.Ext(base))
	folder := filepath.Base(dir)
	if name == "config" && folder != "." && folder != ".." && folder != string(filepath.Separator) {
		return folder
	}
	return name
}
