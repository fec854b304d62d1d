package app

import (
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"github.com/rackrate/rackrate/internal/front/config"
)

// Chips is every known accelerator.
func (a *App) Chips() *accelerator.Table { return accelerator.Embedded() }

// Exchange is the user's own exchange rates where the settings name a file, else the embedded ones. It is read once, when
// first asked for.
func (a *App) Exchange() (money.Exchange, error) { return a.exchange() }

func (a *App) readExchange() (money.Exchange, error) {
	path := a.Config.Text(config.FX)
	if path == "" {
		return provider.EmbeddedExchange(), nil
	}
	name, data, err := a.ReadInput(path)
	if err != nil {
		return money.Exchange{}, err
	}
	return provider.ParseExchange(name, data)
}

// Currency is what amounts are shown in; it must be one the exchange rates know.
func (a *App) Currency() (money.Currency, error) {
	c := a.Config.Money()
	x, err := a.Exchange()
	if err != nil {
		return "", err
	}
	if x.Knows(c) {
		return c, nil
	}
	var known []string
	for code := range x.PerUSD {
		known = append(known, string(code))
	}
	return "", problem.New(problem.Input, "cli.unknown_currency", problem.Args{"Currency": string(c)}).
		With(problem.Nearest(string(c), known, 2)...)
}

// market is what can be rented and the money it is shown in.
type market struct {
	*catalog.Catalog
	currency money.Currency
	exchange money.Exchange
}

func (a *App) market() (m market, err error) {
	if m.Catalog, err = a.Catalog(); err != nil {
		return m, err
	}
	if m.currency, err = a.Currency(); err != nil {
		return m, err
	}
	m.exchange, err = a.Exchange()
	return m, err
}
