package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/front/say"
)

// Asked says a workload in one line: "Fine-tune llama-3.1-70b (LoRA, BF16) · 200M tokens · within 72 h · at most $5,000".
func Asked(w *workload.Workload, s *say.Speaker) string {
	parts := append([]string{s.Say("ask."+string(w.Kind), workFigures(w, s))}, extent(w, s)...)
	return strings.Join(append(parts, limits(&w.Limits, s)...), " · ")
}

// workFigures are the figures of the sentence of a kind of work.
func workFigures(w *workload.Workload, s *say.Speaker) say.Args {
	args := say.Args{"How": how(w, s)}
	switch {
	case w.Model != nil:
		args["What"] = w.Model.Name
	case w.Sim != nil:
		args["What"], args["How"] = count3(w.Sim.Steps), strings.ToUpper(w.Sim.Precision.String())
	case w.Render != nil:
		args["What"] = s.Number(w.Render.Frames)
		args["Count"] = many(w.Render.Frames)
		args["How"] = onDevice(s, w.Render.SecondsPerFrame, w.Render.On)
	case w.Hash != nil:
		args["What"], args["How"] = count3(w.Hash.Keyspace), w.Hash.Algorithm
	case w.Custom != nil:
		args["What"] = count3(w.Custom.Units) + " " + w.Custom.Unit
		args["How"] = s.Say("ask.rate", say.Args{"Rate": w.Custom.Rate, "Unit": w.Custom.Unit, "Device": deviceName(w.Custom.On)})
	}
	return args
}

// how says the method and formats: "LoRA, BF16".
func how(w *workload.Workload, s *say.Speaker) string {
	var parts []string
	if w.Kind == workload.Finetune && w.Method != "" {
		parts = append(parts, s.Value(w.Method))
	}
	if w.Format != "" {
		parts = append(parts, strings.ToUpper(string(w.Format)))
	}
	return s.List(parts)
}

// over is the message of requests that are read and answered in tokens, only read in tokens, windows of speech, or none of these.
func over(id string, m *model.Model, in, out int) string {
	switch {
	case m != nil && m.Transcribes():
		return id + "_windows"
	case out > 0:
		return id
	case in > 0:
		return id + "_read"
	}
	return id + "_samples"
}

// extent says how much work there is.
func extent(w *workload.Workload, s *say.Speaker) []string {
	var out []string
	add := func(id string, args say.Args) { out = append(out, s.Say("ask."+id, args)) }
	if w.Tokens > 0 {
		add("tokens", say.Args{"Tokens": count3(w.Tokens)})
	}
	if w.Samples > 0 {
		add("samples", say.Args{"Samples": count3(w.Samples)})
	}
	if t := w.Traffic; t != nil {
		add(over("traffic", w.Model, t.InputTokens, t.OutputTokens), say.Args{"Rate": requests(t.RequestsPerSecond, s), "In": t.InputTokens, "Out": t.OutputTokens})
		for _, slo := range []struct {
			id  string
			max any
			set bool
		}{{"ttft", w.SLO.TTFTp99, w.SLO.TTFTp99 > 0}, {"tpot", w.SLO.TPOTp99, w.SLO.TPOTp99 > 0}, {"e2e", w.SLO.E2Ep99, w.SLO.E2Ep99 > 0}} {
			if slo.set {
				add(slo.id, say.Args{"Max": slo.max})
			}
		}
		if w.Duration > 0 {
			add("duration", say.Args{"Hours": lasting(w.Duration, s)})
		}
	}
	if b := w.Batch; b != nil {
		add(over("requests", w.Model, b.InputTokens, b.OutputTokens), say.Args{"Requests": count3(b.Requests), "In": b.InputTokens, "Out": b.OutputTokens})
	}
	if d := w.Diffuse; d != nil {
		add("images", say.Args{"Images": count3(d.Images), "Size": fmt.Sprintf("%d×%d", d.Width, d.Height), "Steps": d.Steps})
	}
	if w.RunsPerMonth > 0 {
		add("recurring", say.Args{"Runs": w.RunsPerMonth, "Count": price.Months(w.Horizon)})
	}
	return out
}

