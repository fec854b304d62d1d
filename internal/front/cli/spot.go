package cli

import (
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

func newSpot(d *deps) *cobra.Command {
	return d.family("spot", groupChoose, newSpotInterval(d), newSpotSimulate(d))
}

// flagReader reads the values of flags and gathers what cannot be read.
type flagReader struct {
	currency money.Currency // of a plain number
	faults   problem.List
}

func (r *flagReader) bad(flag, value, example string) {
	r.faults = append(r.faults, problem.New(problem.Input, "cli.bad_flag_value", problem.Args{"Flag": flag, "Value": value, "Type": example}))
}

// longest is the longest time that a flag may give: a century.
const longest = 100 * unit.HoursPerYear

// hours reads a time; 0 where none is given. least is the shortest that makes sense.
func (r *flagReader) hours(flag, text, example string, least unit.Hours) unit.Hours {
	if text == "" {
		return 0
	}
	h, err := unit.ParseHours(text)
	if err != nil || h < least || h > longest {
		r.bad(flag, text, example)
	}
	return h
}

// span reads a time of which a plain number is hours, as work and deadlines are counted.
func (r *flagReader) span(flag, text, example string, least unit.Hours) unit.Hours {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "h"
	}
	return r.hours(flag, text, example, least)
}

// price reads a price an hour.
func (r *flagReader) price(flag, text string) unit.Maybe[money.Rate] {
	if text == "" {
		return unit.None[money.Rate]()
	}
	rate, err := parseHourly(text, r.currency)
	if err != nil || rate.Nanos() <= 0 {
		r.bad(flag, text, "3.06, $0.92, 18 CNY")
	}
	return unit.Some(rate)
}

// lossRate reads how often an instance is lost: "5%/month" is the share that is lost within that time, which becomes the rate −ln(1 − p) of
// an exponential law; "0.4/h" is a number.
func lossRate(text string) (perHour float64, ok bool) {
	amount, per, found := strings.Cut(text, "/")
	if !found {
		return 0, false
	}
	within, err := unit.ParseHours("1" + strings.TrimSpace(per))
	if err != nil || within <= 0 {
		return 0, false
	}
	number, share := strings.CutSuffix(strings.TrimSpace(amount), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) || share && v >= 100 {
		return 0, false
	}
	if share {
		v = -math.Log1p(-v / 100)
	}
	return v / float64(within), true
}
