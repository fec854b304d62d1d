package intake

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// quirk is what is peculiar about a provider's rows in public files.
type quirk struct {
	currency money.Currency // where the file names none and it is not US dollars; flagged as assumed
	machine  []catalog.Flag
	price    []catalog.Flag
	hosts    []string       // patterns of types that are sold only with accelerators, which their row does not price
	fix      func(*Listing) // undoes what is wrong or odd in a row
}

var (
	everywhere = []catalog.Flag{catalog.AvailabilityUnknown} // the file lists every type in every region
	broker     = []catalog.Flag{catalog.Aggregated}
	market     = []catalog.Flag{catalog.Marketplace}
)

// quirks by provider; what public files of these providers were seen to hold.
var quirks = map[string]quirk{
	"gcp":            {hosts: []string{"a2-*", "a3-*", "a4-*", "a4x-*", "g2-*", "g4-*", "*-tpu"}, fix: fixTPU},
	"ibm":            {fix: fixIBM},
	"lambda":         {machine: everywhere},
	"lium":           {machine: market},
	"mithril":        {price: []catalog.Flag{catalog.AuctionFloor}, fix: fixMithril},
	"oci":            {machine: everywhere, fix: fixOCI},
	"primeintellect": {machine: broker, fix: fixPrimeIntellect},
	"seeweb":         {currency: money.EUR}, // an Italian vendor, no currency stated
	"spheron":        {machine: broker},
	"vast":           {machine: []catalog.Flag{catalog.Marketplace, catalog.HostDoubtful}, fix: fixVast},
}

// vastName is the device in 2x-RTX_4070S_Ti-32-65536; the accelerator column shortens it to RTX4070.
var vastName = regexp.MustCompile(`^\d+x-(.+)-\d+-\d+$`)

// fixVast takes the device from the instance type, and the country from "Michigan, US, NA": states come and go with single machines.
// The memory is that of the node. Host figures are the search bounds that the file was made with.
func fixVast(l *Listing) {
	l.MiB /= max(1, l.Count)
	if m := vastName.FindStringSubmatch(l.InstanceType); m != nil {
		l.Accelerator = strings.ReplaceAll(m[1], "_", "-")
	}
	if strings.Contains(l.InstanceType, "A100_") && l.MiB < 50_000 { // the file gives both sizes one name
		l.InstanceType = strings.Replace(l.InstanceType, "-32-", "_40GB-32-", 1)
	}
	if parts := strings.Split(l.Region, ", "); len(parts) == 3 {
		l.Region = parts[1]
	}
}

// fixIBM takes a missing region from the zone, which is the region and a number.
func fixIBM(l *Listing) {
	if i := strings.LastIndexByte(l.Zone, '-'); l.Region == "" && i > 0 {
		l.Region = l.Zone[:i]
	}
}

// fixMithril keeps the one price as the auction's floor; the file has it as list price too.
func fixMithril(l *Listing) {
	l.Prices = slices.DeleteFunc(l.Prices, func(p catalog.Price) bool { return p.Mode == catalog.OnDemand })
}

// fixOCI reads off the name of a shape whether it is a whole server.
func fixOCI(l *Listing) { l.BareMetal = unit.Some(strings.HasPrefix(l.InstanceType, "BM.")) }

// fixPrimeIntellect joins spot rows, which have types of their own, to their machines, divides the memory, which is multiplied by
// the count, and sets right the country of Lambda's me-west-1, which is in Israel and not in Iceland.
func fixPrimeIntellect(l *Listing) {
	l.MiB /= max(1, l.Count)
	l.InstanceType = strings.TrimSuffix(l.InstanceType, "__SPOT")
	if l.Zone == "me-west-1" && l.Region == "IS" {
		l.Region = "IL"
	}
}

// noTPUPrice is what the list of Google's machines in SkyPilot's format has for a slice of any size whose price it does not know.
var noTPUPrice = money.PerHour(700e9, money.USD)

// fixTPU makes a machine of a slice of a TPU: its accelerator row is the whole price, because the host of a TPU virtual machine is not
// charged apart. In tpu-v5p-8 the number counts cores up to v4 and for v5p, two a chip; for v5e and later it counts chips.
func fixTPU(l *Listing) {
	slice, ok := strings.CutPrefix(l.Accelerator, "tpu-")
	if !ok || l.InstanceType != "" && l.InstanceType != "TPU-VM" {
		return
	}
	generation, size, _ := strings.Cut(slice, "-")
	n, err := strconv.ParseFloat(size, 64)
	if err != nil || !(n > 0 && n < 1<<20) {
		return
	}
	switch generation {
	case "v2", "v3", "v4", "v5p":
		n /= 2
	}
	l.InstanceType, l.Count, l.Network = l.Accelerator, n, catalog.ICINet
	l.Accelerator = "tpu-" + strings.Replace(generation, "v5litepod", "v5e", 1)
	l.Hints = nil
	l.Prices = slices.DeleteFunc(l.Prices, func(p catalog.Price) bool { return p.Hourly == noTPUPrice })
}
