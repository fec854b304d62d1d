package workload

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/packed"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// Scores is what a renderer's benchmark gave on devices: samples a minute, the median of its runs.
type Scores struct {
	Path string // as written
	// Devices is by the chip table's name, then by scene and release, as in "monster 4.2"; never empty.
	Devices map[string]map[string]Score
}

// Score is a speed in samples a minute, the median of so many runs.
type Score struct {
	PerMinute float64
	Runs      int
}

// scoresCodec is the path of benchmark results.
var scoresCodec = codec[*Scores]{
	name: "text",
	read: func(r *reader, f *Field, n *yaml.Node) (*Scores, bool) {
		path, ok := r.text(f, n)
		if !ok {
			return nil, false
		}
		if r.open == nil {
			r.fault(n, codeScoresFile, problem.Args{"Key": f.Path, "Path": clip(path), "Detail": ""})
			return nil, false
		}
		data, err := r.open(path)
		if err == nil {
			data, err = packed.Plain(data)
		}
		if err != nil {
			r.fault(n, codeScoresFile, problem.Args{"Key": f.Path, "Path": clip(path), "Detail": reason(err)}).Wrap(err)
			return nil, false
		}
		devices, line := readScores(data, r.chipName)
		switch {
		case line > 0:
			r.fault(n, codeScoresLine, problem.Args{"Key": f.Path, "Path": clip(path), "Line": line})
		case len(devices) == 0:
			r.fault(n, codeScoresNone, problem.Args{"Key": f.Path, "Path": clip(path)})
		default:
			return &Scores{Path: path, Devices: devices}, true
		}
		return nil, false
	},
	write: func(s *Scores) (any, bool) {
		if s == nil {
			return nil, false
		}
		return s.Path, true
	},
	schema: textSchema,
}

// chipName is the chip table's name of a device that a benchmark names; false where it is none or not one.
func (r *reader) chipName(device string) (string, bool) {
	a, err := r.facts.Chip(device)
	if err != nil {
		return "", false
	}
	return a.Name, true
}

// run is one speed of one device on one scene.
type run struct {
	chip, scene, backend string
	perMinute            float64
	runs                 int
}

// scoring collects runs and remembers the names of devices.
type scoring struct {
	find  func(device string) (chip string, ok bool)
	names map[string]string // empty where there is none
	runs  []run
}

// readScores reads results of the Blender benchmark: the export of opendata.blender.org (a JSON object a line, each with the data
// of one submission), what its launcher prints (a JSON list), or a table with the columns device_name and samples_per_minute and,
// where they are known, scene, blender_version and runs. Results of the old launchers, which timed whole frames, of processors, of
// several devices together and of devices that the chip table does not have are passed over. Where a line is not as wanted its
// number is given, from 1.
func readScores(data []byte, find func(string) (string, bool)) (devices map[string]map[string]Score, badLine int) {
	s := &scoring{find: find, names: map[string]string{}}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch first := bytes.TrimLeft(data, " \t\r\n"); {
	case bytes.HasPrefix(first, []byte("[")):
		badLine = s.list(data)
	case bytes.HasPrefix(first, []byte("{")):
		badLine = s.lines(data)
	default:
		badLine = s.table(data)
	}
	if badLine > 0 {
		return nil, badLine
	}
	return s.medians(), 0
}

// result is one scene that the launcher rendered.
type result struct {
	BlenderVersion struct {
		Version string `json:"version"`
	} `json:"blender_version"`
	Scene struct {
		Label string `json:"label"`
	} `json:"scene"`
	DeviceInfo struct {
		DeviceType     string `json:"device_type"`
		ComputeDevices []struct {
			Name string `json:"name"`
		} `json:"compute_devices"`
	} `json:"device_info"`
	Stats *struct {
		SamplesPerMinute float64 `json:"samples_per_minute"`
	} `json:"stats"`
}

// list reads a JSON list of results.
func (s *scoring) list(data []byte) (badLine int) {
	var results []result
	if err := json.Unmarshal(data, &results); err != nil {
		return lineOf(data, err)
	}
	for i := range results {
		if !s.add(&results[i]) {
			return 1
		}
	}
	return 0
}

// lineOf is the line of data that a decoder stopped at.
func lineOf(data []byte, err error) int {
	at := len(data)
	if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
		at = int(bad.Offset)
	}
	if bad := (*json.UnmarshalTypeError)(nil); errors.As(err, &bad) {
		at = int(bad.Offset)
	}
	return 1 + bytes.Count(data[:min(at, len(data))], []byte("\n"))
}

