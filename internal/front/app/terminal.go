package app

import (
	"os"
	"strconv"

	"github.com/rackrate/rackrate/internal/front/config"
)

// Terminal says how standard output is to be written: its width in columns as COLUMNS has it, 0 where nothing says,
// and whether to colour. The user's setting beats NO_COLOR, which beats what the terminal can do.
func (a *App) Terminal() (width int, color bool) {
	if n, err := strconv.Atoi(a.Env("COLUMNS")); err == nil && n >= 40 && n <= 1000 {
		width = n
	}
	switch a.Config.Text(config.Color) {
	case "always":
		return width, true
	case "never":
		return width, false
	}
	return width, IsTerminal(a.Out) && a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb"
}

// IsTerminal says whether a stream is a terminal.
func IsTerminal(w any) bool {
	f, isFile := w.(*os.File)
	if !isFile {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
