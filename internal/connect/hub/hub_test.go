package hub_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/connect/hub"
	"github.com/rackrate/rackrate/internal/facts/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	token  = "hf_s3cr3t"
	sha    = "0123456789abcdef0123456789abcdef01234567"
	config = `{"model_type":"llama","hidden_size":64}`
	about  = `{"id":"Acme/Tiny","sha":"` + sha + `","gated":false,"cardData":{"license":"apache-2.0"},"safetensors":{"parameters":{"BF16":90,"F32":10},"total":100}}`
)

// asked is one request as a server saw it.
type asked struct{ path, auth string }

// fake answers by path, and remembers what it was asked.
type fake struct {
	*httptest.Server
	mu   sync.Mutex
	seen []asked
}

func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.seen = append(f.seen, asked{r.URL.RequestURI(), r.Header.Get("Authorization") + r.Header.Get("Cookie")})
		f.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func world(t *testing.T, env map[string]string) hub.World {
	t.Helper()
	c := fetch.New(fetch.Options{Attempts: 2, Delay: time.Millisecond, Stall: 50 * time.Millisecond})
	t.Cleanup(c.Close)
	return hub.World{
		HTTP: c, Home: "/home/a", Env: func(name string) string { return env[name] },
		Read: func(path string) ([]byte, error) {
			if text, ok := env["file:"+path]; ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
	}
}

func ref(t *testing.T, text string) model.Ref {
	t.Helper()
	r, err := model.ParseRef(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return problem.All(err)[0].Code
}

// pages answers each path with a text; a status stands before it where it is not 200.
func pages(m map[string]string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		text, ok := m[r.URL.RequestURI()]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		var status int
		if n, _ := fmt.Sscanf(text, "status %d", &status); n == 1 {
			w.WriteHeader(status)
			return
		}
		_, _ = io.WriteString(w, text)
	}
}

func TestHuggingFace(t *testing.T) {
	s := serve(t, pages(map[string]string{
		"/api/models/acme/tiny":                                          about,
		"/acme/tiny/resolve/" + sha + "/config.json":                     config,
		"/api/models/acme/tiny/revision/refs%2Fpr%2F1":                   strings.Replace(about, sha, strings.Repeat("b", 40), 1),
		"/acme/tiny/resolve/" + strings.Repeat("b", 40) + "/config.json": `{"b":1}`,
	}))
	w := world(t, map[string]string{"HF_ENDPOINT": s.URL + "/", "HF_TOKEN": token})
	got, err := hub.Fetch(t.Context(), w, ref(t, "hf:acme/tiny"))
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(s.URL, "http://")
	if n, ok := got.Parameters.Get(); got.Name != "Acme/Tiny" || string(got.Config) != config || got.License != "apache-2.0" ||
		!ok || n != 100 || got.Packed || got.Source != host+"/Acme/Tiny@"+sha[:12]+" config.json" {
		t.Errorf("%+v", got)
	}
	for _, a := range s.seen {
		if a.auth != "" {
			t.Errorf("%s was asked with a token that it did not want", a.path)
		}
	}
	if got, err = hub.Fetch(t.Context(), w, ref(t, "hf:acme/tiny@refs/pr/1")); err != nil || string(got.Config) != `{"b":1}` {
		t.Errorf("at a revision: %+v %v", got, err)
	}
}

// A mirror that serves files only still gives a configuration, at the revision asked for.
func TestMirrorWithoutAPI(t *testing.T) {
	s := serve(t, pages(map[string]string{"/acme/tiny/resolve/main/config.json": config, "/acme/tiny/resolve/v1/config.json": config}))
	w := world(t, map[string]string{"HF_ENDPOINT": s.URL})
	for text, want := range map[string]string{"hf:acme/tiny": "/acme/tiny config.json", "hf:acme/tiny@v1": "/acme/tiny@v1 config.json"} {
		got, err := hub.Fetch(t.Context(), w, ref(t, text))
		if err != nil || !strings.HasSuffix(got.Source, want) || got.Parameters.Known() {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
}

func TestCheckpoints(t *testing.T) {
	for text, want := range map[string]struct {
		n      int64
		packed bool
	}{
		`{"BF16":1000000,"I64":514}`:   {1000000, false}, // positions are no weights
		`{"F8_E4M3":900,"F32":100}`:    {1000, false},
		`{"I32":500,"F16":500}`:        {0, true},
		`{"U8":700,"F8_E4M3":300}`:     {0, true},
		`{"BF16":-5}`:                  {0, false},
		`{"BF16":9000000000000000000}`: {0, false},
		`{}`:                           {0, false},
	} {
		s := serve(t, pages(map[string]string{
			"/api/models/a/b":               `{"safetensors":{"parameters":` + text + `}}`,
			"/a/b/resolve/main/config.json": config,
		}))
		got, err := hub.Fetch(t.Context(), world(t, map[string]string{"HF_ENDPOINT": s.URL}), ref(t, "hf:a/b"))
		if err != nil || got.Parameters.Or(0) != want.n || got.Packed != want.packed {
			t.Errorf("%s: %+v %v, want %+v", text, got, err, want)
		}
	}
}

func TestLicences(t *testing.T) {
	for text, want := range map[string]string{`"mit"`: "mit", `["mit","gpl-3.0"]`: "mit, gpl-3.0", `null`: "", `{"a":1}`: "", "\"a\\u001b[31mb\"": "a[31mb"} {
		s := serve(t, pages(map[string]string{
			"/api/models/a/b": `{"cardData":{"license":` + text + `}}`, "/a/b/resolve/main/config.json": config,
		}))
		got, err := hub.Fetch(t.Context(), world(t, map[string]string{"HF_ENDPOINT": s.URL}), ref(t, "hf:a/b"))
		if err != nil || got.License != want {
			t.Errorf("%s: %+v %v, want %q", text, got, err, want)
		}
	}
}

// What a hub refuses is said as what to do; the token is sent once it was asked for, and stays out of every error.
func TestRefusals(t *testing.T) {
	gated := strings.Replace(about, `"gated":false`, `"gated":"manual"`, 1)
	file := "/acme/tiny/resolve/" + sha + "/config.json"
	for name, c := range map[string]struct {
		pages map[string]string
		env   map[string]string
		want  string
		args  map[string]any
	}{
		"gated, no token": {
			map[string]string{"/api/models/acme/tiny": gated, file: "status 401"}, nil, "hub.gated", map[string]any{"Token": "", "Name": "acme/tiny"},
		},
		"gated, not accepted": {
			map[string]string{"/api/models/acme/tiny": gated, file: "status 403"}, map[string]string{"HF_TOKEN": token}, "hub.gated", map[string]any{"Token": "HF_TOKEN"},
		},
		"private or missing": {map[string]string{"/api/models/acme/tiny": "status 401"}, nil, "hub.denied", map[string]any{"Token": "", "Var": "HF_TOKEN"}},
		"token refused":      {map[string]string{"/api/models/acme/tiny": "status 401"}, map[string]string{"HF_TOKEN": token}, "hub.denied", map[string]any{"Token": "HF_TOKEN"}},
		"missing":            {nil, map[string]string{"HF_TOKEN": token}, "hub.not_found", map[string]any{"Name": "acme/tiny"}},
		"no config.json":     {map[string]string{"/api/models/acme/tiny": about}, nil, "hub.no_config", map[string]any{"Name": "acme/tiny"}},
		"busy":               {map[string]string{"/api/models/acme/tiny": "status 503"}, nil, fetch.CodeBusy, nil},
		"huge":               {map[string]string{"/api/models/acme/tiny": about, file: strings.Repeat(" ", 1<<20+1)}, nil, fetch.CodeTooLarge, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, pages(c.pages))
			env := map[string]string{"HF_ENDPOINT": s.URL}
			maps.Copy(env, c.env)
			_, err := hub.Fetch(t.Context(), world(t, env), ref(t, "hf:acme/tiny"))
			if code(err) != c.want {
				t.Fatalf("%v, want %s", err, c.want)
			}
			for k, v := range c.args {
				if got := problem.All(err)[0].Args[k]; got != v {
					t.Errorf("%s is %v, want %v", k, got, v)
				}
			}
			if strings.Contains(fmt.Sprintf("%v %+v", err, problem.All(err)), token) {
				t.Errorf("the error holds the token: %v", err)
			}
		})
	}
}

func TestGarbageAndTruncation(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			_, _ = io.WriteString(w, "<html>sign in</html>")
			return
		}
		w.Header().Set("Content-Length", "99")
		_, _ = io.WriteString(w, config)
	})
	_, err := hub.Fetch(t.Context(), world(t, map[string]string{"HF_ENDPOINT": s.URL}), ref(t, "hf:a/b"))
	if code(err) != fetch.CodeTruncated {
		t.Errorf("%v, want %s", err, fetch.CodeTruncated)
	}
}

