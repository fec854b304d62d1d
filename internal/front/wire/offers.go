package wire

import (
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// The schemas of the offers commands.
const (
	OffersSchema = "rackrate.offers/v1"
	OfferSchema  = "rackrate.offer/v1"
)

// OfferList is the answer of offers list and offers similar. Machines is the fold of Offers by machine; Offers is
// listed only where the flat form is asked for.
type OfferList struct {
	Schema    string         `json:"schema"`
	AsOf      string         `json:"as_of"`
	Currency  string         `json:"currency"`
	Total     int            `json:"total"`
	Matched   int            `json:"matched"`
	Selectors []Selector     `json:"selectors,omitempty"`
	Removed   []Removed      `json:"removed"`
	Like      *string        `json:"like,omitempty"`
	Machines  []OfferMachine `json:"machines"`
	Offers    []OfferPrice   `json:"offers,omitempty"`
}

// Selector is a GPU as written and the chips it means.
type Selector struct {
	Text  string   `json:"text"`
	Chips []string `json:"chips"`
}

// Removed says how many offers of the catalog fail a filter, and how many fail no other.
type Removed struct {
	Filter  string      `json:"filter"`
	Count   int         `json:"count"`
	Only    int         `json:"only"`
	Nearest *OfferPrice `json:"nearest"`
}

// OfferMachine is a machine with the number of offers there are of it and the cheapest for each way of paying.
type OfferMachine struct {
	Provider     string                `json:"provider"`
	InstanceType string                `json:"instance_type"`
	Accelerator  string                `json:"accelerator"`
	Accelerators float64               `json:"accelerators_per_instance"`
	MemoryGB     *float64              `json:"accelerator_memory_gb"`
	Offers       int                   `json:"offers"`
	Regions      int                   `json:"regions"`
	Cheapest     map[string]OfferPrice `json:"cheapest"`
	Machine      Machine               `json:"machine"`
}

// OfferPrice is one way of paying for one machine in one place; billing and price are null where no price is known.
type OfferPrice struct {
	Provider     string   `json:"provider"`
	InstanceType string   `json:"instance_type"`
	Accelerator  string   `json:"accelerator"`
	Accelerators float64  `json:"accelerators_per_instance"`
	Region       string   `json:"region"`
	Zone         *string  `json:"zone"`
	Billing      *string  `json:"billing"`
	Price        *Price   `json:"price"`
	PerGPU       *Money   `json:"hourly_per_accelerator"`
	AgeDays      *float64 `json:"age_days"`
	// Quality lists every reason to doubt the row: those of its machine, those of its price, and that it is stale.
	Quality []string `json:"quality"`
}

// OfferDetail is the answer of offers show.
type OfferDetail struct {
	Schema       string       `json:"schema"`
	AsOf         string       `json:"as_of"`
	Currency     string       `json:"currency"`
	Provider     string       `json:"provider"`
	InstanceType string       `json:"instance_type"`
	Accelerators float64      `json:"accelerators_per_instance"`
	Chip         Chip         `json:"chip"`
	Machine      Machine      `json:"machine"`
	Offers       []OfferPrice `json:"offers"`
	Sources      []Source     `json:"sources"`
}

// Source is where a figure came from.
type Source struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Reference string `json:"reference"`
	Date      string `json:"date"`
	Licence   string `json:"licence"`
}

// SourceOf gives the JSON of a source.
func SourceOf(s catalog.Source) Source { return Source(s) }

// MemoryGBOf is the nominal memory of a chip.
func MemoryGBOf(a *accelerator.Accelerator) *float64 { return known(a.NominalGB) }

// VerifySchema names the contract of catalog verify.
const VerifySchema = "rackrate.verify/v1"

// Verified is the answer of catalog verify.
type Verified struct {
	Schema string         `json:"schema"`
	Errors int            `json:"errors"`
	Flags  int            `json:"flags"`
	Kinds  []VerifiedKind `json:"kinds"`
	Files  []VerifiedFile `json:"files"`
}

// VerifiedKind counts the findings of one kind.
type VerifiedKind struct {
	Kind     string `json:"kind"`
	Severity string `json:"severity"`
	Count    int    `json:"count"`
	Message  string `json:"message"`
}

// VerifiedFile is the findings in one file; the name is empty for the catalog that ships with the program.
type VerifiedFile struct {
	File   string          `json:"file"`
	Faults []catalog.Fault `json:"faults"`
}

// VersionSchema names the contract of version.
const VersionSchema = "rackrate.version/v1"

// Version says what a binary is.
type Version struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Time     string `json:"time"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// SettingsSchema names the contract of config show.
const SettingsSchema = "rackrate.config/v1"

// Settings is the answer of config show.
type Settings struct {
	Schema   string    `json:"schema"`
	Settings []Setting `json:"settings"`
}

// Setting is one setting with its origin.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Layer string `json:"layer"`
	From  string `json:"from"`
	Line  int    `json:"line"`
}
