package spot

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// csv reads rows of time and figure.
func (r *reader) csv(raw []byte) {
	rows := csv.NewReader(bytes.NewReader(raw))
	rows.FieldsPerRecord, rows.ReuseRecord = -1, true
	head, err := rows.Read()
	if err != nil {
		r.notCSV(err)
		return
	}
	column := map[string]int{}
	for i, name := range head {
		column[strings.ToLower(strings.TrimSpace(name))] = i
	}
	when, hasTime := column["time"]
	what, hasFigure := column[r.column]
	currency, hasCurrency := column["currency"]
	if !hasTime || !hasFigure {
		r.fault(1, "spot.header", problem.Args{"Got": strings.Join(head, ","), "Want": "time," + r.column})
		return
	}
	g := grid{reader: r}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.notCSV(err)
			return
		}
		line, _ := rows.FieldPos(0)
		cell := func(i int) string {
			if i >= len(row) {
				return ""
			}
			return strings.TrimSpace(row[i])
		}
		g.tick(cell(when), line)
		r.value(cell(what), func() (string, int) { return r.column, line })
		if hasCurrency {
			r.money(cell(currency), line)
		}
	}
	g.check()
}

func (r *reader) notCSV(err error) {
	line := 1
	if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
		line, err = bad.StartLine, bad.Err
	}
	r.fault(line, "spot.not_csv", problem.Args{"Error": err.Error()})
}

// grid is the times of the rows, in seconds, with the line of each.
type grid struct {
	*reader
	seconds []float64
	lines   []int
	texts   []string
	dated   bool // by a calendar, from 1970
}

// tick takes the time of a row: seconds, or ISO 8601 with its zone.
func (g *grid) tick(text string, line int) {
	seconds, err := number(text)
	if err == nil && math.Abs(seconds) > 1e11 { // the year 5138
		g.fault(line, "spot.bad_time", problem.Args{"Value": text})
		return
	}
	if err != nil {
		when, err := time.Parse(time.RFC3339Nano, strings.Replace(text, " ", "T", 1))
		if err != nil {
			g.fault(line, "spot.bad_time", problem.Args{"Value": text})
			return
		}
		seconds, g.dated = float64(when.Unix())+float64(when.Nanosecond())/1e9, true
	}
	g.seconds, g.lines, g.texts = append(g.seconds, seconds), append(g.lines, line), append(g.texts, text)
}

// check finds the length of a tick, which most rows keep, and what does not keep to it.
func (g *grid) check() {
	if len(g.at) == 0 {
		g.fault(1, "spot.no_data", nil)
		return
	}
	if len(g.seconds) < 2 {
		if len(g.faults) == 0 {
			g.fault(g.lines[0], "spot.one_tick", nil)
		}
		return
	}
	steps := make([]float64, len(g.seconds)-1)
	for i := range steps {
		steps[i] = g.seconds[i+1] - g.seconds[i]
	}
	sorted := slices.Sorted(slices.Values(steps))
	usual := sorted[len(sorted)/2]
	regular := true
	for i, step := range steps {
		args := problem.Args{"From": g.texts[i], "To": g.texts[i+1], "Gap": unit.FromSeconds(usual)}
		line := g.lines[i+1]
		switch off := step - usual; {
		case step < 0:
			g.fault(line, "spot.unsorted", args)
		case step == 0:
			g.fault(line, "spot.twice", args)
		case off > tickJitter*usual:
			args["Count"] = int(math.Round(step/usual)) - 1
			g.fault(line, "spot.hole", args)
		case off < -tickJitter*usual:
			g.fault(line, "spot.uneven", args)
		default:
			continue
		}
		regular = false
	}
	if regular {
		usual = (g.seconds[len(steps)] - g.seconds[0]) / float64(len(steps))
		g.spacing(usual, unit.Sig3(usual), g.lines[0])
	}
	if g.dated {
		g.since = unit.Some(int64(math.Floor(g.seconds[0])))
	}
}