func TestSlowHub(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	w := world(t, map[string]string{"HF_ENDPOINT": s.URL})
	if _, err := hub.Fetch(t.Context(), w, ref(t, "hf:a/b")); code(err) != fetch.CodeStalled {
		t.Errorf("%v, want %s", err, fetch.CodeStalled)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hub.Fetch(ctx, w, ref(t, "hf:a/b")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// A redirect to another host is followed without a token, and with one it is not.
func TestRedirectsToAnotherHost(t *testing.T) {
	cdn := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, config) })
	private := false
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/models/"):
			_, _ = io.WriteString(w, about)
		case private && r.Header.Get("Authorization") == "":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			http.Redirect(w, r, cdn.URL+"/blob?signature=abc", http.StatusTemporaryRedirect)
		}
	})
	w := world(t, map[string]string{"HF_ENDPOINT": s.URL, "HF_TOKEN": token})
	if got, err := hub.Fetch(t.Context(), w, ref(t, "hf:a/b")); err != nil || string(got.Config) != config {
		t.Errorf("%+v %v", got, err)
	}
	if len(cdn.seen) != 1 || cdn.seen[0].auth != "" {
		t.Errorf("the other host saw %+v", cdn.seen)
	}
	private = true
	if _, err := hub.Fetch(t.Context(), w, ref(t, "hf:a/b")); code(err) != fetch.CodeRedirect {
		t.Errorf("%v, want %s", err, fetch.CodeRedirect)
	}
	if len(cdn.seen) != 1 {
		t.Errorf("the other host saw %+v", cdn.seen)
	}
}

