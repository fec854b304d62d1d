// Package config holds the few settings that are not about one workload, and where each came from.
//
// Invariants: a flag beats RACKRATE_* beats rackrate.yaml here beats the user's file beats the default; every value
// knows its origin; nothing unknown in a file is ignored. The package reads files and the environment only through
// the functions it is given. Imported by front only.
package config

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/front/say"
)

// Key is the name of a setting in a file; RACKRATE_ and the name in capitals in the environment; the name with
// dashes as a flag.
type Key string

// The settings.
const (
	Lang        Key = "lang"          // en or zh
	Currency    Key = "currency"      // what amounts are shown in
	Output      Key = "output"        // table, wide, json, csv, md
	Top         Key = "top"           // rows shown
	Color       Key = "color"         // auto, always, never
	MaxPriceAge Key = "max_price_age" // days; 0 is open
	FX          Key = "fx"            // a CSV of the user's own exchange rates
	DB          Key = "db"            // where the store is: sqlite:PATH or postgres://…; empty: a file in the user's data
	Feeds       Key = "feeds"         // a file that says which sources of prices are read, and how
	Source      Key = "source"        // the sources of prices that count; empty: all
	AsOf        Key = "as_of"         // the day on which prices are looked at; empty: today
)

// Keys lists every setting in the order it is shown.
func Keys() []Key {
	return []Key{Lang, Currency, Output, Top, Color, MaxPriceAge, FX, DB, Feeds, Source, AsOf}
}

// Env is the environment variable of a setting.
func (k Key) Env() string { return "RACKRATE_" + strings.ToUpper(string(k)) }

// Flag is the flag of a setting, without its dashes.
func (k Key) Flag() string { return strings.ReplaceAll(string(k), "_", "-") }

var defaults = map[Key]string{
	Lang: "en", Currency: "USD", Output: "table", Top: "10", Color: "auto", MaxPriceAge: "0", FX: "",
	DB: "", Feeds: "", Source: "", AsOf: "",
}

// Default is a setting's value where nobody gives one.
func (k Key) Default() string { return defaults[k] }

// Layer is where a value came from.
type Layer string

// The layers, strongest first.
const (
	FromFlag    Layer = "flag"
	FromEnv     Layer = "env"
	FromHere    Layer = "here"   // ./rackrate.yaml
	FromUser    Layer = "user"   // the user's own file
	FromSystem  Layer = "system" // LC_ALL, LC_MESSAGES, LANG
	FromDefault Layer = "default"
)

// Origin says exactly where a value came from.
type Origin struct {
	Layer Layer
	// Name is the flag, the variable or the file; empty for a default.
	Name string
	Line int // in a file
}

// Value is a setting with its origin.
type Value struct {
	Text   string
	Origin Origin
}

// Config is every setting.
type Config struct{ values map[Key]Value }

// Get gives a setting.
func (c Config) Get(k Key) Value { return c.values[k] }

// Text gives a setting's text.
func (c Config) Text(k Key) string { return c.values[k].Text }

// Shown gives a setting's text as people may see it: the password of a database is starred.
func (c Config) Shown(k Key) string { return hidden(k, c.values[k].Text) }

var password = regexp.MustCompile(`(://[^/@:]*):[^/@]*@`)

func hidden(k Key, text string) string {
	if k == DB {
		return password.ReplaceAllString(text, "$1:***@")
	}
	return text
}

// Int gives a setting that is a number; it was checked when it was set.
func (c Config) Int(k Key) int {
	n, err := strconv.Atoi(c.values[k].Text)
	if err != nil {
		return 0
	}
	return n
}

// check says whether a text is a value of a setting, and gives its canonical form.
func check(k Key, text string) (string, *problem.Error) {
	wrong := func(suggest ...string) *problem.Error {
		return problem.New(problem.Input, "settings.bad_value", problem.Args{"Key": string(k), "Value": hidden(k, text), "Want": wants[k]}).With(suggest...)
	}
	switch k {
	case Lang:
		if l, ok := say.ParseLang(text); ok {
			return string(l), nil
		}
		return "", wrong()
	case Currency:
		if c := strings.ToUpper(text); len(c) == 3 && strings.Trim(c, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			return c, nil
		}
		return "", wrong()
	case Top, MaxPriceAge:
		n, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
		if err != nil || n < 0 || n > 1e6 {
			return "", wrong()
		}
		return strconv.Itoa(n), nil
	case Output, Color:
		if t := strings.ToLower(text); slices.Contains(choices[k], t) {
			return t, nil
		}
		return "", wrong(problem.Nearest(text, choices[k], 2)...)
	case AsOf:
		if _, err := time.Parse(time.DateOnly, text); text != "" && err != nil {
			return "", wrong()
		}
	case DB:
		if scheme, rest, ok := strings.Cut(text, ":"); text != "" && (!ok || rest == "" || !slices.Contains(choices[k], scheme)) {
			return "", wrong()
		}
	}
	return text, nil
}

var choices = map[Key][]string{
	Output: {"table", "wide", "json", "csv", "md"},
	Color:  {"auto", "always", "never"},
	DB:     {"sqlite", "postgres", "postgresql"},
}

// wants says what a value must be, in the notation of the field rather than in a language.
var wants = map[Key]string{
	Lang: "en | zh", Currency: "USD, CNY, EUR …", Output: "table | wide | json | csv | md", Top: "0, 1, 2 …",
	Color: "auto | always | never", MaxPriceAge: "0, 1, 2 … (d)", FX: "rates.csv",
	DB: "sqlite:PATH | postgres://USER@HOST/NAME", Feeds: "sources.yaml", Source: "aws,azure …", AsOf: "2026-05-20",
}

// List gives a setting that is a list of names between commas.
func (c Config) List(k Key) []string {
	return strings.FieldsFunc(c.Text(k), func(r rune) bool { return r == ',' || r == ' ' })
}

// Money is the currency that amounts are shown in.
func (c Config) Money() money.Currency { return money.Currency(c.Text(Currency)) }

// Language is the language that is spoken.
func (c Config) Language() say.Lang {
	l, _ := say.ParseLang(c.Text(Lang))
	return l
}

// Override gives the settings with flags laid over them. Faults leave the setting as it was.
func (c Config) Override(flags map[Key]string) (Config, error) {
	out := Config{values: maps.Clone(c.values)}
	var faults problem.List
	for _, k := range Keys() {
		if text, given := flags[k]; given {
			faults = append(faults, out.set(k, text, Origin{Layer: FromFlag, Name: "--" + k.Flag()})...)
		}
	}
	return out, faults.OrNil()
}
