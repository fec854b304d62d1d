package intake

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// naming finds providers by what files call them.
type naming struct {
	table *provider.Table
	seen  map[string]string
}

// find gives the id of a provider by id, name or alias; false where the table has none of that name.
func (n *naming) find(name string) (string, bool) {
	if n.table == nil || name == "" {
		return "", false
	}
	p, ok := n.table.Named(name)
	if !ok {
		return "", false
	}
	return p.ID, true
}

// id is the provider that a cell names, one that the table does not know by its own name; empty where that is none a list can hold.
// What follows a provider's name after a space is a region: "gcp us-central1".
func (n *naming) id(cell string) (id, region string) {
	if id, ok := n.seen[cell]; ok && id != "" {
		return id, ""
	}
	if n.seen == nil {
		n.seen = map[string]string{}
	}
	if id, ok := n.find(cell); ok {
		n.seen[cell] = id
		return id, ""
	}
	if first, rest, ok := strings.Cut(cell, " "); ok {
		if id, ok := n.find(first); ok {
			return id, strings.TrimSpace(rest)
		}
	}
	n.seen[cell] = plainID(cell)
	return n.seen[cell], ""
}

// plainID is a name in the form of an id, or empty where it is none.
func plainID(name string) string {
	name = strings.ToLower(name)
	if name == "" || name[0] == '.' || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
		return ""
	}
	return name
}

// everyone names files that say nothing of whose prices they are.
var everyone = []string{"vms", "prices", "price", "pricing", "catalog", "offers", "instances", "data", "list"}

// of tells the provider of a whole file: as stated, else as its folder is called (lambda/vms.csv), else as the file itself is
// (lambda.csv, aws_gpu.csv), known ones first; empty where neither is a name a provider can have.
func (n *naming) of(stated, file string) string {
	if stated != "" {
		if id, ok := n.find(stated); ok {
			return id
		}
		return plainID(stated)
	}
	file = strings.ReplaceAll(file, `\`, "/")
	folder := path.Base(path.Dir(file))
	base, _, _ := strings.Cut(path.Base(file), ".")
	first, _, _ := strings.Cut(base, "_")
	for _, name := range []string{folder, base, first} {
		if id, ok := n.find(name); ok {
			return id
		}
	}
	if slices.Contains(everyone, strings.ToLower(base)) {
		return plainID(strings.Trim(folder, "."))
	}
	return cmp.Or(plainID(base), plainID(first))
}

// regions are those that are known of a provider.
func (n *naming) regions(id string) []provider.Region {
	if n.table == nil {
		return nil
	}
	return n.table.Regions(id)
}

// whose tells whose prices a file that does not say so holds.
func (f *file) whose() error {
	f.providers = naming{table: f.o.Providers}
	if f.owner = f.providers.of(f.o.Provider, f.file); f.owner != "" {
		return nil
	}
	return problem.New(problem.Input, "intake.no_provider", nil).At(f.file, 0)
}
