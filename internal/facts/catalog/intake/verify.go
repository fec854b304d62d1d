package intake

import (
	"cmp"
	"io"
	"slices"

	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// FileSource is the source id of rows that a file under check brings.
const FileSource = "file"

// Verify checks a file of prices: what each row says, and the rows against each other. It gives how many rows were read and what is
// wrong or doubtful with them, by line; that a machine has no accelerators is neither.
func Verify(name string, r io.Reader, today string, o ReadOptions) (rows int, faults []catalog.Fault, err error) {
	in := New(Options{Source: catalog.Source{ID: FileSource}, AsOf: today, Confidence: catalog.Secondary, Chips: chipsOf(o), Known: o.Known})
	if err := Read(name, r, in, o); err != nil {
		return 0, nil, err
	}
	got := in.Result()
	for _, x := range got.Rejections {
		if x.Kind != NoAccelerator {
			k := faultOf(x.Kind)
			faults = append(faults, catalog.Fault{
				Kind: k, Severity: k.Severity(), Provider: x.Provider, InstanceType: x.InstanceType, Region: x.Region, Line: x.At.Line, Args: x.Args,
			})
		}
	}
	faults = append(faults, got.Faults...)
	for _, f := range catalog.Verify(catalog.New(got.Machines, got.Rows, got.Sources), today) {
		if f.Kind == catalog.LooseTopology || f.Kind == catalog.Stale { // the others were told with their lines
			faults = append(faults, f)
		}
	}
	slices.SortStableFunc(faults, func(a, b catalog.Fault) int { return cmp.Compare(a.Line, b.Line) })
	return got.Tally.Read, faults, nil
}

// faultOf is the catalog's kind of fault for a reason to reject a row: what cannot be told has no identity.
func faultOf(k Kind) catalog.FaultKind {
	if k == UnknownChip || k == UnknownMachine {
		return catalog.BadIdentity
	}
	return catalog.FaultKind(k)
}
