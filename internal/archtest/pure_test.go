package archtest

import (
	"go/ast"
	"slices"
)

// belowConnect are the floors that get the outside world handed in; pure are those whose answer depends on their
// arguments alone.
var (
	belowConnect = floors[:slices.Index(floors, "connect")]
	belowFront   = floors[:slices.Index(floors, "front")]
	pure         = []string{"base", "facts", "choose"}
)

var pureRules = []rule{
	{
		name: "no clock below connect",
		why:  "the same input must give the same answer tomorrow; take the time as an argument",
		find: func(t *tree) []finding {
			return banUses(t.code(belowConnect...), "time", "Now", "Since", "Until")
		},
		caught: []snippet{
			{"internal/choose/plan/a.go", using("plan", "time", "time.Now()")},
			{"internal/operate/idle/a.go", using("idle", "time", "time.Since(time.Time{})")},
			{"internal/base/unit/a.go", "package unit\n\nimport clock \"time\"\n\nvar now = clock.Now\n"},
		},
		fine: []snippet{
			{"internal/connect/feed/a.go", using("feed", "time", "time.Now()")},
			{"internal/choose/plan/a_test.go", using("plan", "time", "time.Now()")},
			{"internal/choose/plan/a.go", using("plan", "time", "time.Hour")},
			{"internal/choose/plan/b.go", "package plan\n\nimport \"time\"\n\nvar _ time.Time\n\nfunc f(time struct{ Now int }) int { return time.Now }\n"},
		},
	},
	{
		name: "no waiting in pure packages",
		why:  "an answer that depends on how fast the machine is differs from run to run",
		find: func(t *tree) []finding {
			return banUses(t.code(pure...), "time", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer")
		},
		caught: []snippet{{"internal/choose/spot/a.go", using("spot", "time", "time.After(1)")}},
		fine:   []snippet{{"internal/operate/supervise/a.go", using("supervise", "time", "time.NewTimer(1)")}},
	},
	{
		name: "no global randomness below connect",
		why:  "a simulation must be repeatable; take a *rand.Rand, or a seed and rand.New",
		find: func(t *tree) []finding {
			var found []finding
			for _, f := range t.code(belowConnect...) {
				for _, u := range f.uses() {
					if (u.pkg == "math/rand" || u.pkg == "math/rand/v2") && !slices.Contains(seeded, u.name) {
						found = append(found, f.at(u.pos, "%s.%s draws from a generator that everybody shares", u.pkg, u.name))
					}
				}
				for _, i := range f.imports() {
					if i.path == "crypto/rand" && slices.Contains(pure, floor(f.dir)) {
						found = append(found, f.at(i.pos, "crypto/rand can never be repeated"))
					}
				}
			}
			return found
		},
		caught: []snippet{
			{"internal/choose/spot/a.go", using("spot", "math/rand/v2", "rand.Float64()")},
			{"internal/prove/load/a.go", using("load", "math/rand", "rand.Intn(3)")},
			{"internal/choose/spot/b.go", using("spot", "crypto/rand", "rand.Reader")},
		},
		fine: []snippet{
			{"internal/choose/spot/a.go", using("spot", "math/rand/v2", "rand.New(rand.NewPCG(1, 2))")},
			{"internal/connect/feed/a.go", using("feed", "math/rand/v2", "rand.Float64()")},
		},
	},
	{
		name: "no environment below connect",
		why:  "settings have one order of precedence, which front resolves and `config show --origin` explains",
		find: func(t *tree) []finding {
			return banUses(t.code(belowConnect...), "os", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Args",
				"UserHomeDir", "UserCacheDir", "UserConfigDir", "Hostname", "Getwd")
		},
		caught: []snippet{
			{"internal/facts/catalog/a.go", using("catalog", "os", `os.Getenv("HOME")`)},
			{"internal/operate/budget/a.go", using("budget", "os", "os.Args")},
		},
		fine: []snippet{{"internal/front/app/a.go", using("app", "os", `os.Getenv("NO_COLOR")`)}},
	},
	{
		name: "no input or output in pure packages",
		why:  "decisions are pure: whoever calls hands in bytes or an fs.FS, and does what follows",
		find: func(t *tree) []finding {
			var found []finding
			for _, f := range t.code(pure...) {
				for _, i := range f.imports() {
					if slices.Contains(touching, i.path) {
						found = append(found, f.at(i.pos, "imports %s", i.path))
					}
				}
			}
			return found
		},
		caught: []snippet{
			{"internal/choose/workload/a.go", using("workload", "os", `os.ReadFile("config.json")`)},
			{"internal/facts/catalog/a.go", importing("catalog", "net/http")},
			{"internal/base/money/a.go", importing("money", "database/sql")},
		},
		fine: []snippet{
			{"internal/facts/catalog/a.go", importing("catalog", "io/fs")},
			{"internal/choose/workload/a_test.go", importing("workload", "os")},
			{"internal/prove/load/a.go", importing("load", "net/http")},
		},
	},
	{
		name: "no printing below front",
		why:  "standard output is a contract and words live in front; return a result or an error, or log to the logger given",
		find: func(t *tree) []finding {
			files := t.code(belowFront...)
			found := banUses(files, "fmt", "Print", "Printf", "Println")
			found = append(found, banUses(files, "os", "Stdout", "Stderr", "Exit")...)
			found = append(found, banUses(files, "log/slog", "Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log",
				"DebugContext", "InfoContext", "WarnContext", "ErrorContext", "LogAttrs")...)
			for _, f := range files {
				for _, i := range f.imports() {
					if i.path == "log" {
						found = append(found, f.at(i.pos, "imports log"))
					}
				}
				for _, call := range builtinPrints(f) {
					found = append(found, f.at(call.Pos(), "prints to standard error"))
				}
			}
			return found
		},
		caught: []snippet{
			{"internal/choose/plan/a.go", using("plan", "fmt", "fmt.Println()")},
			{"internal/connect/feed/a.go", using("feed", "log", `log.Print("fetched")`)},
			{"internal/connect/feed/b.go", using("feed", "log/slog", `slog.Info("fetched")`)},
			{"internal/facts/model/a.go", "package model\n\nfunc f() { println(1) }\n"},
		},
		fine: []snippet{
			{"internal/front/cli/a.go", using("cli", "fmt", "fmt.Println()")},
			{"internal/connect/feed/a.go", using("feed", "log/slog", "slog.New(nil)")},
			{"internal/choose/plan/a.go", using("plan", "fmt", `fmt.Errorf("x")`)},
		},
	},
}

// seeded are the names of math/rand that do not draw from the shared generator.
var seeded = []string{
	"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf",
	"Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf",
}

// touching are the standard packages that reach outside the process.
var touching = []string{
	"os", "os/exec", "os/signal", "os/user", "net", "net/http", "net/rpc", "net/smtp", "database/sql", "syscall", "flag", "log", "log/slog", "plugin",
}

// banUses finds names of a package.
func banUses(files []*source, pkg string, names ...string) []finding {
	var found []finding
	for _, f := range files {
		for _, u := range f.uses() {
			if u.pkg == pkg && slices.Contains(names, u.name) {
				found = append(found, f.at(u.pos, "%s.%s", pkg, u.name))
			}
		}
		for _, i := range f.imports() {
			if i.path == pkg && i.name == "." {
				found = append(found, f.at(i.pos, "a dot import hides what is used of %s", pkg))
			}
		}
	}
	return found
}

func builtinPrints(f *source) []*ast.CallExpr {
	var calls []*ast.CallExpr
	ast.Inspect(f.File, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && id.Obj == nil && (id.Name == "print" || id.Name == "println") {
				calls = append(calls, call)
			}
		}
		return true
	})
	return calls
}

// using is a file that evaluates an expression of one imported package.
func using(pkg, path, expr string) string {
	return "package " + pkg + "\n\nimport \"" + path + "\"\n\nvar _ = func() { _ = " + expr + " }\n"
}
