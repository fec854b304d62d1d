package say_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/front/say"
)

// use is one code that the program can say, with where it is written and the figures it comes with, where they can be read
// from the source.
type use struct {
	id, at string
	args   []string
	exact  bool // args are all there are
}

// sets are the types whose constants are words, and the message each constant needs.
var sets = map[string][]string{
	"estimate.Reason":        {"reason.%", "reason.%.help"},
	"plan.Reason":            {"reason.%", "reason.%.help"},
	"plan.Item":              {"item.%"},
	"estimate.Basis":         {"basis.%"},
	"estimate.Likeness":      {"like.%"},
	"catalog.Flag":           {"doubt.%"},
	"catalog.FaultKind":      {"fault.%"},
	"catalog.Severity":       {"severity.%"},
	"catalog.BillingMode":    {"billing.%"},
	"catalog.Topology":       {"topology.%"},
	"catalog.NetworkKind":    {"network.%"},
	"catalog.Confidence":     {"confidence.%"},
	"catalog.ChangeKind":     {"change.%"},
	"refresh.Outcome":        {"outcome.%"},
	"intake.Kind":            {"rejected.%"},
	"catalog.Layer":          {"layer.%"},
	"accelerator.Confidence": {"confidence.%"},
	"model.Class":            {"class.%"},
	"workload.Kind":          {"kind.%", "ask.%"},
	"workload.Method":        {"method.%"},
	"workload.Preference":    {"prefer.%", "plan.best.%"},
	"config.Layer":           {"origin.%"},
	"estimate.Target":        {"target.%"},
	"accuracy.Skip":          {"accuracy.skip.%"},
	"provider.Basis":         {"spot_basis.%"},
	"tco.Item":               {"tco_item.%"},
	"assumption.Confidence":  {"confidence.%"},
	"app.ModelChange":        {"model.change.%"},
}

// families are messages whose names are put together at run time, each by the file that does it.
var families = []string{
	"type.", "selector.", "part.", "share.", "params.", "per.", "unit.", "work.", "miss.", "fault_word.", "section.", "carbon_basis.",
	"topology_known.", "column.", "option.", "cmd.", "explain.", "machine.", "needs.", "ask.", "fault.", "warning.price",
	"warning.machine", "list.", "layout.", "recompute.", "model_note.", "os.", "setting.", "accuracy.by.", "promise.", "spot.method.", "buy.key.", "tco.per.", "commit.quantile.",
}

func TestEveryCodeHasItsMessage(t *testing.T) {
	src := readSource(t)
	for _, lang := range say.Langs() {
		s := say.For(lang)
		missing := map[string]string{}
		for _, u := range src.uses {
			if !s.Has(u.id) {
				missing[u.id] = u.at
			}
		}
		for id, at := range missing {
			t.Errorf("%s: no message %q (%s)", lang, id, at)
		}
	}
}

func TestNoMessageIsUnused(t *testing.T) {
	src := readSource(t)
	used := map[string]bool{}
	for _, u := range src.uses {
		used[u.id] = true
	}
	for _, id := range say.For(say.English).IDs() {
		inFamily := slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(id, f) })
		if !used[id] && !inFamily && !src.literals[id] {
			t.Errorf("no code says %q", id)
		}
	}
}

var field = regexp.MustCompile(`{{(?:if |else if )?\.(\w+)}}`)

func fields(text string) []string {
	var names []string
	for _, m := range field.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestLanguagesAgree(t *testing.T) {
	en, zh := say.For(say.English), say.For(say.Chinese)
	if a, b := en.IDs(), zh.IDs(); !slices.Equal(a, b) {
		t.Errorf("the languages have different messages:\nonly en: %v\nonly zh: %v", without(a, b), without(b, a))
	}
	for _, id := range en.IDs() {
		a, b := fields(en.Source(id)), fields(zh.Source(id))
		if !slices.Equal(a, b) {
			t.Errorf("%s: en has the fields %v, zh %v", id, a, b)
		}
	}
}

// A message may only use figures that its code comes with.
func TestFieldsExist(t *testing.T) {
	s := say.For(say.English)
	given, loose := map[string]map[string]bool{}, map[string]bool{}
	for _, u := range readSource(t).uses {
		if given[u.id] == nil {
			given[u.id] = map[string]bool{}
		}
		loose[u.id] = loose[u.id] || !u.exact // somewhere the figures are put together elsewhere
		for _, a := range u.args {
			given[u.id][a] = true
		}
	}
	for id, args := range given {
		if loose[id] {
			continue
		}
		for _, f := range fields(s.Source(id)) {
			if !args[f] {
				t.Errorf("%s uses {{.%s}}, which no code gives it", id, f)
			}
		}
	}
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// source is what the code of the program can say.
type source struct {
	uses     []use
	literals map[string]bool // every string written in front
}

func readSource(t *testing.T) source {
	t.Helper()
	src := source{literals: map[string]bool{}}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		c := collector{src: &src, fset: fset, pkg: file.Name.Name, front: strings.Contains(filepath.ToSlash(path), "/front/")}
		ast.Inspect(file, c.visit)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(src.uses) < 100 {
		t.Fatalf("only %d codes found: is the test run from its own folder?", len(src.uses))
	}
	return src
}

type collector struct {
	src   *source
	fset  *token.FileSet
	pkg   string
	front bool
}

func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		c.call(n)
	case *ast.CompositeLit:
		c.composite(n)
	case *ast.GenDecl:
		if n.Tok == token.CONST {
			c.constants(n)
		}
	case *ast.BasicLit:
		if text, ok := stringOf(n); ok && c.front {
			c.src.literals[text] = true
		}
	}
	return true
}

