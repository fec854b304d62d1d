package cli

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/front/app"
)

// A person is asked before anything leaves the machine, a program is not; only yes is yes.
func TestModelOfAHubIsOffered(t *testing.T) {
	asked := 0
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if strings.HasPrefix(r.URL.Path, "/api/") {
			_, _ = io.WriteString(w, `{"id":"Acme/Tiny"}`)
			return
		}
		_, _ = io.WriteString(w, `{"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":128,"vocab_size":512}`)
	}))
	defer hub.Close()
	for _, c := range []struct {
		name, answer string
		interactive  bool
		args         []string
		code, asked  int
	}{
		{"yes", "y\n", true, []string{"size", "--model", "hf:Acme/Tiny"}, 0, 2},
		{"yes, of a workload", "yes\n", true, []string{"size", "--kind", "train", "--model", "hf:Acme/Tiny", "--tokens", "1M"}, 0, 2},
		{"no", "n\n", true, []string{"size", "--model", "hf:Acme/Tiny"}, 2, 0},
		{"other faults, too", "y\n", true, []string{"plan", "--kind", "serve", "--model", "hf:Acme/Tiny"}, 2, 0},
		{"nothing", "", true, []string{"size", "--model", "hf:Acme/Tiny"}, 2, 0},
		{"something else", "what?\n", true, []string{"size", "--model", "hf:Acme/Tiny"}, 2, 0},
		{"a program", "y\n", false, []string{"size", "--model", "hf:Acme/Tiny"}, 2, 0},
		{"of no hub", "y\n", true, []string{"size", "--model", "Acme/Tiny"}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked = 0
			var out, errs bytes.Buffer
			outside := app.Real(strings.NewReader(c.answer), &out, &errs)
			outside.Interactive = c.interactive
			env := map[string]string{"HF_ENDPOINT": hub.URL, "RACKRATE_DATA": filepath.Join(t.TempDir(), "data"), "RACKRATE_TODAY": "2026-12-01", "HF_TOKEN_PATH": "/nowhere"}
			outside.Env = func(name string) string { return env[name] }
			if code := run(t.Context(), c.args, outside); code != c.code || asked != c.asked {
				t.Errorf("exit code %d after asking the hub %d times, want %d after %d\n%s%s", code, asked, c.code, c.asked, out.String(), errs.String())
			}
			question := strings.Contains(errs.String(), "[y/N]")
			if want := c.interactive && c.name != "of no hub" && c.name != "other faults, too"; question != want {
				t.Errorf("asked a question: %v, want %v\n%s", question, want, errs.String())
			}
			if told := strings.Contains(errs.String(), "rackrate model add hf:Acme/Tiny"); told != (c.code != 0) {
				t.Errorf("said how to bring it in: %v\n%s", told, errs.String())
			}
		})
	}
}
