package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// configShowOptions are the flags of config show.
type configShowOptions struct{ origin bool }

// AddFlags declares the flags.
func (o *configShowOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.BoolVar(&o.origin, "origin", false, s.Text("option.origin"))
}

func newConfig(d *deps) *cobra.Command { return d.family("config", groupManage, newConfigShow(d)) }

func newConfigShow(d *deps) *cobra.Command {
	cmd := d.command("config_show", "show", "")
	opts := &configShowOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	cmd.RunE = d.settled(func(_ *cobra.Command, _ []string) error {
		return d.show(&render.Settings{Config: d.Config, Origin: opts.origin})
	})
	return cmd
}
