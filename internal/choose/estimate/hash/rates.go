package hash

import (
	"bytes"
	"encoding/csv"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// Rate is the published speed of one chip on one algorithm: the median of its runs. An algorithm at the iteration count of
// other releases has a name of its own, 7zip@524288.
//
// The chip is named as in the chip table, yet may be missing there: a rate of a card that nobody rents today is
// true all the same, and is used the day the card is added. Laptop and mining cards, whose limits are their own, are
// left out. Runs of a whole rig count through their median card only.
type Rate struct {
	Accelerator string
	Algorithm   string
	Mode        string // hashcat's number for it
	Iterations  string // the count the rate was taken at; empty where the algorithm has none
	PerSecond   float64
	Runs        int
	Source      string
	AsOf        string
}

const file = "hash_rates.csv"

const header = "accelerator,algorithm,hashcat_mode,iterations,rate,n,source,as_of"

// table is every rate by algorithm.
type table struct {
	algorithms []string
	rates      map[string][]Rate
	names      map[string]string // folded names and modes to algorithms
}

var embedded = sync.OnceValue(func() *table {
	t, err := load(data.FS)
	if err != nil {
		panic(err)
	}
	return t
})

// Known gives the name of an algorithm that a user may have spelled otherwise or named by its hashcat mode.
func Known(text string) (string, bool) { return embedded().find(text) }

func (t *table) find(text string) (string, bool) {
	name, ok := t.names[fold(text)]
	return name, ok
}

// fold makes SHA2-256, sha256 and sha-256 one.
func fold(s string) string {
	s = strings.NewReplacer("-", "", "_", "", " ", "", "/", "").Replace(strings.ToLower(s))
	return strings.Replace(s, "sha2256", "sha256", 1)
}

// aliases are other names in use.
var aliases = map[string]string{
	"sha2512": "sha512", "wpa": "wpa2", "wpapsk": "wpa2", "wpapbkdf2": "wpa2", "pmkid": "wpa2", "kerberoast": "kerberos-tgs",
	"kerberos": "kerberos-tgs", "asreproast": "kerberos-asrep", "7z": "7zip", "rar": "rar5", "ntlmv2": "netntlmv2", "ntlmv1": "netntlmv1",
}

func load(fsys fs.FS) (*table, error) {
	text, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, problem.New(problem.Internal, "data.missing", problem.Args{"File": file}).Wrap(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, problem.New(problem.Internal, "data.bad_file", problem.Args{"File": file}).Wrap(err)
	}
	t := &table{rates: map[string][]Rate{}, names: map[string]string{}}
	var faults problem.List
	bad := func(line int, what string) {
		faults = append(faults, problem.New(problem.Internal, "data.bad_row", problem.Args{"What": what}).At(file, line))
	}
	if len(rows) == 0 || strings.Join(rows[0], ",") != header {
		bad(1, "header")
		return nil, faults
	}
	for i, row := range rows[1:] {
		if what := t.add(row); what != "" {
			bad(i+2, what)
		}
	}
	for from, to := range aliases {
		if _, ok := t.rates[to]; ok {
			t.names[from] = to
		}
	}
	slices.Sort(t.algorithms)
	return t, faults.OrNil()
}

// add reads one row and names the column that is wrong, if any.
func (t *table) add(row []string) string {
	r := Rate{Accelerator: row[0], Algorithm: row[1], Mode: row[2], Iterations: row[3], Source: row[6], AsOf: row[7]}
	var err error
	if r.PerSecond, err = strconv.ParseFloat(row[4], 64); err != nil || !(r.PerSecond > 0) {
		return "rate"
	}
	if r.Runs, err = strconv.Atoi(row[5]); err != nil || r.Runs < 1 {
		return "n"
	}
	have := t.rates[r.Algorithm]
	switch {
	case r.Accelerator == "":
		return "accelerator"
	case r.Algorithm == "" || r.Algorithm != strings.ToLower(r.Algorithm):
		return "algorithm"
	case r.Source == "" || len(r.AsOf) != len("2006-01-02"):
		return "source"
	case len(have) > 0 && (have[0].Mode != r.Mode || have[0].Iterations != r.Iterations):
		return "iterations" // rates at different settings are not comparable
	case slices.ContainsFunc(have, func(o Rate) bool { return o.Accelerator == r.Accelerator }):
		return "accelerator"
	}
	if len(have) == 0 {
		t.algorithms = append(t.algorithms, r.Algorithm)
		t.names[fold(r.Algorithm)] = r.Algorithm
		if _, taken := t.names[r.Mode]; !taken { // a mode alone means the setting listed first, that of today's releases
			t.names[r.Mode] = r.Algorithm
		}
	}
	t.rates[r.Algorithm] = append(have, r)
	return ""
}
