package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/model"
)

const smallConfig = `{"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":128,"vocab_size":512}`

func appAt(t *testing.T, env map[string]string) *App {
	t.Helper()
	out := Real(strings.NewReader(smallConfig), &bytes.Buffer{}, &bytes.Buffer{})
	out.Env = func(name string) string { return env[name] }
	a, err := New(out, "")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return problem.All(err)[0].Code
}

// Of several who add a model of one name at once, one does, and the file is whole.
func TestModelsAreAddedOnce(t *testing.T) {
	env := map[string]string{"RACKRATE_DATA": filepath.Join(t.TempDir(), "a", "b")}
	var wg sync.WaitGroup
	codes := make([]string, 8)
	for i := range codes {
		a := appAt(t, env)
		wg.Go(func() {
			_, err := a.AddModel(t.Context(), AddRequest{From: "-", Name: "small"})
			codes[i] = codeOf(err)
		})
	}
	wg.Wait()
	added := 0
	for _, code := range codes {
		switch code {
		case "":
			added++
		case "model.name_taken":
		default:
			t.Errorf("refused with %s", code)
		}
	}
	a := appAt(t, env)
	k, err := a.ShowModel("small")
	if added != 1 || err != nil || !k.Own || a.ModelFaults() != nil {
		t.Errorf("added %d times; %+v %v", added, k, err)
	}
	files, err := os.ReadDir(filepath.Dir(k.File))
	if err != nil || len(files) != 1 {
		t.Errorf("left behind: %v %v", files, err)
	}
}

// What was added is known at once, and what was removed is not.
func TestModelsAreReadAnew(t *testing.T) {
	a := appAt(t, map[string]string{"RACKRATE_DATA": t.TempDir()})
	if _, err := a.Model("small"); codeOf(err) != "model.unknown" {
		t.Error(err)
	}
	if _, err := a.AddModel(t.Context(), AddRequest{From: "-", Name: "small"}); err != nil {
		t.Fatal(err)
	}
	if m, err := a.WorkloadFacts().Model("small"); err != nil || m.Hidden != 64 {
		t.Errorf("%+v %v", m, err)
	}
	if _, err := a.RemoveModel("small"); err != nil {
		t.Error(err)
	}
	if _, err := a.Model("small"); codeOf(err) != "model.unknown" {
		t.Error(err)
	}
}

// Without a place to keep models there are those that ship with the program, and adding one says so.
func TestModelsWithoutADataFolder(t *testing.T) {
	a := appAt(t, nil)
	if got := len(a.Models().All()); got != len(model.Embedded().All()) || a.ModelFaults() != nil {
		t.Errorf("%d models, %v", got, a.ModelFaults())
	}
	if _, err := a.AddModel(t.Context(), AddRequest{From: "-", Name: "small"}); codeOf(err) != "app.no_data_dir" {
		t.Error(err)
	}
}
