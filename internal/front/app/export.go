package app

import (
	"errors"
	"io/fs"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// ExportRequest says where to write what can be rented.
type ExportRequest struct {
	Path string
	Over bool // replaces a file that is there
}

// ExportCatalog writes every offer that the settings look at, contracts included, as one archive that catalog import reads, and
// says how many there are.
func (a *App) ExportCatalog(q ExportRequest) (offers int, err error) {
	c, err := a.Catalog()
	if err != nil {
		return 0, err
	}
	files, err := (&catalog.Snapshot{Source: "export", Layer: catalog.Copy, AsOf: a.Today, Machines: c.Machines, Rows: c.Rows(), Sources: c.Sources}).Files()
	if err != nil {
		return 0, err
	}
	packed, _, err := catalog.Archive(files)
	if err != nil {
		return 0, err
	}
	switch err := a.Files.Create(q.Path, packed, q.Over); {
	case errors.Is(err, fs.ErrExist):
		return 0, problem.New(problem.Input, "cli.exists_already", problem.Args{"Path": q.Path})
	case err != nil:
		return 0, problem.New(problem.Internal, "cli.cannot_write", problem.Args{"Error": reason(err)}).Wrap(err)
	}
	return len(c.Offers), nil
}
