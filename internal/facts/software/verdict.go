package software

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Verdict says whether something runs on a chip. Where Known is false nothing backs an answer: warn, do not reject.
type Verdict struct {
	OK    bool // means something only where Known
	Known bool
	// Reason is a message code; empty where OK.
	Reason string
	Args   problem.Args
	Source string // of the row that decided; empty where none did
}

// The reasons of a verdict. The first five reject, the others say what is not known.
const (
	WrongStack     = "software.wrong_stack"      // Name, Stack, Want: it is made for other stacks only
	ChipTooOld     = "software.chip_too_old"     // Name, Chip, Have, Need: compute capability below the least
	WrongChip      = "software.wrong_chip"       // Name, Chip, Have, Want: made for these targets only
	ToolkitTooOld  = "software.toolkit_too_old"  // Name, Chip, Version, Toolkit, Need: its toolkits do not know the chip yet
	ToolkitDropped = "software.toolkit_dropped"  // Name, Chip, Version, Toolkit, Have, Need: its toolkits no longer build for the chip
	NoData         = "software.no_data"          // Name, Chip: nothing is known of the pair
	UnknownTarget  = "software.unknown_target"   // Name, Chip: the chip's stack or target is not known
	UnknownVersion = "software.unknown_version"  // Name, Constraint: no release that is known of matches
	Unconfirmed    = "software.unconfirmed"      // Name, Chip, Constraint: runs in general, not confirmed for these versions
	Unverified     = "software.unverified_limit" // Name, Chip: only an unverified row speaks against it
)

func yes(f *Fact) Verdict { return Verdict{OK: true, Known: true, Source: f.Source} }

// no rejects, unless the row that says so is unverified.
func no(f *Fact, reason string, args problem.Args) Verdict {
	if !f.settles() {
		return Verdict{Reason: Unverified, Args: problem.Args{"Name": args["Name"], "Chip": args["Chip"]}, Source: f.Source}
	}
	return Verdict{Known: true, Reason: reason, Args: args, Source: f.Source}
}

func unknown(reason string, args problem.Args) Verdict { return Verdict{Reason: reason, Args: args} }

// subject is one component asked about on one chip.
type subject struct {
	*Table
	kind Kind
	name string
	chip *accelerator.Accelerator
	cc   Version // the chip's compute capability; zero where it has none
}

func (t *Table) subject(k Kind, name string, a *accelerator.Accelerator) subject {
	s := subject{Table: t, kind: k, name: name, chip: a}
	if a.Stack == "CUDA" {
		s.cc, _ = ParseVersion(a.Compute)
	}
	return s
}

// rows gives the subject's rows with one requirement, of all versions or of those that hold without regard to it.
func (s subject) rows(requirement string) []*Fact { return s.of(s.kind, s.name, requirement) }

// args starts a reason's figures.
func (s subject) args(more problem.Args) problem.Args {
	a := problem.Args{"Name": s.name, "Chip": s.chip.Name}
	for k, v := range more {
		a[k] = v
	}
	return a
}

// stack says whether the subject is made for the chip's software stack.
func (s subject) stack() Verdict {
	if s.chip.Stack == "" {
		return unknown(UnknownTarget, s.args(nil))
	}
	for _, f := range s.rows("stacks") {
		if slices.ContainsFunc(f.list(), func(stack string) bool { return strings.EqualFold(stack, s.chip.Stack) }) {
			return yes(f)
		}
		if closed := s.rows("no_other_stack"); len(closed) > 0 {
			return no(closed[0], WrongStack, s.args(problem.Args{"Stack": s.chip.Stack, "Want": strings.Join(f.list(), ", ")}))
		}
	}
	return unknown(NoData, s.args(nil))
}

// target says whether the chip's compute capability or gfx target is one that the subject runs on at some
// version. Rows of all versions are asked here; a nil answer is that none speaks.
func (s subject) target(v Version) *Verdict {
	for _, f := range s.rows("min_compute_capability") {
		if s.chip.Stack != "CUDA" || !f.Versions.Allows(v) {
			continue
		}
		if s.cc.n == 0 {
			return ptr(unknown(UnknownTarget, s.args(nil)))
		}
		if s.cc.Compare(mustVersion(f.Value)) < 0 {
			return ptr(no(f, ChipTooOld, s.args(problem.Args{"Have": s.chip.Compute, "Need": f.Value})))
		}
		return ptr(yes(f))
	}
	for _, f := range s.rows("only_compute_capability") {
		if s.chip.Stack == "CUDA" {
			return ptr(s.among(f))
		}
	}
	for _, f := range s.rows("gfx") {
		if s.chip.Stack == "ROCm" {
			return ptr(s.among(f))
		}
	}
	return nil
}

// among says whether the chip's target is in a row's list. "gfx11*" is a family.
func (s subject) among(f *Fact) Verdict {
	if s.chip.Compute == "" {
		return unknown(UnknownTarget, s.args(nil))
	}
	for _, target := range f.list() {
		family, star := strings.CutSuffix(target, "*")
		if target == s.chip.Compute || star && strings.HasPrefix(s.chip.Compute, family) {
			return yes(f)
		}
	}
	return no(f, WrongChip, s.args(problem.Args{"Have": s.chip.Compute, "Want": strings.Join(f.list(), ", ")}))
}

// SupportsNeed says whether a chip has what a need asks for: flash-attention, fp8, bf16 …
func (t *Table) SupportsNeed(need string, a *accelerator.Accelerator) Verdict {
	name, err := t.FindNeed(need)
	if err != nil {
		return unknown(NoData, problem.Args{"Name": need, "Chip": a.Name})
	}
	s := t.subject(Need, name, a)
	v := s.stack()
	if !v.OK {
		return v
	}
	if target := s.target(Version{}); target != nil {
		return *target
	}
	return v
}

func ptr[T any](v T) *T { return &v }