// lines reads a submission, or a result, a line.
func (s *scoring) lines(data []byte) (badLine int) {
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		var entry struct {
			Data json.RawMessage `json:"data"`
			result
		}
		if err := json.Unmarshal(text, &entry); err != nil {
			return line
		}
		switch {
		case entry.Data == nil:
			if !s.add(&entry.result) {
				return line
			}
		case entry.Data[0] == '[':
			var results []result
			if err := json.Unmarshal(entry.Data, &results); err != nil {
				return line
			}
			for i := range results {
				if !s.add(&results[i]) {
					return line
				}
			}
		case entry.Data[0] != '{': // an object is a submission of the first launchers
			return line
		}
	}
	return 0
}

// tooFast is samples a minute that no device does: tens of thousands are the most there are.
const tooFast = 1e7

// plausible says that a figure is samples a minute, none for a device that failed.
func plausible(perMinute float64) bool { return perMinute >= 0 && perMinute < tooFast }

// add takes a result; false where it is none.
func (s *scoring) add(r *result) bool {
	if r.Scene.Label == "" || r.Stats == nil || !plausible(r.Stats.SamplesPerMinute) {
		return false
	}
	if devices := r.DeviceInfo.ComputeDevices; len(devices) == 1 && r.DeviceInfo.DeviceType != "CPU" {
		s.keep(devices[0].Name, r.Scene.Label, r.BlenderVersion.Version, r.DeviceInfo.DeviceType, r.Stats.SamplesPerMinute, 1)
	}
	return true
}

func (s *scoring) keep(device, scene, version, backend string, perMinute float64, runs int) {
	chip, known := s.names[device]
	if !known {
		chip, _ = s.find(device)
		s.names[strings.Clone(device)] = chip
	}
	if chip == "" || perMinute == 0 {
		return
	}
	// Releases of one series differ by corrections only: 4.2.1 is as 4.2.0.
	version, _, _ = strings.Cut(version, " ")
	if parts := strings.Split(version, "."); len(parts) > 2 {
		version = parts[0] + "." + parts[1]
	}
	s.runs = append(s.runs, run{chip, strings.TrimSpace(scene + " " + version), backend, perMinute, runs})
}

// scoreColumns are the columns of a table, each by the names it may have; the first two must be there.
var scoreColumns = [][]string{
	{"device_name", "device name", "device"}, {"samples_per_minute", "median score", "score"}, {"scene"}, {"blender_version", "version"},
	{"runs", "number of benchmarks"},
}

// table reads a CSV table.
func (s *scoring) table(data []byte) (badLine int) {
	in := csv.NewReader(bytes.NewReader(data))
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return 1
	}
	var at [5]int
	for i, names := range scoreColumns {
		at[i] = slices.IndexFunc(head, func(c string) bool { return slices.Contains(names, strings.ToLower(strings.TrimSpace(c))) })
	}
	if at[0] < 0 || at[1] < 0 {
		return 1
	}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return 0
		}
		if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
			return bad.Line
		}
		line, _ := in.FieldPos(0)
		cell := func(i int) string {
			if at[i] < 0 {
				return ""
			}
			return strings.TrimSpace(row[at[i]])
		}
		perMinute, err := strconv.ParseFloat(cell(1), 64)
		runs, wrong := strconv.Atoi(cmp.Or(cell(4), "1"))
		if err != nil || wrong != nil || !plausible(perMinute) || runs < 0 {
			return line
		}
		s.keep(cell(0), cell(2), cell(3), "", perMinute, runs)
	}
}

// medians is the median of each device, scene and release, by the interface to the device that is fastest.
func (s *scoring) medians() map[string]map[string]Score {
	type key struct{ chip, scene, backend string }
	all := map[key][]run{}
	for _, r := range s.runs {
		k := key{r.chip, r.scene, r.backend}
		all[k] = append(all[k], r)
	}
	out := map[string]map[string]Score{}
	for k, runs := range all {
		slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.perMinute, b.perMinute) })
		score := Score{PerMinute: (runs[(len(runs)-1)/2].perMinute + runs[len(runs)/2].perMinute) / 2}
		for _, r := range runs {
			score.Runs += r.runs
		}
		if out[k.chip] == nil {
			out[k.chip] = map[string]Score{}
		}
		if old, ok := out[k.chip][k.scene]; !ok || score.PerMinute > old.PerMinute {
			out[k.chip][k.scene] = score
		}
	}
	return out
}
