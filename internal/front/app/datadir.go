package app

import (
	"path/filepath"
	"runtime"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// DataDir is the folder of what the user has the program keep: the store of prices and the models that were added. It need not be
// there yet. RACKRATE_DATA names it; else it is where the system wants such data.
func (a *App) DataDir() (string, error) {
	if dir := dataDir(runtime.GOOS, a.Env); dir != "" {
		return dir, nil
	}
	return "", problem.New(problem.Input, "app.no_data_dir", problem.Args{"Var": "RACKRATE_DATA"})
}

// dataDir is DataDir on an operating system; empty where nothing says. A relative XDG_DATA_HOME is to be ignored (XDG Base Directory
// Specification 0.8).
func dataDir(goos string, env func(string) string) string {
	if dir := env("RACKRATE_DATA"); dir != "" {
		return dir
	}
	under := func(name string, rest ...string) string {
		if root := env(name); filepath.IsAbs(root) {
			return filepath.Join(append(append([]string{root}, rest...), "rackrate")...)
		}
		return ""
	}
	switch goos {
	case "windows":
		return under("LOCALAPPDATA")
	case "darwin", "ios":
		return under("HOME", "Library", "Application Support")
	}
	if dir := under("XDG_DATA_HOME"); dir != "" {
		return dir
	}
	return under("HOME", ".local", "share")
}
