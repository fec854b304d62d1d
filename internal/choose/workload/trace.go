package workload

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/packed"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// Trace is recorded requests: when they came and how long they were.
type Trace struct {
	Path string // as written
	// Requests are in order of arrival, the first at 0, on the trace's own clock. Mean tokens that the user states beside a
	// trace are met by scaling those of each request; a stated rate is that of the trace's peak, served by more replicas.
	Requests []Arrival
}

// Arrival is one request of a trace.
type Arrival struct {
	Seconds                   float64
	InputTokens, OutputTokens int // at least 1
}

const (
	// peakWindow is the seconds over which the rate of a trace's peak is the mean: long enough for hundreds of requests,
	// and shorter than it takes to add a machine.
	peakWindow = 300
	// minTrace is the fewest requests that show a pattern.
	minTrace = 100
)

// Peak is the mean rate, requests a second, of the busiest five minutes, or of the whole trace where it is shorter.
func (t *Trace) Peak() float64 {
	if t.short() {
		return t.Mean()
	}
	return float64(len(t.Busiest())) / peakWindow
}

// Busiest is the requests of the busiest five minutes, or all of a shorter trace.
func (t *Trace) Busiest() []Arrival {
	if t.short() {
		return t.Requests
	}
	var best []Arrival
	from := 0
	for i, r := range t.Requests {
		for r.Seconds-t.Requests[from].Seconds > peakWindow {
			from++
		}
		if i-from >= len(best) {
			best = t.Requests[from : i+1]
		}
	}
	return best
}

func (t *Trace) short() bool { return t.Requests[len(t.Requests)-1].Seconds <= peakWindow }

// Mean is the mean rate, requests a second, of the whole trace.
func (t *Trace) Mean() float64 {
	last := len(t.Requests) - 1
	return float64(last) / t.Requests[last].Seconds
}

// means are the mean tokens of prompts and answers.
func (t *Trace) means() (in, out float64) {
	for _, r := range t.Requests {
		in, out = in+float64(r.InputTokens), out+float64(r.OutputTokens)
	}
	n := float64(len(t.Requests))
	return in / n, out / n
}

// Longest is the most tokens of a request.
func (t *Trace) Longest() int {
	most := 0
	for _, r := range t.Requests {
		most = max(most, r.InputTokens+r.OutputTokens)
	}
	return most
}

// scale multiplies the tokens of prompts and answers.
func (t *Trace) scale(in, out float64) {
	tokens := func(n int, by float64) int { return max(1, int(math.Round(float64(n)*by))) }
	for i := range t.Requests {
		r := &t.Requests[i]
		r.InputTokens, r.OutputTokens = tokens(r.InputTokens, in), tokens(r.OutputTokens, out)
	}
}

// traceCodec is the path of a trace.
var traceCodec = codec[*Trace]{
	name: "text",
	read: func(r *reader, f *Field, n *yaml.Node) (*Trace, bool) {
		path, ok := r.text(f, n)
		if !ok {
			return nil, false
		}
		if r.open == nil {
			r.fault(n, codeTraceFile, problem.Args{"Key": f.Path, "Path": clip(path), "Detail": ""})
			return nil, false
		}
		data, err := r.open(path)
		if err == nil {
			data, err = packed.Plain(data)
		}
		if err != nil {
			r.fault(n, codeTraceFile, problem.Args{"Key": f.Path, "Path": clip(path), "Detail": reason(err)}).Wrap(err)
			return nil, false
		}
		requests, line := readTrace(data)
		switch {
		case line > 0:
			r.fault(n, codeTraceLine, problem.Args{"Key": f.Path, "Path": clip(path), "Line": line})
		case len(requests) < minTrace || requests[len(requests)-1].Seconds == 0:
			r.fault(n, codeTraceShort, problem.Args{"Key": f.Path, "Path": clip(path), "Count": len(requests), "Limit": minTrace})
		default:
			return &Trace{Path: path, Requests: requests}, true
		}
		return nil, false
	},
	write: func(t *Trace) (any, bool) {
		if t == nil {
			return nil, false
		}
		return t.Path, true
	},
	schema: textSchema,
}

// traceColumns are the columns read, as the Azure traces name them.
var traceColumns = []string{"timestamp", "contexttokens", "generatedtokens"}

// readTrace reads comma-separated lines under a line of names, in any order of columns; no cell that counts has a comma, so that
// quotes need no reading. Where a line is not as wanted its
// number is given, from 1.
func readTrace(data []byte) (requests []Arrival, badLine int) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var at [3]int
	lines := 0
	for text := range strings.SplitSeq(string(data), "\n") {
		lines++
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(text, `"`, ""), ",")
		if requests == nil {
			for i, name := range traceColumns {
				at[i] = slices.IndexFunc(cells, func(c string) bool { return strings.EqualFold(strings.TrimSpace(c), name) })
				if at[i] < 0 {
					return nil, lines
				}
			}
			requests = []Arrival{}
			continue
		}
		if len(cells) <= max(at[0], at[1], at[2]) {
			return nil, lines
		}
		seconds, ok1 := instant(cells[at[0]])
		in, ok2 := tokenCount(cells[at[1]])
		out, ok3 := tokenCount(cells[at[2]])
		if !ok1 || !ok2 || !ok3 {
			return nil, lines
		}
		requests = append(requests, Arrival{seconds, in, out})
	}
	slices.SortStableFunc(requests, func(a, b Arrival) int { return cmp.Compare(a.Seconds, b.Seconds) })
	for i := len(requests) - 1; i >= 0; i-- {
		requests[i].Seconds -= requests[0].Seconds
	}
	return requests, 0
}

// instant is a time as the Azure traces write it, in RFC 3339, or in plain seconds.
func instant(text string) (seconds float64, ok bool) {
	text = strings.TrimSpace(text)
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v, math.Abs(v) < 1e12
	}
	for _, layout := range []string{"2006-01-02 15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return float64(t.Unix()) + float64(t.Nanosecond())*1e-9, true
		}
	}
	return 0, false
}

// tokenCount is a number of tokens; none at all counts as one, as an engine handles it.
func tokenCount(text string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	return max(1, n), err == nil && n >= 0 && n <= 1e8
}

// fromTrace fills in what was left open beside a trace.
func fromTrace(pick func(t *Trace) float64) func(*draft) string {
	return func(d *draft) string {
		if d.traffic.Trace == nil {
			return ""
		}
		return strconv.FormatFloat(pick(d.traffic.Trace), 'g', -1, 64)
	}
}

var (
	tracePeak = fromTrace(func(t *Trace) float64 { return rounded(t.Peak(), 4) })
	traceIn   = fromTrace(func(t *Trace) float64 { in, _ := t.means(); return math.Round(in) })
	traceOut  = fromTrace(func(t *Trace) float64 { _, out := t.means(); return math.Round(out) })
)

// rounded keeps so many digits.
func rounded(v float64, digits int) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return v
}

// fitTrace scales a trace to the lengths that the user states beside it.
func (r *reader) fitTrace() {
	d := &r.draft.traffic
	if d.Trace == nil {
		return
	}
	in, out := 1.0, 1.0
	meanIn, meanOut := d.Trace.means()
	if r.read("traffic.input_tokens") {
		in = float64(d.InputTokens) / meanIn
	}
	if r.read("traffic.output_tokens") {
		out = float64(d.OutputTokens) / meanOut
	}
	d.Trace.scale(in, out)
}
