package wire

import (
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// The schemas of the catalog commands.
const (
	CatalogUpdateSchema  = "rackrate.catalog.update/v1"
	CatalogImportSchema  = "rackrate.catalog.import/v1"
	CatalogStatusSchema  = "rackrate.catalog.status/v1"
	CatalogHistorySchema = "rackrate.catalog.history/v1"
	CatalogDiffSchema    = "rackrate.catalog.diff/v1"
)

// CatalogUpdate is the answer of catalog update.
type CatalogUpdate struct {
	Schema  string          `json:"schema"`
	DryRun  bool            `json:"dry_run"`
	Sources []CatalogSource `json:"sources"`
	Skipped []SkippedSource `json:"skipped"`
}

// CatalogImport is the answer of catalog import; the counts are those of all files together, and read = kept + merged + rejected.
type CatalogImport struct {
	Schema     string          `json:"schema"`
	DryRun     bool            `json:"dry_run"`
	Read       int             `json:"read"`
	Kept       int             `json:"kept"`
	Merged     int             `json:"merged"`
	Rejected   int             `json:"rejected"`
	Rejections []Rejections    `json:"rejections"`
	Files      []CatalogSource `json:"files"`
	Skipped    []SkippedSource `json:"skipped"` // files of a folder that hold no prices
}

// CatalogSource is what became of one source or file.
type CatalogSource struct {
	Source       string             `json:"source"`
	File         *string            `json:"file,omitempty"`
	Layer        string             `json:"layer"`
	Outcome      string             `json:"outcome"` // published, unchanged, failed, tried
	AsOf         *string            `json:"as_of"`   // of the snapshot in force
	Seconds      *float64           `json:"seconds"`
	Read         int                `json:"read"`
	Kept         int                `json:"kept"`
	Merged       int                `json:"merged"`
	Rejected     int                `json:"rejected"`
	Offers       int                `json:"offers"`
	Prices       int                `json:"prices"`
	Terms        int                `json:"terms"`    // lines of a contract
	Changes      map[string]int     `json:"changes"`  // by kind: new, gone, dearer, cheaper, requoted, stock
	LeftOut      map[string]int     `json:"left_out"` // rejected rows, but for machines without accelerators, and dropped prices by reason
	Lost         []LostPart         `json:"lost"`
	Unrecognised []UnrecognisedChip `json:"unrecognised"`
	Errors       []Message          `json:"errors"`
}

// Rejections are the rows left out for one reason; At has each row's file and line.
type Rejections struct {
	Kind    string   `json:"kind"`
	Message string   `json:"message"`
	Count   int      `json:"count"`
	At      []string `json:"at"`
}

// LostPart is a part of a source that could not be read; Kept rows of the last good reading stand in.
type LostPart struct {
	Provider string    `json:"provider"`
	Region   *string   `json:"region"`
	Kept     int       `json:"kept"`
	Errors   []Message `json:"errors"`
}

// UnrecognisedChip is a spelling of an accelerator that is in no table.
type UnrecognisedChip struct {
	Text     string `json:"text"`
	Provider string `json:"provider"`
	Count    int    `json:"count"`
	First    string `json:"first"`
}

// SkippedSource is a source that was not read.
type SkippedSource struct {
	Source string    `json:"source"`
	Errors []Message `json:"errors"`
}

// CatalogStatus is the answer of catalog status.
type CatalogStatus struct {
	Schema  string          `json:"schema"`
	AsOf    string          `json:"as_of"`
	Store   string          `json:"store"`
	Exists  bool            `json:"exists"`
	Sources []SourceStatus  `json:"sources"`
	Unread  []SkippedSource `json:"unread"`
	Idle    []Term          `json:"idle_terms"`
	Errors  []Message       `json:"errors"` // why the prices cannot be used as they are
}

// SourceStatus is how fresh one source is. Read and tried are times in RFC 3339.
type SourceStatus struct {
	Source  string   `json:"source"`
	Layer   string   `json:"layer"`
	Offers  int      `json:"offers"`
	Prices  int      `json:"prices"`
	Terms   int      `json:"terms"` // lines of a contract
	AsOf    *string  `json:"as_of"`
	AgeDays *float64 `json:"age_days"`
	Read    *string  `json:"read"`
	Tried   *string  `json:"tried"`
	// Errors are those of the last try, Lost the parts that it could not read.
	Errors []Message  `json:"errors"`
	Lost   []LostPart `json:"lost"`
}

// Term is a line of a contract.
type Term struct {
	Source       string   `json:"source"`
	Provider     string   `json:"provider"`
	InstanceType *string  `json:"instance_type"`
	Accelerator  *string  `json:"accelerator"`
	Region       *string  `json:"region"`
	Billing      []string `json:"billing"`
	OffPercent   *float64 `json:"off_percent"`
	Hourly       *Money   `json:"hourly"`
	From         *string  `json:"from"`
	Until        *string  `json:"until"`
}

// CatalogHistory is the answer of catalog history.
type CatalogHistory struct {
	Schema       string        `json:"schema"`
	AsOf         string        `json:"as_of"`
	Currency     string        `json:"currency"`
	Provider     string        `json:"provider"`
	InstanceType string        `json:"instance_type"`
	Series       []PriceSeries `json:"series"`
}

// PriceSeries is one way of paying in one place as one source said it. A point stands until the next; its prices are null where it
// was no longer offered.
type PriceSeries struct {
	Source  string       `json:"source"`
	Region  string       `json:"region"`
	Zone    *string      `json:"zone"`
	Billing string       `json:"billing"`
	Points  []PricePoint `json:"points"`
}

// PricePoint is a price from a day on.
type PricePoint struct {
	Day    string `json:"day"`
	Quoted *Money `json:"quoted"`
	Hourly *Money `json:"hourly"`
}

// CatalogDiff is the answer of catalog diff.
type CatalogDiff struct {
	Schema  string         `json:"schema"`
	From    string         `json:"from"`
	To      string         `json:"to"`
	Counts  map[string]int `json:"counts"`
	Changes []PriceChange  `json:"changes"`
}

// PriceChange is how one price changed; before or after is null where there was or is none.
type PriceChange struct {
	Kind         string  `json:"kind"`
	Provider     string  `json:"provider"`
	InstanceType string  `json:"instance_type"`
	Region       string  `json:"region"`
	Zone         *string `json:"zone"`
	Billing      string  `json:"billing"`
	Before       *Money  `json:"before"`
	After        *Money  `json:"after"`
	SoldOut      bool    `json:"sold_out"`
}

// TermOf gives the JSON of a line of a contract.
func TermOf(t *catalog.Term) Term {
	out := Term{
		Source: t.Source, Provider: t.Provider, InstanceType: text(t.InstanceType), Accelerator: text(t.Accelerator), Region: text(t.Region),
		Billing: []string{}, From: text(t.From), Until: text(t.Until),
	}
	for _, m := range t.Modes {
		out.Billing = append(out.Billing, string(m))
	}
	if off, ok := t.Off.Get(); ok {
		out.OffPercent = number(100*off, 9)
	} else {
		hourly := rateOf(t.Hourly)
		out.Hourly = &hourly
	}
	return out
}

// ChangeOf gives the JSON of how a price changed.
func ChangeOf(c *catalog.Change) PriceChange {
	out := PriceChange{
		Kind: string(c.Kind()), Provider: c.Provider, InstanceType: c.InstanceType, Region: c.Region, Zone: text(c.Zone),
		Billing: string(c.Mode), SoldOut: c.SoldOut,
	}
	out.Before, out.After = Quote(c.Old), Quote(c.New)
	return out
}

// Quote gives the JSON of an hourly price; null where there is none.
func Quote(r money.Rate) *Money {
	if r.IsZero() {
		return nil
	}
	m := rateOf(r)
	return &m
}

// Moment is a time in RFC 3339, or null where it is not known.
func Moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return text(t.UTC().Format(time.RFC3339))
}
