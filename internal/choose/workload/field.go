package workload

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/facts/model"
)

// Text is a sentence in the languages the program speaks.
type Text struct{ EN, ZH string }

// In gives the sentence in a language, English where it is not one of ours.
func (t Text) In(lang string) string {
	if lang == "zh" {
		return t.ZH
	}
	return t.EN
}

// Field is one key of a workload file. The table of fields drives the decoder, the flags, the JSON Schema, the
// examples and the canonical form, so that they cannot disagree.
type Field struct {
	Path string // dotted, as in limits.deadline
	// Kinds lists the kinds of work the key belongs to; empty is all. Two fields share a path where a key means
	// something else for another kind.
	Kinds    []Kind
	Required bool
	// For says which networks have the key; nil is all. Others need not give it, and may not.
	For func(*model.Model) bool
	// Unless is a key in whose presence a required one may be left out.
	Unless string
	Type   string // bytes, hours, money, enum …: names what is wanted in messages
	List   bool
	// Min and Max bound a number in the base unit of its type, inclusive. Money is bounded in its own currency.
	Min, Max float64
	// Enum lists the values allowed, where they are few.
	Enum []string
	// Default is filled in where the key is left out, and then listed in Workload.Defaulted; empty is no
	// default. Where it depends on the model it is described in Doc and filled in by a rule.
	Default string
	Doc     Text
	// Example is a sensible value; Examples are better ones for a kind.
	Example  string
	Examples map[Kind]string
	// Flag is the command-line flag without its dashes; several fields of different kinds may share one.
	Flag string

	// shown keys stand uncommented in an example although they are not required.
	shown []Kind
	// zero says that a zero value is one a user can write and means something else than leaving the key out.
	zero bool
	// fill gives the default where it depends on the rest of the workload; empty is none after all.
	fill func(*draft) string
	bind binding
}

// binding carries one key's value from a node into the workload and back.
type binding interface {
	typeName() string
	isList() bool
	read(r *reader, f *Field, n *yaml.Node) bool
	// write gives the value in canonical form and whether it differs from having none.
	write(d *draft) (any, bool)
	schema(f *Field) Object
}

// Group is a key that holds other keys.
type Group struct {
	Path string
	Doc  Text
}

var groups = []Group{
	{"layout", Text{"Parts of the parallel layout to hold fixed; what is left out is searched.", "固定并行布局的某些部分；省略的部分由程序搜索。"}},
	{"traffic", Text{"What the service receives.", "服务收到的请求。"}},
	{"slo", Text{"The latency promised at the 99th percentile; what is left out is not promised.", "承诺的第 99 百分位延迟；省略的不作承诺。"}},
	{"software", Text{"What the work is built on.", "作业所依赖的软件。"}},
	{"data", Text{"What the work reads, writes and keeps.", "作业读取、写入和保存的数据。"}},
	{"limits", Text{"Hard limits: no plan breaks one.", "硬性限制：任何方案都不会违反。"}},
	{"people", Text{"The staff time a plan costs.", "方案占用的人员时间。"}},
}

var kinds = []Kind{Train, Finetune, Serve, BatchInfer, Diffuse, Render, Simulate, Hash, Custom}

// Kinds lists the kinds of work.
func Kinds() []Kind { return slices.Clone(kinds) }

// table is every field in file order, with its derived parts filled in.
var table = buildTable()

// Fields lists every key, in file order.
func Fields() []Field { return slices.Clone(table) }

// FieldsOf lists the keys of one kind of work, in file order; each path comes once.
func FieldsOf(k Kind) []Field {
	var fs []Field
	for _, f := range table {
		if f.of(k) {
			fs = append(fs, f)
		}
	}
	return fs
}

func buildTable() []Field {
	fs := slices.Concat(generalFields(), trainingFields(), inferenceFields(), otherFields(), softwareFields(), limitFields(), moneyFields())
	for i := range fs {
		fs[i].Type, fs[i].List = fs[i].bind.typeName(), fs[i].bind.isList()
		fs[i].Flag = flagName(fs, fs[i])
	}
	return fs
}

