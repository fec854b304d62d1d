package cli_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rackrate/rackrate/internal/front/cli"
)

var update = flag.Bool("update", false, "write the transcripts anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"rackrate": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}

// The transcripts are what a user sees: go test ./internal/front/cli -update writes them anew, for review.
func TestTranscripts(t *testing.T) {
	hub := startHub(t)
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("RACKRATE_TODAY", "2026-12-01")
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			env.Setenv("LANG", "C")
			env.Setenv("HF_ENDPOINT", hub)
			env.Setenv("MODELSCOPE_ENDPOINT", hub)
			env.Setenv("HUB", strings.TrimPrefix(hub, "http://"))
			return nil
		},
	})
}
