package workload

import "go.yaml.in/yaml/v4"

// codec reads and writes one type of value.
type codec[T any] struct {
	name string
	list bool
	read func(r *reader, f *Field, n *yaml.Node) (T, bool)
	// write gives the canonical form and whether the value differs from having none.
	write  func(v T) (any, bool)
	schema func(f *Field) Object
}

// bound ties a codec to the place in the workload where the value lives.
type bound[T any] struct {
	codec codec[T]
	get   func(d *draft) T
	set   func(d *draft, v T)
}

// at binds a codec to a place.
func at[T any](c codec[T], place func(d *draft) *T) binding {
	return bound[T]{c, func(d *draft) T { return *place(d) }, func(d *draft, v T) { *place(d) = v }}
}

func (b bound[T]) typeName() string { return b.codec.name }
func (b bound[T]) isList() bool     { return b.codec.list }

func (b bound[T]) read(r *reader, f *Field, n *yaml.Node) bool {
	v, ok := b.codec.read(r, f, n)
	if ok {
		b.set(r.draft, v)
	}
	return ok
}

func (b bound[T]) write(d *draft) (any, bool) { return b.codec.write(b.get(d)) }

func (b bound[T]) schema(f *Field) Object { return b.codec.schema(f) }
