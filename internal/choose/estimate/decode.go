package estimate

import (
	"bytes"
	"io/fs"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// Decode reads one file of constants strictly.
func Decode[T any](fsys fs.FS, name string) (*T, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, problem.New(problem.Internal, "data.missing", problem.Args{"File": name}).Wrap(err)
	}
	v := new(T)
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(v); err != nil {
		return nil, problem.New(problem.Internal, "data.bad_file", problem.Args{"File": name}).Wrap(err)
	}
	return v, nil
}

// Embedded is a file of constants of the binary, read at its first use; a test rules out that it is broken.
func Embedded[T any](name string) func() *T {
	return sync.OnceValue(func() *T {
		v, err := Decode[T](data.FS, name)
		if err != nil {
			panic(err)
		}
		return v
	})
}
