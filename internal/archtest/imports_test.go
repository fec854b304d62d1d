package archtest

import (
	"slices"
	"strings"
)

// floors from the ground up; a floor may import itself and what lies before it.
var floors = []string{"base", "facts", "choose", "prove", "operate", "connect", "front"}

// free rooms lie beside the house: they look at all of it and only tests import them.
var free = []string{"archtest", "sharedtest"}

// estimator decodes coefficients and benchmark tables itself: they mean nothing outside its formulas.
const estimator = "internal/choose/estimate"

var importRules = []rule{
	{
		name: "imports go only down",
		why:  "a decision that knows of its storage or its screen can be neither tested nor reused alone",
		find: func(t *tree) []finding {
			return eachImport(t, func(from *source, to imported) string {
				low, high := slices.Index(floors, floor(from.dir)), slices.Index(floors, floor(to.dir))
				if low >= 0 && high > low {
					return floors[low] + " imports " + floors[high] + ", which is above it"
				}
				return ""
			})
		},
		caught: []snippet{
			{"internal/facts/model/a.go", importing("model", module+"/internal/choose/plan")},
			{"internal/choose/plan/a_test.go", importing("plan", module+"/internal/front/cli")},
			{"internal/operate/idle/a.go", importing("idle", module+"/internal/connect/prom")},
		},
		fine: []snippet{
			{"internal/choose/plan/a.go", importing("plan", module+"/internal/facts/model")},
			{"internal/choose/plan/b.go", importing("plan", module+"/internal/choose/price")},
			{"internal/front/app/a.go", importing("app", module+"/internal/connect/store")},
		},
	},
	{
		name: "every room is on a floor",
		why:  "a newcomer who lists the folders should have read the architecture",
		find: func(t *tree) []finding {
			var found []finding
			for _, f := range t.files {
				top := strings.HasPrefix(f.dir, "internal/")
				if top && !slices.Contains(floors, floor(f.dir)) && !slices.Contains(free, floor(f.dir)) {
					found = append(found, f.at(f.Package, "internal/%s is no floor", floor(f.dir)))
				}
			}
			return found
		},
		caught: []snippet{{"internal/util/a.go", "package util\n"}},
		fine:   []snippet{{"internal/base/unit/a.go", "package unit\n"}, {"cmd/rackrate/main.go", "package main\n"}},
	},
	{
		name: "the ground floor stands on nothing",
		why:  "words that everything speaks must not drag anything along",
		find: func(t *tree) []finding {
			return eachImport(t, func(from *source, to imported) string {
				if floor(from.dir) == "base" && to.dir != "" && !from.test {
					return "base imports " + to.dir
				}
				return ""
			})
		},
		caught: []snippet{{"internal/base/money/a.go", importing("money", module+"/internal/base/unit")}},
		fine:   []snippet{{"internal/base/money/a.go", importing("money", "math/big")}},
	},
	{
		name: "only app wires connectors",
		why:  "what a command talks to is decided in one place, so that a test can decide otherwise",
		find: func(t *tree) []finding {
			return eachImport(t, func(from *source, to imported) string {
				wiring := floor(from.dir) == "connect" || from.dir == "internal/front/app"
				helped := from.test && strings.HasSuffix(to.dir, "test") // a server that tests start
				if floor(to.dir) == "connect" && !wiring && !helped && !outside(from.dir) {
					return from.dir + " imports " + to.dir + "; take it as a port from app"
				}
				return ""
			})
		},
		caught: []snippet{{"internal/front/cli/a.go", importing("cli", module+"/internal/connect/store")}},
		fine: []snippet{
			{"internal/front/app/a.go", importing("app", module+"/internal/connect/store")},
			{"internal/connect/feed/a.go", importing("feed", module+"/internal/connect/store")},
			{"internal/front/cli/a_test.go", importing("cli", module+"/internal/connect/store/pgtest")},
		},
	},
	{
		name: "commands enter by the front door",
		why:  "a main of a few lines leaves nothing that only a whole process can test",
		find: func(t *tree) []finding {
			return eachImport(t, func(from *source, to imported) string {
				if floor(from.dir) == "cmd" && to.dir != "" && floor(to.dir) != "front" {
					return "cmd imports " + to.dir
				}
				return ""
			})
		},
		caught: []snippet{{"cmd/rackrate/main.go", importing("main", module+"/internal/choose/plan")}},
		fine:   []snippet{{"cmd/rackrate/main.go", importing("main", module+"/internal/front/cli")}},
	},
	{
		name: "facts and the estimator read data",
		why:  "each file has one decoder, which checks it; whoever goes past it sees unchecked rows",
		find: func(t *tree) []finding {
			return eachImport(t, func(from *source, to imported) string {
				reader := floor(from.dir) == "facts" || strings.HasPrefix(from.dir+"/", estimator+"/")
				if to.dir == "data" && !reader && !outside(from.dir) {
					return from.dir + " imports data; ask the package under internal/facts that decodes it"
				}
				return ""
			})
		},
		caught: []snippet{{"internal/choose/plan/a.go", importing("plan", module+"/data")}},
		fine: []snippet{
			{"internal/facts/catalog/a.go", importing("catalog", module+"/data")},
			{"internal/choose/estimate/hash/a.go", importing("hash", module+"/data")},
			{"tools/catalogbuild/main.go", importing("main", module+"/data")},
		},
	},
	{
		name: "tools and test helpers stay out of the product",
		why:  "what builds or tests the product must not be shipped in it",
		find: func(t *tree) []finding {
			return eachImport(t, func(from *source, to imported) string {
				helper := slices.Contains(free, floor(to.dir)) || strings.HasSuffix(to.dir, "test")
				if helper && !from.test && !strings.HasSuffix(from.dir, "test") {
					return from.dir + " imports " + to.dir + " outside a test"
				}
				if floor(to.dir) == "tools" && !outside(from.dir) {
					return from.dir + " imports " + to.dir
				}
				return ""
			})
		},
		caught: []snippet{
			{"internal/front/cli/a.go", importing("cli", module+"/internal/sharedtest")},
			{"internal/facts/catalog/a_test.go", importing("catalog", module+"/tools/catalogbuild")},
		},
		fine: []snippet{{"internal/facts/catalog/a_test.go", importing("catalog", module+"/internal/sharedtest")}},
	},
	{
		name: "no cgo",
		why:  "CGO_ENABLED=0 gives one static binary for six platforms that starts on any machine",
		find: func(t *tree) []finding {
			return eachImport(t, func(_ *source, to imported) string {
				if to.path == "C" {
					return `imports "C"`
				}
				return ""
			})
		},
		caught: []snippet{{"internal/prove/bench/a.go", importing("bench", "C")}},
		fine:   []snippet{{"internal/prove/bench/a.go", importing("bench", "os")}},
	},
	{
		name: "no banned module",
		why:  "each has a better way in this house, named beside it",
		find: func(t *tree) []finding {
			return eachImport(t, func(_ *source, to imported) string {
				for _, b := range banned {
					if to.path == b.path || strings.HasPrefix(to.path, b.path+"/") {
						return to.path + ": " + b.why
					}
				}
				return ""
			})
		},
		caught: bannedSnippets(),
		fine: []snippet{
			{"internal/connect/kube/a.go", importing("kube", "k8s.io/client-go/dynamic")},
			{"internal/facts/model/a_test.go", importing("model", "github.com/google/go-cmp/cmp")},
		},
	},
	{
		name: "no replace in go.mod",
		why:  "go install refuses a module with one, and readers would build another program than its authors",
		find: func(t *tree) []finding {
			var found []finding
			for i, line := range strings.Split(t.text["go.mod"], "\n") {
				if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.TrimSuffix(word, "(") == "replace" {
					found = append(found, finding{"go.mod", i + 1, "go.mod", strings.TrimSpace(line)})
				}
			}
			return found
		},
		caught: []snippet{
			{"go.mod", "module m\n\nreplace example.com/a => ../a\n"},
			{"go.mod", "module m\n\nreplace (\n\texample.com/a => ../a\n)\n"},
		},
		fine: []snippet{{"go.mod", "module m\n\nrequire example.com/replace v1.0.0 // to replace another\n"}},
	},
}

