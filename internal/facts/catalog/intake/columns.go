package intake

import (
	"regexp"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// role is what a column of a flat table says.
type role int

const (
	ofProvider role = iota
	ofRegion
	ofZone
	ofMachine
	ofMachineOrChip
	ofChip
	ofCount
	ofLabel // a description that begins with the count where that is a share: "1/6X A10"
	ofChipMiB
	ofChipGiB
	ofCPU
	ofMiB
	ofGiB
	ofGbps
	ofEFA
	ofDisk
	ofBareMetal
	ofConfidential
	ofNote
	ofPrice
	ofCurrency
	ofUnit
	ofMode
	ofDate
	ofSpotDate
	roles
)

// columnNames are the names that columns of flat tables go by, in lower case with underscores; docs/formats/import.md has them for users.
var columnNames = [roles][]string{
	ofProvider: {"provider", "cloud", "vendor"}, ofRegion: {"region", "location"}, ofZone: {"zone", "az", "availability_zone"},
	ofMachine:       {"instance_type", "machine_type", "instance", "machine", "shape", "flavor", "sku"},
	ofMachineOrChip: {"sku_or_gpu"}, ofChip: {"accelerator", "accelerator_name", "gpu", "gpu_name", "gpu_type", "chip"},
	ofCount: {"count", "gpu_count", "accelerator_count", "gpus"}, ofLabel: {"gpu_label", "gpu_label_vantage"},
	ofChipMiB: {"gpu_mem_mib", "gpu_memory_mib"}, ofChipGiB: {"gpu_mem_gib", "gpu_memory_gib", "gpu_mem_gb", "gpu_memory_gb"},
	ofCPU: {"vcpu", "vcpus"}, ofMiB: {"mem_mib", "ram_mib", "memory_mib"}, ofGiB: {"mem_gib", "ram_gib", "memory_gib"},
	ofGbps: {"network_gbps"}, ofEFA: {"efa"}, ofDisk: {"local_nvme_gb", "nvme_gb"}, ofBareMetal: {"bare_metal"}, ofConfidential: {"confidential"},
	ofNote: {"note", "notes"}, ofPrice: {"price", "hourly", "price_per_hour"}, ofCurrency: {"currency"}, ofUnit: {"unit"},
	ofMode: {"mode", "billing", "tier"}, ofDate: {"price_date", "date", "as_of"}, ofSpotDate: {"spot_date"},
}

// priceColumn is a column of prices of one way of paying.
type priceColumn struct {
	at       int
	mode     catalog.BillingMode
	currency money.Currency // empty: that of the row
	day      string         // empty: that of the row
	flag     catalog.Flag
	lesser   bool // counts only where no other column has a price of its mode
}

// modeWords are what ways of paying are called beside their own names.
var modeWords = map[string]catalog.BillingMode{
	"ondemand": catalog.OnDemand, "list": catalog.OnDemand, "spot": catalog.Spot, "preemptible": catalog.Spot,
	"ri1y": catalog.Reserved1Y, "ri3y": catalog.Reserved3Y, "1y-reserved": catalog.Reserved1Y, "3y-reserved": catalog.Reserved3Y,
	"sp1y": catalog.SavingsPlan1Y, "sp3y": catalog.SavingsPlan3Y,
}

// bareColumns are columns of prices that name neither currency nor unit: those of AWS's terms and of its spot prices by zone, of which
// the dearest is what a machine of any zone may cost; the mean is computed from an average saving.
var bareColumns = map[string]priceColumn{
	"ri_1standard_noupfront": {mode: catalog.Reserved1Y}, "ri_1standard_partialupfront": {mode: catalog.Reserved1YPartial},
	"ri_1standard_allupfront": {mode: catalog.Reserved1YAll}, "ri_3standard_noupfront": {mode: catalog.Reserved3Y},
	"ri_3standard_partialupfront": {mode: catalog.Reserved3YPartial}, "ri_3standard_allupfront": {mode: catalog.Reserved3YAll},
	"spot_max": {mode: catalog.Spot, flag: catalog.ZoneMaximum}, "spot_avg": {mode: catalog.Spot, flag: catalog.SpotComputed, lesser: true},
}

// hourlyColumn is on_demand_usd_hour or ri1y_usd_hour_20250528.
var hourlyColumn = regexp.MustCompile(`^([a-z0-9_]+)_([a-z]{3})_hour(?:_(\d{4})_?(\d{2})_?(\d{2}))?$`)

// modeOf reads a way of paying in whatever case and with whatever between its words.
func modeOf(words string) (catalog.BillingMode, bool) {
	words = strings.Map(func(r rune) rune {
		if r == '_' || r == ' ' {
			return '-'
		}
		return r
	}, strings.ToLower(strings.TrimSpace(words)))
	if m := catalog.BillingMode(words); m.Known() {
		return m, true
	}
	m, ok := modeWords[words]
	return m, ok
}

// priceOf reads the name of a column of prices.
func priceOf(name string) (priceColumn, bool) {
	if c, ok := bareColumns[name]; ok {
		return c, true
	}
	m := hourlyColumn.FindStringSubmatch(name)
	if m == nil {
		return priceColumn{}, false
	}
	mode, ok := modeOf(m[1])
	c := priceColumn{mode: mode, currency: money.Currency(strings.ToUpper(m[2]))}
	if m[3] != "" {
		c.day = m[3] + "-" + m[4] + "-" + m[5]
	}
	return c, ok && (c.day == "" || isDay(c.day))
}

// columnName folds a header cell to the form of columnNames.
func columnName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return '_'
		}
		return r
	}, strings.ToLower(s))
}