// flagName is the last element of the path; a key inside a group takes its whole path where a kind of work has
// another key that ends alike.
func flagName(fs []Field, f Field) string {
	last := f.Path[strings.LastIndex(f.Path, ".")+1:]
	if last != f.Path {
		for _, g := range fs {
			if g.Path != f.Path && g.Path[strings.LastIndex(g.Path, ".")+1:] == last && g.overlaps(f) {
				return dashes(f.Path)
			}
		}
	}
	return dashes(last)
}

func dashes(s string) string { return strings.NewReplacer(".", "-", "_", "-").Replace(s) }

func (f *Field) of(k Kind) bool { return len(f.Kinds) == 0 || slices.Contains(f.Kinds, k) }

func (f *Field) overlaps(g Field) bool {
	return slices.ContainsFunc(kinds, func(k Kind) bool { return f.of(k) && g.of(k) })
}

// example is the sensible value for a kind.
func (f *Field) example(k Kind) string {
	if e, ok := f.Examples[k]; ok {
		return e
	}
	return f.Example
}

// parent is the group a path is in, or "".
func parent(path string) string {
	i := strings.LastIndex(path, ".")
	return path[:max(i, 0)]
}

func isGroup(path string) bool {
	return slices.ContainsFunc(groups, func(g Group) bool { return g.Path == path })
}

// byPath finds the fields of a path, one for each meaning it has.
func byPath(path string) []*Field {
	var found []*Field
	for i := range table {
		if table[i].Path == path {
			found = append(found, &table[i])
		}
	}
	return found
}

// field finds the key at a path for a kind of work; nil where the kind has none. Without a kind it finds the
// path's only meaning.
func field(path string, k Kind) *Field {
	found := byPath(path)
	if k == "" && len(found) == 1 {
		return found[0]
	}
	for _, f := range found {
		if f.of(k) {
			return f
		}
	}
	return nil
}

// kindsOf lists the kinds that have a path, or any key inside it.
func kindsOf(path string) []Kind {
	var ks []Kind
	for _, k := range kinds {
		for i := range table {
			if f := &table[i]; (f.Path == path || parent(f.Path) == path) && f.of(k) {
				ks = append(ks, k)
				break
			}
		}
	}
	return ks
}

func joinKinds(ks []Kind) string {
	names := make([]string, len(ks))
	for i, k := range ks {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// choice is one thing that can be said in several ways; exactly one may be used.
type choice struct {
	kinds    []Kind
	required bool
	ways     [][]string // each way is the keys that must stand together
}

var choices = []choice{
	{kinds: training, required: true, ways: [][]string{{"tokens"}, {"samples"}, {"steps"}, {"epochs", "dataset_tokens"}}},
	{kinds: training, ways: [][]string{{"global_batch"}, {"global_batch_tokens"}}},
	{kinds: []Kind{Simulate}, required: true, ways: [][]string{
		{"flops_per_step", "bytes_per_step"}, {"seconds_per_step", "on", "bound"}}},
	{kinds: []Kind{Serve}, ways: [][]string{{"traffic.profile"}, {"traffic.trace"}}},
	{kinds: []Kind{Serve}, ways: [][]string{{"duration"}, {"horizon"}}},
	{ways: [][]string{{"people.hourly", "people.hours_per_week"}}},
}

// companion is a key that means nothing without another.
type companion struct {
	kinds      []Kind
	key, needs string
}

var companions = []companion{{finite, "horizon", "runs_per_month"}}

func (c companion) of(k Kind) bool { return slices.Contains(c.kinds, k) }

func (c choice) of(k Kind) bool { return len(c.kinds) == 0 || slices.Contains(c.kinds, k) }

// String prints the ways as tokens | steps | epochs + dataset_tokens.
func (c choice) String() string {
	ways := make([]string, len(c.ways))
	for i, w := range c.ways {
		ways[i] = strings.Join(w, " + ")
	}
	return strings.Join(ways, " | ")
}

// The kinds that share keys.
var (
	training  = []Kind{Train, Finetune}
	inference = []Kind{Serve, BatchInfer}
	tokens    = []Kind{Train, Finetune, Serve, BatchInfer}
	networks  = []Kind{Train, Finetune, Serve, BatchInfer, Diffuse}
	finite    = []Kind{Train, Finetune, BatchInfer, Diffuse, Render, Simulate, Hash, Custom}
)
