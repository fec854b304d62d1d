package intake

import (
	"path"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// family says which chip a provider's family of machines carries where its lists name the chip loosely or not at all.
type family struct {
	provider, types string // a pattern of instance types, as of path.Match
	chip            *accelerator.Accelerator
	flag            catalog.Flag // empty where the vendor documents it or its own names tell
}

const familyColumns = "provider,types,accelerator,flag,source,as_of"

// families is data/instance_families.csv in its order: the first that fits counts.
var families = sync.OnceValue(func() []family {
	list, err := readFamilies("instance_families.csv", accelerator.Embedded())
	if err != nil {
		panic(err) // the embedded file is checked by this package's tests
	}
	return list
})

func readFamilies(name string, chips *accelerator.Table) ([]family, error) {
	text, err := data.FS.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var list []family
	var faults problem.List
	bad := func(line int, column, value, want string) {
		faults = append(faults, problem.New(problem.Internal, "data.bad_row", problem.Args{"Column": column, "Value": value, "Want": want}).At(name, line))
	}
	line := 0
	for row := range strings.Lines(string(text)) {
		line++
		row = strings.TrimSuffix(row, "\n")
		if line == 1 {
			if row != familyColumns {
				bad(1, "header", row, familyColumns)
			}
			continue
		}
		cells := strings.Split(row, ",")
		if len(cells) != strings.Count(familyColumns, ",")+1 {
			bad(line, "", row, familyColumns)
			continue
		}
		chip, ok := chips.Get(cells[2])
		if !ok {
			bad(line, "accelerator", cells[2], "accelerator")
		}
		if _, err := path.Match(cells[1], ""); err != nil || cells[0] == "" || cells[1] == "" {
			bad(line, "types", cells[1], "p5.*")
		}
		flag := catalog.Flag(cells[3])
		if flag != "" && flag != catalog.FormFactorAssumed && flag != catalog.AcceleratorInferred {
			bad(line, "flag", cells[3], "flag")
		}
		if cells[4] == "" || len(cells[5]) != len("2026-01-31") {
			bad(line, "source", cells[4], "text")
		}
		list = append(list, family{cells[0], cells[1], chip, flag})
	}
	return list, faults.OrNil()
}

// Family is the chip that a provider's family of machines carries, and what is assumed by saying so; false where no family fits
// or it does not agree with what the list says.
func Family(provider, instanceType string, ev catalog.Evidence) (chip *accelerator.Accelerator, flags []catalog.Flag, ok bool) {
	for _, f := range families() {
		if f.provider != provider || !f.agrees(instanceType, ev) {
			continue
		}
		if fits, err := path.Match(f.types, instanceType); !fits || err != nil {
			continue
		}
		if f.flag != "" {
			flags = []catalog.Flag{f.flag}
		}
		return f.chip, flags, true
	}
	return nil, nil, false
}

// agrees keeps a family from overriding a list that names another chip, as MI300X on ND96is.
func (f *family) agrees(instanceType string, ev catalog.Evidence) bool {
	if ev.Name == "" {
		return true
	}
	name, _, _ := strings.Cut(f.chip.Name, "-")
	switch {
	case strings.Contains(instanceType, "80gb_sxm4") && f.chip.Name == "A100-SXM-40GB":
		return false
	case name == "RTX" || strings.HasPrefix(name, "Inferentia") || strings.HasPrefix(name, "Trainium"):
		return true
	}
	return strings.Contains(strings.ToUpper(ev.Name), name) || f.flag == catalog.AcceleratorInferred
}
