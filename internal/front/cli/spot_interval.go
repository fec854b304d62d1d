package cli

import (
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// spotIntervalOptions are the flags of spot interval.
type spotIntervalOptions struct {
	work, save, checkpoint, storage, restart, notice string
	mtbi, rate, instance, region                     string
	traces                                           []string
	instances                                        int
	spotPrice, odPrice                               string
}

// AddFlags declares the flags.
func (o *spotIntervalOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	for _, flag := range []struct {
		to              *string
		name, value, of string
	}{
		{&o.work, "work", "TIME", "48h"}, {&o.save, "save", "TIME", ""}, {&o.checkpoint, "checkpoint", "SIZE", ""}, {&o.storage, "storage", "RATE", ""},
		{&o.restart, "restart", "TIME", "5m"}, {&o.notice, "notice", "TIME", ""}, {&o.mtbi, "mtbi", "TIME", ""}, {&o.rate, "rate", "SHARE/TIME", ""},
		{&o.instance, "instance", "NAME", ""}, {&o.region, "region", "PLACE", ""}, {&o.spotPrice, "spot-price", "MONEY", ""}, {&o.odPrice, "od-price", "MONEY", ""},
	} {
		f.StringVar(flag.to, flag.name, flag.of, s.Text("option.spot-"+flag.name))
		called(f, flag.name, flag.value)
	}
	f.StringArrayVar(&o.traces, "trace", nil, s.Text("option.spot-trace"))
	called(f, "trace", "FILE")
	f.IntVar(&o.instances, "instances", 1, s.Text("option.spot-instances"))
}

// Validate reads the flags; all faults are told together.
func (o *spotIntervalOptions) Validate(d *deps) (app.SpotIntervalRequest, error) {
	r := flagReader{currency: d.Config.Money()}
	q := app.SpotIntervalRequest{
		Work: r.span("--work", o.work, "48h, 3d", unit.FromSeconds(1)), Restart: r.hours("--restart", o.restart, "5m, 90s", 0),
		Instances: o.instances, Traces: o.traces, Instance: o.instance, Region: o.region,
		Spot: r.price("--spot-price", o.spotPrice), OnDemand: r.price("--od-price", o.odPrice),
	}
	if o.notice != "" {
		q.Notice = unit.Some(r.hours("--notice", o.notice, "120s, 30s", 0))
	}
	if o.instances < 1 {
		r.bad("--instances", strconv.Itoa(o.instances), "1, 2, 8 …")
	}
	q.Save = o.saving(&r)
	if o.mtbi != "" {
		if m := r.span("--mtbi", o.mtbi, "2.65h, 3d", unit.FromSeconds(1)); m > 0 {
			q.PerHour = unit.Some(1 / float64(m))
		}
	}
	if o.rate != "" {
		perHour, ok := lossRate(o.rate)
		if !ok || perHour > 3600 {
			r.bad("--rate", o.rate, "5%/month, 0.4/h")
		}
		q.PerHour = unit.Some(perHour)
	}
	given := 0
	for _, is := range []bool{o.mtbi != "", o.rate != "", len(o.traces) > 0} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		r.faults = append(r.faults, problem.New(problem.Input, "cli.spot_two", problem.Args{"Flags": "--mtbi, --rate, --trace"}))
	case given == 0 && o.instance == "":
		r.faults = append(r.faults, problem.New(problem.Input, "cli.spot_no_rate", nil))
	}
	if o.region != "" && o.instance == "" {
		r.faults = append(r.faults, problem.New(problem.Input, "cli.spot_region", nil))
	}
	return q, r.faults.OrNil()
}

// saving is the time that a checkpoint takes: measured, or its size over the speed of the storage.
func (o *spotIntervalOptions) saving(r *flagReader) unit.Hours {
	switch sized := o.checkpoint != "" || o.storage != ""; {
	case o.save != "" && sized:
		r.faults = append(r.faults, problem.New(problem.Input, "cli.spot_two", problem.Args{"Flags": "--save, --checkpoint"}))
	case o.save != "":
		return r.hours("--save", o.save, "40s, 2m", 0)
	case o.checkpoint == "" || o.storage == "":
		r.faults = append(r.faults, problem.New(problem.Input, "cli.spot_no_save", nil))
	default:
		size, err := sizeWithUnit(o.checkpoint)
		if err != nil {
			r.bad("--checkpoint", o.checkpoint, "140GB, 2.9 GB")
		}
		speed, err := unit.ParseRate(o.storage)
		if err != nil || speed <= 0 {
			r.bad("--storage", o.storage, "2GB/s, 100Gbps")
			return 0
		}
		save := unit.FromSeconds(float64(size) / float64(speed))
		if save > longest {
			r.bad("--storage", o.storage, "2GB/s, 100Gbps")
		}
		return save
	}
	return 0
}

func newSpotInterval(d *deps) *cobra.Command {
	cmd := d.command("spot_interval", "interval", "")
	opts := &spotIntervalOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	cmd.RunE = d.settled(func(*cobra.Command, []string) error {
		q, err := opts.Validate(d)
		if err != nil {
			return err
		}
		found, err := d.SpotInterval(q)
		if err != nil {
			return err
		}
		return d.show(&render.SpotInterval{SpotInterval: found})
	})
	return cmd
}