// banned modules, each with the reason.
var banned = []struct{ path, why string }{
	{"k8s.io/client-go/kubernetes", "the typed clientset adds 16 MB and a minute of build; use the dynamic client"},
	{"github.com/NVIDIA/go-nvml", "a program linked with it needs a driver to start; read DCGM-exporter or nvidia-smi"},
	{"github.com/stretchr/testify", "the standard library and go-cmp say what differs; two styles of test are one too many"},
	{"github.com/golang/mock", "generated mocks test the calls, not the outcome; write a fake and run the port's suite on it"},
	{"go.uber.org/mock", "generated mocks test the calls, not the outcome; write a fake and run the port's suite on it"},
	{"github.com/mattn/go-sqlite3", "it is cgo; use modernc.org/sqlite"},
	{"github.com/pkg/errors", "the standard library wraps with %w"},
	{"github.com/sirupsen/logrus", "log/slog is the one logger"},
	{"go.uber.org/zap", "log/slog is the one logger"},
	{"gopkg.in/yaml.v2", "unmaintained; use go.yaml.in/yaml/v4"},
	{"gopkg.in/yaml.v3", "unmaintained; use go.yaml.in/yaml/v4"},
	{"github.com/shopspring/decimal", "money is internal/base/money"},
	{"io/ioutil", "deprecated; use io and os"},
	{"unsafe", "nothing here is worth it"},
}

func bannedSnippets() []snippet {
	var list []snippet
	for _, b := range banned {
		list = append(list, snippet{"internal/front/app/a.go", importing("app", b.path)})
	}
	return list
}

// importing is a file of a package that imports another.
func importing(pkg, imp string) string {
	return "package " + pkg + "\n\nimport _ \"" + imp + "\"\n"
}

// outside says whether a folder is no part of the product.
func outside(dir string) bool { return floor(dir) == "tools" || slices.Contains(free, floor(dir)) }

// eachImport asks what is wrong with each import; "" is nothing.
func eachImport(t *tree, wrong func(from *source, to imported) string) []finding {
	var found []finding
	for _, f := range t.files {
		for _, i := range f.imports() {
			if what := wrong(f, i); what != "" {
				found = append(found, f.at(i.pos, "%s", what))
			}
		}
	}
	return found
}
