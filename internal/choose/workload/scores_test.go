package workload

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// submission is a line of the export with one scene.
func submission(device, backend, scene string, perMinute float64) string {
	return `{"id": "x", "schema_version": "v4", "data": [` + scored(device, backend, scene, perMinute) + "]}\n"
}

func scored(device, backend, scene string, perMinute float64) string {
	return fmt.Sprintf(`{"blender_version": {"version": "4.2.1"}, "scene": {"label": %q}, "device_info": {"device_type": %q, "compute_devices": [{"name": %q, "type": %q}]}, "stats": {"samples_per_minute": %g, "time_limit": 30}}`,
		scene, backend, device, backend, perMinute)
}

// plainNames knows devices whose names have no space, and is the chip table of these tests.
func plainNames(device string) (string, bool) { return device, !strings.Contains(device, " ") }

// The median of each device and scene, by the interface that is fastest; what is not one known accelerator is passed over.
func TestScores(t *testing.T) {
	old := `{"schema_version": "v2", "data": {"scenes": [{"name": "bmw27", "stats": {"total_render_time": 50}}]}}` + "\n"
	timed := `{"schema_version": "v3", "data": [{"scene": {"label": "bmw27"}, "device_info": {"compute_devices": [{"name": "A"}]}, "stats": {"total_render_time": 50}}]}` + "\n"
	two := strings.Replace(submission("A", "OPTIX", "monster", 9999), `[{"name": "A", "type": "OPTIX"}]`, `[{"name": "A"}, {"name": "A"}]`, 1)
	devices, line := readScores([]byte("\ufeff"+old+timed+two+
		submission("A", "CUDA", "monster", 500)+submission("A", "OPTIX", "monster", 1000)+"\n"+submission("A", "OPTIX", "monster", 1200)+
		submission("A", "OPTIX", "monster", 5000)+submission("B", "HIP", "junkshop", 700)+submission("some Ryzen", "CPU", "monster", 40)+submission("C", "CPU", "monster", 40)), plainNames)
	if line != 0 || len(devices) != 2 {
		t.Fatalf("line %d, %v", line, devices)
	}
	if got := devices["A"]["monster 4.2"]; got != (Score{1200, 3}) {
		t.Errorf("%+v", got)
	}
	if got := devices["B"]["junkshop 4.2"]; got != (Score{700, 1}) {
		t.Errorf("%+v", got)
	}
}

// What the launcher prints, a result a line and tables mean the same.
func TestScoreForms(t *testing.T) {
	one := scored("A", "OPTIX", "monster", 1000)
	for name, text := range map[string]string{
		"list": "[" + one + ",\n" + scored("A", "OPTIX", "junkshop", 500) + "]", "results": one + "\n" + scored("A", "OPTIX", "junkshop", 500),
		"table": "device_name,scene,blender_version,samples_per_minute\nA,monster,4.2.0,1000\nA,junkshop,4.2.3,500\n",
	} {
		devices, line := readScores([]byte(text), plainNames)
		if line != 0 || devices["A"]["monster 4.2"].PerMinute != 1000 || devices["A"]["junkshop 4.2"].PerMinute != 500 {
			t.Errorf("%s: line %d, %v", name, line, devices)
		}
	}
	devices, line := readScores([]byte("Device Name,Median Score,Number of Benchmarks\nA,1000,37\n"), plainNames)
	if line != 0 || devices["A"][""] != (Score{1000, 37}) {
		t.Errorf("line %d, %v", line, devices)
	}
}

func TestBadScores(t *testing.T) {
	good := submission("A", "OPTIX", "monster", 1000)
	for text, want := range map[string]int{
		good + "{\n": 2, good + `{"data": 7}`: 2, good + `{"other": 1}`: 2, good + `{"data": [{"scene": {"label": ""}}]}`: 2,
		good + submission("A", "OPTIX", "monster", -1): 2, good + submission("A", "OPTIX", "monster", 1e300): 2, "[1]": 1, "[\n{},\n": 3, "[\n{},\n7]": 3, "{": 1, "": 1, "a,b\n1,2\n": 1,
		"device_name,samples_per_minute\nA,1\nA,fast\n": 3, "device_name,samples_per_minute\nA\n": 2,
		"device_name,samples_per_minute\nA,NaN\n": 2, "device_name,samples_per_minute\nA,1e7\n": 2, "device_name,samples_per_minute,runs\nA,1,-1\n": 2,
	} {
		if devices, line := readScores([]byte(text), plainNames); devices != nil || line != want {
			t.Errorf("%q: fault at line %d, want %d", text, line, want)
		}
	}
}

func TestScoreFaults(t *testing.T) {
	const work = "kind: render\nframes: 10\nseconds_per_frame: 5\non: RTX-4090\nblender_results: opendata.jsonl\n"
	w, err := Parse("w.yaml", []byte(work), oneFile, fakeFacts())
	if err != nil || w.Render.Scores.Devices["RTX-4090"]["monster 4.2"].PerMinute != 6000 {
		t.Fatalf("%v %+v", err, w)
	}
	for code, open := range map[string]func(string) ([]byte, error){
		codeScoresFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		codeScoresLine: func(string) ([]byte, error) { return []byte("{\n"), nil },
		codeScoresNone: func(string) ([]byte, error) { return []byte(submission("Abacus", "OPTIX", "monster", 1)), nil },
	} {
		_, err := Parse("w.yaml", []byte(work), open, fakeFacts())
		if list := problem.All(err); len(list) != 1 || list[0].Code != code || list[0].Line != 5 {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// FuzzScores: no input panics; what is read is of named devices, faster than nothing.
func FuzzScores(f *testing.F) {
	f.Add([]byte(submission("A", "OPTIX", "monster", 1000)))
	f.Add([]byte("[" + scored("A", "CUDA", "monster", 1000) + "]"))
	f.Add([]byte("device_name,samples_per_minute,scene,blender_version,runs\nA,1000,monster,4.2,3\n"))
	f.Add([]byte(`{"data": {"scenes": []}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		devices, line := readScores(data, plainNames)
		if line < 0 || line > 0 && devices != nil || line > 2+strings.Count(string(data), "\n") {
			t.Fatalf("line %d, %v", line, devices)
		}
		for device, scenes := range devices {
			for scene, s := range scenes {
				if device == "" || !(s.PerMinute > 0) || s.Runs < 0 {
					t.Errorf("%q %q: %+v", device, scene, s)
				}
			}
		}
	})
}
