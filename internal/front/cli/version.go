package cli

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/wire"
)

func newVersion(d *deps) *cobra.Command {
	cmd := d.command("version", "version", groupManage)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		// A broken file of settings must not hide the version from whoever is asked for it.
		_ = d.Override(given(cmd.Flags()))
		return d.show(&render.Version{Version: buildVersion()})
	}
	return cmd
}

// buildVersion is what the Go tool stamped into the binary.
func buildVersion() wire.Version {
	v := wire.Version{Schema: wire.VersionSchema, Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		v.Version = strings.TrimPrefix(m, "v")
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		}
	}
	return v
}
