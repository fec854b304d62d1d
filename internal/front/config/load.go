package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/front/say"
)

// File is the name of the settings' file in the working directory.
const File = "rackrate.yaml"

// Sources is where settings are looked for. Its zero value has the defaults only.
type Sources struct {
	Flags   map[Key]string // the flags that were given
	Env     func(name string) string
	Open    func(path string) ([]byte, error)
	UserDir string // the directory of the user's settings; empty where there is none
}

// maxFile bounds a settings' file, which holds a handful of lines.
const maxFile = 1 << 16

// Load gathers every setting. Faults are returned together; the settings that are in order stand all the same, so
// that the faults can be told in the reader's language.
func Load(src Sources) (Config, error) {
	c := Config{values: map[Key]Value{}}
	for _, k := range Keys() {
		c.values[k] = Value{k.Default(), Origin{Layer: FromDefault}}
	}
	var faults problem.List
	c.system(src.Env)
	if src.UserDir != "" {
		faults = append(faults, c.file(src.Open, filepath.Join(src.UserDir, "rackrate", "config.yaml"), FromUser)...)
	}
	faults = append(faults, c.file(src.Open, File, FromHere)...)
	for _, k := range Keys() {
		if src.Env == nil {
			break
		}
		if text := src.Env(k.Env()); text != "" {
			faults = append(faults, c.set(k, text, Origin{Layer: FromEnv, Name: k.Env()})...)
		}
	}
	c, err := c.Override(src.Flags)
	return c, append(faults, listed(err)...).OrNil()
}

// listed gives the problems of an error, none of nil.
func listed(err error) problem.List {
	if err == nil {
		return nil
	}
	return problem.All(err)
}

// system takes the language of the environment, as other programs do. One that is not spoken here is no fault.
func (c Config) system(env func(string) string) {
	if env == nil {
		return
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		text := env(name)
		if text == "" {
			continue
		}
		if l, ok := say.ParseLang(text); ok {
			c.values[Lang] = Value{string(l), Origin{Layer: FromSystem, Name: name}}
		}
		return // the first that is set decides, spoken here or not
	}
}

func (c Config) set(k Key, text string, from Origin) problem.List {
	value, fault := check(k, text)
	if fault != nil {
		if from.Layer == FromHere || from.Layer == FromUser {
			fault = fault.At(from.Name, from.Line)
		} else {
			fault.Args["Key"] = from.Name
		}
		return problem.List{fault}
	}
	c.values[k] = Value{value, from}
	return nil
}

// file reads one file of settings; a file that is not there sets nothing.
func (c Config) file(open func(string) ([]byte, error), path string, layer Layer) problem.List {
	if open == nil {
		return nil
	}
	data, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return problem.List{problem.New(problem.Input, "cli.unreadable", problem.Args{"Path": path, "Error": err.Error()}).Wrap(err)}
	}
	root, fault := parse(path, data)
	if fault != nil {
		return problem.List{fault}
	}
	var faults problem.List
	seen := map[Key]bool{}
	for i := 0; root != nil && i+1 < len(root.Content); i += 2 {
		name, value := root.Content[i], root.Content[i+1]
		k := Key(name.Value)
		_, known := defaults[k]
		switch {
		case !known:
			faults = append(faults, unknownKey(name.Value).At(path, name.Line))
		case seen[k]:
			faults = append(faults, problem.New(problem.Input, "settings.duplicate", problem.Args{"Key": name.Value}).At(path, name.Line))
		case value.Kind != yaml.ScalarNode:
			faults = append(faults, problem.New(problem.Input, "settings.scalar", problem.Args{"Key": string(k), "Want": wants[k]}).At(path, value.Line))
		default:
			faults = append(faults, c.set(k, value.Value, Origin{layer, path, value.Line})...)
		}
		seen[k] = true
	}
	return faults
}

func unknownKey(name string) *problem.Error {
	var known []string
	for _, k := range Keys() {
		known = append(known, string(k))
	}
	return problem.New(problem.Input, "settings.unknown_key", problem.Args{"Key": name, "Known": known}).
		With(problem.Nearest(name, known, 1)...)
}

// parse gives the file's one mapping; nil where it is empty.
func parse(path string, data []byte) (*yaml.Node, *problem.Error) {
	if len(data) > maxFile {
		return nil, problem.New(problem.Input, "settings.too_large", problem.Args{"Limit": maxFile}).At(path, 1)
	}
	var doc yaml.Node
	l, err := yaml.NewLoader(bytes.NewReader(data))
	if err == nil {
		err = l.Load(&doc)
	}
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		return nil, nil
	case err != nil:
		return nil, syntax(path, err)
	}
	root := doc.Content[0]
	switch {
	case root.Kind == yaml.MappingNode:
		return root, nil
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return nil, nil
	}
	return nil, problem.New(problem.Input, "settings.not_mapping", nil).At(path, root.Line)
}

func syntax(path string, err error) *problem.Error {
	line, detail := 1, err.Error()
	if le, ok := errors.AsType[*yaml.LoadError](err); ok {
		line, detail = max(1, le.Mark.Line), le.Message
	}
	return problem.New(problem.Input, "settings.syntax", problem.Args{"Detail": detail}).At(path, line)
}
