package intake

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// isOwn says whether a header is that of our own files of prices, a file a provider.
func (f *file) isOwn() bool { return strings.Join(f.names, ",") == catalog.PriceColumns }

// own reads our own form: a row is one price of a machine that is known already, or the statement that it is listed. The sources it
// names count where they are known, else the row's source is that of the reading.
func (f *file) own() (func([][]byte), error) {
	if err := f.whose(); err != nil {
		return nil, err
	}
	_, cites := f.to.(citing)
	sets := map[string][]catalog.Flag{"": nil}
	return func(cells [][]byte) {
		get := func(i int) string { return f.intern(cells[i]) }
		l := Listing{Provider: f.owner, Region: get(0), Zone: get(1), InstanceType: get(2)}
		if get(3) == "" && get(4) == "" {
			f.add(l)
			return
		}
		currency := money.Currency(get(5))
		p := catalog.Price{Mode: catalog.BillingMode(get(3)), AsOf: get(6), Confidence: catalog.Confidence(get(8))}
		var err error
		if p.Hourly, err = money.ParseRate(string(cells[4]), currency); err != nil {
			f.bad("hourly", string(cells[4]), "price")
		}
		if !p.Mode.Known() {
			f.bad("mode", get(3), "mode")
		}
		if !isCurrency(currency) {
			f.bad("currency", get(5), "currency")
		}
		if !isDay(p.AsOf) {
			f.bad("as_of", p.AsOf, "date")
		}
		if !slices.Contains(confidences, p.Confidence) {
			f.bad("confidence", get(8), "confidence")
		}
		if cites {
			p.Source = get(7)
		}
		flags, ok := sets[get(9)]
		if !ok {
			for flag := range strings.SplitSeq(get(9), ";") {
				flags = append(flags, catalog.Flag(flag))
				if !slices.Contains(catalog.Flags(), catalog.Flag(flag)) {
					f.bad("flags", flag, "flag")
				}
			}
			if f.fault == nil {
				sets[get(9)] = flags
			}
		}
		p.Flags = flags
		l.Prices = []catalog.Price{p}
		f.add(l)
	}, nil
}

var confidences = []catalog.Confidence{catalog.Listed, catalog.Secondary, catalog.Quoted, catalog.Agreed}