// limits says the hard limits that were set.
func limits(l *workload.Limits, s *say.Speaker) []string {
	var out []string
	add := func(set bool, id string, args say.Args) {
		if set {
			out = append(out, s.Say("ask."+id, args))
		}
	}
	budget, hasBudget := l.Budget.Get()
	carbon, hasCarbon := l.MaxCarbon.Get()
	var gpus []string
	for _, a := range l.Accelerators {
		gpus = append(gpus, a.Text)
	}
	add(len(gpus) > 0, "gpu", say.Args{"Names": gpus})
	add(l.Deadline > 0, "deadline", say.Args{"Hours": l.Deadline})
	add(hasBudget, "budget", say.Args{"Budget": budget})
	add(len(l.Regions) > 0, "regions", say.Args{"Names": l.Regions})
	add(len(l.Residency) > 0, "residency", say.Args{"Names": l.Residency})
	add(len(l.ProviderJurisdiction) > 0, "jurisdiction", say.Args{"Names": l.ProviderJurisdiction})
	add(len(l.Certifications) > 0, "certifications", say.Args{"Names": l.Certifications})
	add(len(l.Providers) > 0, "providers", say.Args{"Names": l.Providers})
	add(len(l.NotProviders) > 0, "not_providers", say.Args{"Names": l.NotProviders})
	add(hasCarbon, "carbon", say.Args{"Kg": carbon})
	add(l.MinCount > 0, "min_gpus", say.Args{"Count": l.MinCount})
	add(l.MaxCount > 0, "max_gpus", say.Args{"Count": l.MaxCount})
	add(l.MaxInstances > 0, "max_instances", say.Args{"Count": l.MaxInstances})
	add(l.MinHostRAM > 0, "min_host_ram", say.Args{"RAM": l.MinHostRAM})
	add(l.MinNetworkGbps > 0, "min_network", say.Args{"Gbps": l.MinNetworkGbps})
	add(l.MinSLA > 0, "min_sla", say.Args{"Percent": fmt.Sprintf("%g", l.MinSLA)})
	add(l.MaxPriceAgeDays > 0, "price_age", say.Args{"Count": l.MaxPriceAgeDays})
	add(len(l.Interconnect) > 0, "interconnect", say.Args{"Names": networks(l.Interconnect, s)})
	add(l.MIG, "mig", nil)
	add(l.Confidential, "confidential", nil)
	add(l.BareMetal, "bare_metal", nil)
	add(l.NoMarketplace, "no_marketplace", nil)
	return out
}

// requests says a rate of requests: "1 request/s", "5 requests/s".
func requests(rate float64, s *say.Speaker) string {
	return s.Say("ask.requests_per_second", say.Args{"Count": many(rate), "Rate": rate})
}

// many chooses between singular and plural for a figure that need not be whole.
func many(v float64) int {
	if v == 1 {
		return 1
	}
	return 2
}

func networks(kinds []catalog.NetworkKind, s *say.Speaker) string {
	var names []string
	for _, k := range kinds {
		names = append(names, s.Value(k))
	}
	return s.Or(names)
}

// lasting says how long a service runs: a month is 730 hours, which days alone would round away.
func lasting(h unit.Hours, s *say.Speaker) string {
	days := s.Hours(h)
	if h <= 72 {
		return days
	}
	return s.Say("unit.hours", say.Args{"N": s.Number(float64(h))}) + " (" + s.Say("unit.days", say.Args{"N": s.Number(math.Round(float64(h)/2.4) / 10)}) + ")"
}

func onDevice(s *say.Speaker, seconds float64, on workload.Reference) string {
	return s.Say("ask.seconds_on", say.Args{"Seconds": seconds, "Device": deviceName(on)})
}

func deviceName(on workload.Reference) string {
	if on.Device == nil {
		return say.Unknown
	}
	if on.Count > 1 {
		return fmt.Sprintf("%d × %s", on.Count, on.Device.Name)
	}
	return on.Device.Name
}

// NeedsLine says what a workload needs of any machine in one line; empty where nothing can be said of all machines.
func NeedsLine(n plan.Needs, s *say.Speaker) string {
	var parts []string
	add := func(set bool, id string, args say.Args) {
		if set {
			parts = append(parts, s.Say("needs."+id, args))
		}
	}
	var fits []string
	for _, f := range n.Fits {
		fits = append(fits, fmt.Sprintf("%d × %g GB", f.Count, f.GB))
	}
	add(n.Memory > 0, "memory", say.Args{"Memory": n.Memory.Decimal()})
	add(len(fits) > 0, "fits", say.Args{"Fits": s.Or(fits)})
	add(n.FLOP > 0, "flop", say.Args{"FLOP": n.FLOP})
	add(n.HostRAM > 0, "host", say.Args{"RAM": n.HostRAM.Decimal()})
	add(n.Checkpoint > 0, "checkpoint", say.Args{"Size": n.Checkpoint.Decimal()})
	add(n.Storage > 0, "storage", say.Args{"Size": n.Storage.Decimal()})
	add(n.NetworkGbps > 0, "network", say.Args{"Gbps": n.NetworkGbps})
	if len(parts) == 0 {
		return ""
	}
	return s.Say("needs.line", say.Args{"Needs": strings.Join(parts, " · ")})
}