func (c *collector) add(id string, at ast.Node, args ast.Expr) {
	names, exact := keysOf(args)
	c.src.uses = append(c.src.uses, use{id, c.fset.Position(at.Pos()).String(), names, exact})
}

// call finds problem.New(kind, "code", args), and the helpers that pass a code on: fault("code", …) and add(when, "code", args).
func (c *collector) call(n *ast.CallExpr) {
	name := ""
	switch f := n.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); ok && x.Name == "problem" && name == "New" && len(n.Args) == 3 {
			if code, ok := stringOf(n.Args[1]); ok {
				c.add("problem."+code, n, n.Args[2])
			}
			return
		}
	case *ast.Ident:
		name = f.Name
	}
	switch {
	case c.pkg == "problem" && name == "New", c.pkg == "software" && name == "find":
		for _, a := range n.Args {
			if code, ok := stringOf(a); ok {
				c.add("problem."+code, n, n.Args[0])
			}
		}
	case (name == "fault" || name == "fail") && !c.front:
		for i, a := range n.Args {
			if code, ok := stringOf(a); ok && strings.Contains(code, ".") {
				c.add("problem."+code, n, n.Args[max(i, len(n.Args)-1)])
			}
		}
	case name == "add" && c.pkg == "plan" && len(n.Args) == 3:
		if code, ok := stringOf(n.Args[1]); ok {
			c.add("warning."+code, n, n.Args[2])
		}
	}
}

// composite finds Warning{"code", args} and Note{Code: "code", Args: args}.
func (c *collector) composite(n *ast.CompositeLit) {
	name := typeName(n.Type)
	set := map[string]string{"Warning": "warning.", "plan.Warning": "warning.", "Note": "note.", "estimate.Note": "note."}[name]
	if set == "" || c.front {
		return
	}
	var code, args ast.Expr
	for i, e := range n.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		switch {
		case keyed && typeName(kv.Key) == "Code", !keyed && i == 0:
			code = valueOf(e)
		case keyed && typeName(kv.Key) == "Args", !keyed && i == 1:
			args = valueOf(e)
		}
	}
	if text, ok := stringOf(code); ok {
		c.add(set+text, n, args)
	}
}

// constants finds the words of the types in sets, and codes that are named before they are used: codeX, CodeX, noteX, and the
// reasons of a software verdict.
func (c *collector) constants(n *ast.GenDecl) {
	last := ""
	for _, spec := range n.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		if v.Type != nil {
			last = typeName(v.Type)
		}
		for i, name := range v.Names {
			if i >= len(v.Values) {
				continue
			}
			text, ok := stringOf(v.Values[i])
			if !ok || text == "" {
				continue
			}
			typed := last
			if v.Type == nil {
				typed = ""
			}
			for _, pattern := range sets[c.pkg+"."+typed] {
				c.src.uses = append(c.src.uses, use{id: strings.ReplaceAll(pattern, "%", text), at: c.fset.Position(name.Pos()).String()})
			}
			switch {
			case strings.HasPrefix(name.Name, "code"), strings.HasPrefix(name.Name, "Code"):
				c.src.uses = append(c.src.uses, use{id: "problem." + text, at: c.fset.Position(name.Pos()).String()})
			case strings.HasPrefix(name.Name, "note") && strings.Contains(text, "."):
				c.src.uses = append(c.src.uses, use{id: "note." + text, at: c.fset.Position(name.Pos()).String()})
			case c.pkg == "software" && strings.HasPrefix(text, "software.") && !strings.HasSuffix(text, ".csv"):
				c.src.uses = append(c.src.uses, use{id: "warning." + text, at: c.fset.Position(name.Pos()).String()})
			}
		}
	}
}

func valueOf(e ast.Expr) ast.Expr {
	if kv, ok := e.(*ast.KeyValueExpr); ok {
		return kv.Value
	}
	return e
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	}
	return ""
}

func stringOf(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// keysOf reads the names of a map of figures; exact where it is written out or is nil.
func keysOf(e ast.Expr) (names []string, exact bool) {
	if id, ok := e.(*ast.Ident); ok && id.Name == "nil" {
		return nil, true
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	for _, el := range lit.Elts {
		if kv, ok := el.(*ast.KeyValueExpr); ok {
			if name, ok := stringOf(kv.Key); ok {
				names = append(names, name)
			}
		}
	}
	return names, true
}
