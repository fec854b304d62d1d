package catalog

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Evidence is what a feed says about the chips of a machine.
type Evidence struct {
	Name string // the accelerator as the feed names it
	// Texts are other strings that may state the form factor: instance type, device name, the owner's own id.
	Texts []string
	MiB   float64 // memory figure, of one chip or, in some feeds, of all; 0 where there is none
	Count float64
}

// Identity is the chip that the evidence points to.
type Identity struct {
	Chip  *accelerator.Accelerator
	Flags []Flag // what had to be assumed
	// WholeNode says that the memory figure is that of all chips together, or a multiple of it.
	WholeNode bool
	// Mismatch says that no chip of that name has the stated memory; Chip is then the nearest by name.
	Mismatch bool
}

// Identify finds the chip by name, then memory, then form factor. Where the form factor is not stated it takes the
// one without the fast links between chips, so that an estimate errs on the slow side, and says so; false where the
// name is not known.
func Identify(chips *accelerator.Table, ev Evidence) (Identity, bool) {
	base, named := baseName(ev.Name)
	found := chips.Resolve(base)
	if len(found) == 0 {
		found = chips.Resolve(ev.Name)
	}
	if chip, ok := chips.Get(ev.Name); ok {
		found = []*accelerator.Accelerator{chip} // named as we do
	}
	if len(found) == 0 {
		return Identity{}, false
	}
	id := Identity{Chip: found[0]}
	mib := ev.MiB
	if mib == 0 {
		mib = named * 1024
	}
	fit := found
	if mib > 0 {
		fit, id.WholeNode = fitMemory(found, mib, ev.Count)
		if len(fit) == 0 {
			id.Mismatch = true
			return id, true
		}
	}
	if mib == 0 {
		all := len(fit)
		if fit = leastMemory(fit); len(fit) < all {
			id.Flags = append(id.Flags, AcceleratorInferred)
		}
	}
	if len(fit) == 1 {
		id.Chip = fit[0]
		return id, true
	}
	text := strings.ToUpper(ev.Name + " " + strings.Join(ev.Texts, " "))
	if chip := statedForm(fit, text); chip != nil {
		id.Chip = chip
		return id, true
	}
	id.Chip = slowestForm(fit)
	id.Flags = append(id.Flags, FormFactorAssumed)
	return id, true
}

// leastMemory keeps the chips of the smallest size; an unknown size is never that.
func leastMemory(chips []*accelerator.Accelerator) []*accelerator.Accelerator {
	size := func(c *accelerator.Accelerator) float64 { return c.NominalGB.Or(math.Inf(1)) }
	least := math.Inf(1)
	for _, c := range chips {
		least = min(least, size(c))
	}
	return slices.DeleteFunc(slices.Clone(chips), func(c *accelerator.Accelerator) bool { return size(c) > least })
}

// memorySlack covers makers' GB against GiB and the share that the driver and ECC keep: 15,360 of 16,384 MiB on a T4 are 6.25 % less.
const memorySlack = 0.07

// fitMemory keeps the chips whose memory is the stated figure, or that figure over the count, or over its square.
func fitMemory(chips []*accelerator.Accelerator, mib, count float64) (fit []*accelerator.Accelerator, wholeNode bool) {
	for i, divisor := range []float64{1, count, count * count} {
		if divisor <= 0 || i > 0 && divisor <= 1 {
			continue
		}
		for _, c := range chips {
			if gb, ok := c.NominalGB.Get(); ok && math.Abs(mib/divisor/1024-gb) <= gb*memorySlack {
				fit = append(fit, c)
			}
		}
		if len(fit) > 0 {
			return nearestMemory(fit, mib/divisor/1024), i > 0
		}
	}
	return nil, false
}

// nearestMemory drops sizes within the slack that another size fits better: 94 and 96 GB are two chips.
func nearestMemory(chips []*accelerator.Accelerator, gb float64) []*accelerator.Accelerator {
	off := func(c *accelerator.Accelerator) float64 { return math.Abs(c.NominalGB.Or(0) - gb) }
	best := off(chips[0])
	for _, c := range chips {
		best = min(best, off(c))
	}
	return slices.DeleteFunc(chips, func(c *accelerator.Accelerator) bool { return off(c) > best+1e-9 })
}

var (
	formNVL  = regexp.MustCompile(`NVL(\b|_|\d)`)
	formSXM  = regexp.MustCompile(`SXM|HGX|H100.80GB.HBM3|\.\d+S\.\d+V`) // nvidia-smi prints HBM3 for SXM only; Verda writes 80S
	formPCIe = regexp.MustCompile(`PCI|N3-[AH]100X\d`)                   // Hyperstack writes SXM5 where it is not PCIe
	formSrv  = regexp.MustCompile(`6000-?_?S\b|SERVER|BSE`)
	formWork = regexp.MustCompile(`-WK|_WK|-WS\b|_WS\b|WORKSTATION`)
)

// statedForm reads the form factor from the text. NVLink is not one: sellers write it of bridged cards, whose hosts
// are those of their plain cards. NVL on a chip that has no NVL part of that memory means bridged cards too.
func statedForm(chips []*accelerator.Accelerator, text string) *accelerator.Accelerator {
	switch {
	case formSrv.MatchString(text):
		if c := pickForm(chips, "SERVER"); c != nil {
			return c
		}
	case formWork.MatchString(text):
		if c := pickForm(chips, "WORKSTATION"); c != nil {
			return c
		}
	}
	switch {
	case formNVL.MatchString(text):
		if c := pickForm(chips, "NVL"); c != nil {
			return c
		}
		return pickForm(chips, "PCIE")
	case formPCIe.MatchString(text):
		return pickForm(chips, "PCIE")
	case formSXM.MatchString(text):
		return pickForm(chips, "SXM")
	}
	return nil
}

func pickForm(chips []*accelerator.Accelerator, form string) *accelerator.Accelerator {
	for _, c := range chips {
		if strings.Contains(strings.ToUpper(c.Name), "-"+form) {
			return c
		}
	}
	return nil
}

// slowestForm prefers the part without a switch, then the least memory bandwidth, then the name.
func slowestForm(chips []*accelerator.Accelerator) *accelerator.Accelerator {
	for _, form := range []string{"PCIE", "NVL", "SERVER"} {
		if c := pickForm(chips, form); c != nil {
			return c
		}
	}
	return slices.MinFunc(chips, func(a, b *accelerator.Accelerator) int {
		// A chip of unknown bandwidth counts as the slowest.
		return cmp.Or(cmp.Compare(a.Bandwidth.Or(0), b.Bandwidth.Or(0)), strings.Compare(a.Name, b.Name))
	})
}

var (
	nameSplit = regexp.MustCompile(`[^A-Za-z0-9]+`)
	noise     = regexp.MustCompile(`(?i)^(nvidia|geforce|tesla|pcie?|sxm\d?|nvl|nvlink|baremetal|high|low|perf|ram|hbm\d?e?|hgx|secure|community)$`)
	memWord   = regexp.MustCompile(`(?i)^(\d+)gb?$`)
)

// baseName strips maker, form factor and memory from a feed's name and gives the memory in GB, 0 where it has none.
func baseName(name string) (string, float64) {
	var keep []string
	gb := 0.0
	for _, w := range nameSplit.Split(name, -1) {
		if m := memWord.FindStringSubmatch(w); m != nil {
			gb, _ = strconv.ParseFloat(m[1], 64)
			continue
		}
		if w != "" && !noise.MatchString(w) {
			keep = append(keep, w)
		}
	}
	return strings.Join(keep, "-"), gb
}