func TestHuggingFaceTokens(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"HF_TOKEN":               {map[string]string{"HF_TOKEN": " one\n", "HUGGING_FACE_HUB_TOKEN": "two"}, "Bearer one"},
		"HUGGING_FACE_HUB_TOKEN": {map[string]string{"HUGGING_FACE_HUB_TOKEN": "two"}, "Bearer two"},
		"HF_TOKEN_PATH":          {map[string]string{"HF_TOKEN_PATH": "~/t", "HF_HOME": "/h", "file:/home/a/t": "three\n", "file:/h/token": "no"}, "Bearer three"},
		"HF_HOME":                {map[string]string{"HF_HOME": "/h", "file:/h/token": "four"}, "Bearer four"},
		"XDG_CACHE_HOME":         {map[string]string{"XDG_CACHE_HOME": "/c", "file:/c/huggingface/token": "five"}, "Bearer five"},
		"the usual place":        {map[string]string{"file:/home/a/.cache/huggingface/token": "six"}, "Bearer six"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != c.want {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				_, _ = io.WriteString(w, config)
			})
			c.env["HF_ENDPOINT"] = s.URL
			if _, err := hub.Fetch(t.Context(), world(t, c.env), ref(t, "hf:a/b")); err != nil {
				t.Errorf("%v after %+v", err, s.seen)
			}
		})
	}
}

func TestModelScope(t *testing.T) {
	const path = "/api/v1/models/acme/tiny/repo?FilePath=config.json&Revision="
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("Revision") == "private" && r.Header.Get("Cookie") != "m_session_id=ms-1" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		pages(map[string]string{
			path + "master": config, path + "v1": `{"v":1}`, path + "private": `{"p":1}`,
			path + "gone": `{"Code":10010205001,"Data":null,"Message":"not found","RequestId":"1","Success":false}`,
		})(w, r)
	})
	w := world(t, map[string]string{"MODELSCOPE_ENDPOINT": s.URL, "MODELSCOPE_API_TOKEN": "ms-1", "MODELSCOPE_DOMAIN": "elsewhere.example"})
	host := strings.TrimPrefix(s.URL, "http://")
	for text, want := range map[string][2]string{
		"ms:acme/tiny": {config, host + "/acme/tiny config.json"}, "ms:acme/tiny@v1": {`{"v":1}`, host + "/acme/tiny@v1 config.json"},
		"ms:acme/tiny@private": {`{"p":1}`, host + "/acme/tiny@private config.json"},
	} {
		got, err := hub.Fetch(t.Context(), w, ref(t, text))
		if err != nil || string(got.Config) != want[0] || got.Source != want[1] {
			t.Errorf("%s: %+v %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"ms:acme/tiny@gone", "ms:acme/nothing"} {
		if _, err := hub.Fetch(t.Context(), w, ref(t, text)); code(err) != "hub.not_found" {
			t.Errorf("%s: %v, want hub.not_found", text, err)
		}
	}
	// The domain alone means TLS: nothing answers there in a test, but nothing is asked in the open either.
	w = world(t, map[string]string{"MODELSCOPE_DOMAIN": host})
	if _, err := hub.Fetch(t.Context(), w, ref(t, "ms:acme/tiny")); code(err) != fetch.CodeUnreachable {
		t.Errorf("%v, want %s", err, fetch.CodeUnreachable)
	}
}

func TestEndpointMustBeSecure(t *testing.T) {
	w := world(t, map[string]string{"HF_ENDPOINT": "http://hub.example.com", "MODELSCOPE_ENDPOINT": "ftp://hub.example.com"})
	for text, want := range map[string]string{"hf:a/b": fetch.CodeInsecure, "ms:a/b": fetch.CodeBadURL} {
		if _, err := hub.Fetch(t.Context(), w, ref(t, text)); code(err) != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
