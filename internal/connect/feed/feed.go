// Package feed brings prices in from the vendors' own interfaces, from public catalogs and from a team's contracts.
//
// Invariants: a source that fails keeps what it said last; nothing is published before it was checked whole; a part that
// failed (a region) keeps its last rows and says so; credentials are read from where the vendor's own tools keep them, go
// only to the host they belong to, and are never stored or logged. Each vendor has a folder of its own beneath, which
// implements Source and passes feedtest. Imported by front/app only.
package feed

import (
	"context"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Source is one place that prices come from.
//
// Fetch reads all of it and hands each row to the sink as it goes, in any order. It must return promptly when ctx ends, must
// not keep goroutines running after it returns, may be called again, and gives the same rows for the same answers. It
// returns an error only where nothing it read can stand (the credentials are refused, the first page is no answer of the
// vendor's); what fails in part goes to Sink.Lost. Temporary failures (429, 5xx, time-outs, truncated answers) have been
// retried by World.HTTP before Fetch sees them. Errors are problems with codes feed.*; they never hold a secret.
type Source interface {
	Fetch(ctx context.Context, to Sink) error
}

// Sink takes what a source says. Its methods may be called from several goroutines.
type Sink interface {
	// Add takes one row.
	Add(intake.Listing)
	// Reject takes a row that the source itself cannot read.
	Reject(intake.Rejection)
	// Pass counts rows that are no offers of accelerators, where a source has millions of them and their places help nobody.
	Pass(n int)
	// Covers says that the source has read everything there is of a provider's region in these ways of paying: what it did
	// not add is no longer offered. An empty region is all regions of the provider.
	Covers(provider, region string, modes ...catalog.BillingMode)
	// Lost says that a part could not be read, so that its last good rows are kept; an empty region is all of them.
	Lost(provider, region string, why error)
	// Term takes one line of a contract; of several that fit a price the last one counts.
	Term(catalog.Term)
	// Band takes how often spot machines of a type are interrupted in a region.
	Band(provider.Band)
	// Progress says how far the reading is, in whatever counts best for the source; total is 0 where it is not known yet.
	Progress(done, total int64)
}

// Config is what a user sets of one source; the zero value reads the vendor's own interface with the defaults.
type Config struct {
	Name string // the user's name for the source; that of its kind where there is only one
	Kind string // the folder that reads it: aws, azure, skypilot, contract …
	// Endpoint replaces the vendor's own address, Endpoints further ones by the names the kind documents.
	Endpoint  string
	Endpoints map[string]string
	Regions   []string // none: all
	Providers []string // of a source with several; none: all
	Currency  money.Currency
	Path      string            // of a file or folder, for kinds that read one; relative to the file of the settings
	Options   map[string]string // what only one kind knows, documented there
	Off       bool              // never read, not even where it needs no credentials
	// Line is where in File the source is set; 0 where it is not.
	File string
	Line int
}

// World is what a source may touch.
type World struct {
	HTTP  *fetch.Client
	Env   func(name string) string
	Home  string // the user's home directory; empty where there is none
	Read  func(path string) ([]byte, error)
	List  func(folder string) ([]string, error) // the names of the files in a folder and its folders, relative to it, with slashes
	Now   func() time.Time
	Chips *accelerator.Table
	// Known is the machines that are known already: they say which types of a vendor have accelerators, where its price
	// list does not.
	Known *catalog.Catalog
}

// Maker makes the source of one kind. Its error lists every fault of the settings, as problems at Config.File and Line;
// feed.no_credentials {Source, Names} where there are none, which is no fault unless the user named the source.
type Maker struct {
	Kind string
	// Keyless sources are read when no source is named; others are when their credentials are there.
	Keyless bool
	// Layer is what its rows rank as.
	Layer catalog.Layer
	// Title is the name of what is read, for the list of sources and the provenance of its rows, Reference where it is unless the
	// user set another place. Of a file that the user set it is the file that tells both.
	Title, Reference, Licence string
	New                       func(Config, World) (Source, error)
}

// NoCredentials is the problem of a source whose credentials are nowhere to be found; names are where they may stand.
func NoCredentials(source string, names ...string) error {
	return problem.New(problem.Input, CodeNoCredentials, problem.Args{"Source": source, "Names": names})
}

// CodeNoCredentials is the code of NoCredentials.
const CodeNoCredentials = "feed.no_credentials"
