package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/rackrate/rackrate"

// tree is the checkout as the rules see it: parsed Go files, and other files by path. All paths are relative to
// the root and have forward slashes.
type tree struct {
	fset  *token.FileSet
	files []*source
	text  map[string]string
	has   func(path string) bool
}

// source is one Go file.
type source struct {
	*ast.File
	path  string
	dir   string
	test  bool
	lines int
	fset  *token.FileSet
}

// finding is one breach of a rule. Its key names it in a list of exceptions: a path, or path:Identifier.
type finding struct {
	path string
	line int
	key  string
	what string
}

func (f finding) String() string {
	if f.line == 0 {
		return f.path + ": " + f.what
	}
	return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.what)
}

func (s *source) line(p token.Pos) int { return s.fset.Position(p).Line }

// at is a finding at a place in the file, excepted by file.
func (s *source) at(p token.Pos, format string, args ...any) finding {
	return finding{s.path, s.line(p), s.path, fmt.Sprintf(format, args...)}
}

// floor is the part of internal/ that a directory belongs to, or the directory at the root.
func floor(dir string) string {
	parts := strings.Split(dir, "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return parts[1]
	}
	return parts[0]
}

// code gives the files that are not tests on any of these floors.
func (t *tree) code(floors ...string) []*source {
	var found []*source
	for _, f := range t.files {
		if !f.test && slices.Contains(floors, floor(f.dir)) {
			found = append(found, f)
		}
	}
	return found
}

// imported is one import of a file; dir is set where the package is ours.
type imported struct {
	path string
	dir  string
	name string // what the file calls it
	pos  token.Pos
}

func (s *source) imports() []imported {
	var list []imported
	for _, spec := range s.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		i := imported{path: p, name: path.Base(p), pos: spec.Pos()}
		if rest, ok := strings.CutPrefix(p, module+"/"); ok {
			i.dir = rest
		}
		if strings.HasPrefix(i.name, "v") && strings.Trim(i.name[1:], "0123456789") == "" { // math/rand/v2
			i.name = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			i.name = spec.Name.Name
		}
		list = append(list, i)
	}
	return list
}

// use is one mention of a name of an imported package.
type use struct {
	pkg, name string
	pos       token.Pos
}

// uses gives every qualified name in the file, whatever the import is called there.
func (s *source) uses() []use {
	byName := map[string]string{}
	for _, i := range s.imports() {
		byName[i.name] = i.path
	}
	var list []use
	ast.Inspect(s.File, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// A local variable of the same name resolves to an object; a package does not.
		if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil && byName[x.Name] != "" {
			list = append(list, use{byName[x.Name], sel.Sel.Name, sel.Pos()})
		}
		return true
	})
	return list
}

// add parses one file into the tree.
func (t *tree) add(name, text string) error {
	if !strings.HasSuffix(name, ".go") {
		t.text[name] = text
		return nil
	}
	f, err := parser.ParseFile(t.fset, name, text, parser.ParseComments)
	if err != nil {
		return err
	}
	t.files = append(t.files, &source{
		File: f, path: name, dir: path.Dir(name), fset: t.fset,
		test: strings.HasSuffix(name, "_test.go"), lines: strings.Count(text, "\n"),
	})
	return nil
}

func newTree() *tree { return &tree{fset: token.NewFileSet(), text: map[string]string{}} }

// checkout reads the tree that this test is part of.
func checkout(t *testing.T) *tree {
	t.Helper()
	const root = "../.."
	house := newTree()
	house.has = func(p string) bool { return holdsFile(filepath.Join(root, filepath.FromSlash(p))) }
	for _, top := range []string{"cmd", "data", "docs/ARCHITECTURE.md", "go.mod", "internal", "tools"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(full string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			if d.IsDir() || !slices.Contains([]string{".go", ".md", ".mod"}, filepath.Ext(full)) {
				return nil
			}
			text, err := os.ReadFile(full)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, full)
			if err != nil {
				return err
			}
			return house.add(filepath.ToSlash(name), string(text))
		})
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
	return house
}

// holdsFile says whether p is a file, or a folder with one somewhere in it: git knows no empty folders.
func holdsFile(p string) bool {
	found := false
	_ = filepath.WalkDir(p, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = true
			return fs.SkipAll
		}
		return err
	})
	return found
}

// plant makes a tree of one file.
func plant(t *testing.T, name, text string) *tree {
	t.Helper()
	snippet := newTree()
	snippet.has = func(p string) bool { return p == name || strings.HasPrefix(name, p+"/") }
	if err := snippet.add(name, text); err != nil {
		t.Fatal(err)
	}
	return snippet
}
