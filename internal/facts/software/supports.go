package software

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Supports says whether some release of a framework that the constraint allows runs on a chip. An empty
// constraint is any release. It is unknown, not refused, where only releases that we know nothing of might.
func (t *Table) Supports(framework, constraint string, a *accelerator.Accelerator) Verdict {
	name, err := t.FindFramework(framework)
	if err != nil {
		return unknown(NoData, problem.Args{"Name": framework, "Chip": a.Name})
	}
	c, err := ParseConstraint(constraint)
	if err != nil {
		return unknown(UnknownVersion, problem.Args{"Name": name, "Constraint": constraint})
	}
	s := t.subject(Framework, name, a)
	runs := s.stack()
	if !runs.OK {
		return runs
	}
	switch a.Stack {
	case "CUDA":
		return s.releases(c, runs, []string{"cuda_wheels", "cuda"}, s.onCUDA)
	case "ROCm":
		return s.releases(c, runs, []string{"rocm_wheels"}, s.onROCm)
	}
	return s.confirm(c, runs)
}

// releases asks about every release known that the constraint allows, from the newest: one that runs is enough,
// one that nothing is known of keeps the question open, and only then does the newest one's reason refuse.
func (s subject) releases(c Constraint, runs Verdict, listed []string, ask func(Version, *Fact) Verdict) Verdict {
	known := map[Version]*Fact{}
	for _, requirement := range listed {
		for _, f := range s.rows(requirement) {
			if v, ok := f.Versions.exact(); ok {
				known[v] = f
			}
		}
	}
	if len(known) == 0 {
		return s.withoutReleases(c, runs)
	}
	var allowed []Version
	for v := range known {
		if c.Allows(v) {
			allowed = append(allowed, v)
		}
	}
	if len(allowed) == 0 {
		return unknown(UnknownVersion, problem.Args{"Name": s.name, "Constraint": c.String()})
	}
	newestFirst(allowed)
	var refused, open *Verdict
	for _, v := range allowed {
		answer := ask(v, known[v])
		switch {
		case answer.OK && answer.Known:
			return answer
		case !answer.Known && open == nil:
			open = &answer
		case answer.Known && refused == nil:
			refused = &answer
		}
	}
	if open != nil {
		return *open
	}
	return *refused
}

// withoutReleases answers for a framework whose releases are not listed: by the rows that state a limit.
func (s subject) withoutReleases(c Constraint, runs Verdict) Verdict {
	// The version that stands for the constraint: the one it names, else the newest there can be.
	v, named := c.exact()
	if !named {
		v = Version{parts: [5]int{999999}, n: 1}
	}
	target := s.target(v)
	if target == nil {
		return s.confirm(c, runs)
	}
	if !target.OK {
		return *target
	}
	for _, f := range s.rows("any_release_up_to") {
		if s.cc.n > 0 && s.cc.Compare(mustVersion(f.Value)) <= 0 {
			return *target
		}
	}
	return s.confirm(c, *target)
}

// confirm passes an answer on that holds in general, and opens it when particular versions are asked for.
func (s subject) confirm(c Constraint, runs Verdict) Verdict {
	if c.Any() {
		return runs
	}
	return unknown(Unconfirmed, s.args(problem.Args{"Constraint": c.String()}))
}

// onCUDA asks about one release by the CUDA toolkits its binaries are built with.
func (s subject) onCUDA(v Version, wheels *Fact) Verdict {
	if s.cc.n == 0 {
		return unknown(UnknownTarget, s.args(nil))
	}
	var last Verdict
	for _, toolkit := range slices.Backward(wheels.list()) { // the newest is last
		answer := s.builtWith(v, toolkit, wheels)
		if answer.OK && answer.Known {
			return answer
		}
		if last.Reason == "" || last.Known && !answer.Known {
			last = answer
		}
	}
	return last
}

// builtWith asks about one release in its binary for one CUDA toolkit.
func (s subject) builtWith(v Version, toolkit string, wheels *Fact) Verdict {
	figures := s.args(problem.Args{"Version": v.String(), "Toolkit": toolkit, "Have": s.chip.Compute})
	if s.chip.MinToolkit != "" && isVersion(s.chip.MinToolkit) && mustVersion(toolkit).Compare(mustVersion(s.chip.MinToolkit)) < 0 {
		if wheels.Requirement == "cuda" {
			// TensorFlow ships intermediate code that newer drivers compile for newer chips: it may run.
			return unknown(Unconfirmed, s.args(problem.Args{"Constraint": "==" + v.String()}))
		}
		figures["Need"] = s.chip.MinToolkit
		return no(wheels, ToolkitTooOld, figures)
	}
	if built := s.at(s.kind, s.name, "built_for_cuda_"+toolkit, v); built != nil {
		if s.machineCode(built) {
			return yes(built)
		}
		figures["Need"] = strings.Join(built.list(), ", ")
		return no(built, ToolkitDropped, figures)
	}
	reach := s.at(Toolkit, "cuda", "compute_capability", mustVersion(toolkit))
	if reach == nil {
		return unknown(NoData, s.args(nil))
	}
	low, high := reach.span()
	switch {
	case s.cc.Compare(low) < 0:
		figures["Need"] = low.String()
		return no(reach, ToolkitDropped, figures)
	case s.cc.Compare(high) > 0:
		figures["Need"] = s.chip.MinToolkit
		return no(reach, ToolkitTooOld, figures)
	case s.cc.Major() < 5:
		// Toolkits built for Kepler longer than the published binaries did; which ones is not known.
		return unknown(Unconfirmed, s.args(problem.Args{"Constraint": "==" + v.String()}))
	}
	return yes(wheels)
}

// machineCode says whether one of a binary's targets runs on the chip: those of its own major number that are
// not newer than it (CUDA's binary compatibility).
func (s subject) machineCode(built *Fact) bool {
	return slices.ContainsFunc(built.list(), func(target string) bool {
		v := mustVersion(target)
		return v.Major() == s.cc.Major() && v.Compare(s.cc) <= 0
	})
}

// onROCm asks about one release by the ROCm versions its binaries are built with.
func (s subject) onROCm(v Version, wheels *Fact) Verdict {
	last := unknown(Unconfirmed, s.args(problem.Args{"Constraint": "==" + v.String()}))
	for _, toolkit := range slices.Backward(wheels.list()) {
		if s.chip.MinToolkit != "" && isVersion(s.chip.MinToolkit) && mustVersion(toolkit).Compare(mustVersion(s.chip.MinToolkit)) < 0 {
			last = no(wheels, ToolkitTooOld, s.args(problem.Args{"Version": v.String(), "Toolkit": toolkit, "Need": s.chip.MinToolkit}))
			continue
		}
		if built := s.at(s.kind, s.name, "built_for_rocm", v); built != nil {
			return s.among(built)
		}
		for _, f := range s.of(Toolkit, "rocm", "gfx") {
			if exact, ok := f.Versions.exact(); ok && exact.within(mustVersion(toolkit)) {
				return s.among(f)
			}
		}
	}
	return last
}
