package gcp_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/feed/gcp"
	"github.com/rackrate/rackrate/internal/connect/fetch"
)

// google answers for tokens and for prices, and keeps what it was asked.
type google struct {
	*httptest.Server
	mu     sync.Mutex
	token  string // the body of the request for one
	header http.Header
	status int
}

func newGoogle(t *testing.T) *google {
	t.Helper()
	g := &google{status: http.StatusOK}
	prices := server(t, skus(), 1000)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if r.URL.Path != "/token" {
			g.header = r.Header.Clone()
			prices(w, r)
			return
		}
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		g.token = r.PostForm.Encode()
		w.WriteHeader(g.status)
		_, _ = fmt.Fprintf(w, `{"access_token":"token-1","token_type":"Bearer","expires_in":3599,"echo":%q}`, g.token)
	}))
	t.Cleanup(g.Close)
	return g
}

func serviceAccount(t *testing.T, tokenURI string) map[string]string {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"type": "service_account", "client_email": "prices@team.iam.gserviceaccount.com", "private_key_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokenURI,
	}
}

func TestApplicationDefaultCredentials(t *testing.T) {
	g := newGoogle(t)
	user := map[string]string{
		"type": "authorized_user", "client_id": "id-1", "client_secret": "hush-1", "refresh_token": "hush-2",
		"token_uri": g.URL + "/token", "quota_project_id": "team-quota",
	}
	standard := filepath.Join("/home/me", ".config", "gcloud", "application_default_credentials.json")
	for _, c := range []struct {
		name, path    string
		file          map[string]string
		env           map[string]string
		sent, project string
	}{
		{"service account", "/keys/prices.json", serviceAccount(t, g.URL+"/token"), map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": "/keys/prices.json"}, "assertion=", ""},
		{"a user who logged in", standard, user, nil, "refresh_token=hush-2", "team-quota"},
		{"another folder", filepath.Join("/conf", "application_default_credentials.json"), user, map[string]string{"CLOUDSDK_CONFIG": "/conf"}, "client_secret=hush-1", "team-quota"},
		{"another project", standard, user, map[string]string{"GOOGLE_CLOUD_QUOTA_PROJECT": "mine"}, "grant_type=refresh_token", "mine"},
	} {
		for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
			g.status = status
			w := feedtest.World(t, c.env, fetch.Options{})
			w.Home = "/home/me"
			w.Read = only(t, c.path, c.file)
			var got feedtest.Sink
			err := feedtest.Open(gcp.Maker, feed.Config{Endpoint: g.URL}, w).Fetch(t.Context(), &got)
			if !strings.Contains(g.token, c.sent) {
				t.Errorf("%s: asked for a token with %s", c.name, g.token)
			}
			if status != http.StatusOK {
				p := problem.All(err)
				if len(p) != 1 || p[0].Code != fetch.CodeStatus {
					t.Errorf("%s: %v", c.name, err)
				}
				for _, secret := range []string{"hush", "assertion", "PRIVATE"} {
					if strings.Contains(fmt.Sprintf("%v %+v", err, p), secret) {
						t.Errorf("%s: the error has a secret: %v", c.name, err)
					}
				}
				continue
			}
			if err != nil || len(got.Lines()) != len(want) {
				t.Errorf("%s: %d prices, %v", c.name, len(got.Lines()), err)
			}
			if a, p := g.header.Get("Authorization"), g.header.Get("X-Goog-User-Project"); a != "Bearer token-1" || p != c.project {
				t.Errorf("%s: asked with %q for project %q", c.name, a, p)
			}
		}
	}
}

// only is a file system of one file.
func only(t *testing.T, path string, file map[string]string) func(string) ([]byte, error) {
	t.Helper()
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(asked string) ([]byte, error) {
		if asked != path {
			return nil, fs.ErrNotExist
		}
		return text, nil
	}
}

func TestCredentialsThatAreRefused(t *testing.T) {
	for name, file := range map[string]map[string]string{
		"one that runs a program": {"type": "external_account", "token_url": "https://sts.example.com", "refresh_token": "hush"},
		"none":                    {"note": "hush"},
		"a broken key":            {"type": "service_account", "private_key": "hush", "client_email": "a"},
	} {
		w := feedtest.World(t, map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": "/key.json"}, fetch.Options{})
		w.Read = only(t, "/key.json", file)
		var got feedtest.Sink
		err := feedtest.Open(gcp.Maker, feed.Config{Endpoint: "http://127.0.0.1:1", File: "sources.yaml", Line: 3}, w).Fetch(t.Context(), &got)
		p := problem.All(err)
		if err == nil || len(got.Listings) > 0 || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
		if name != "a broken key" && (p[0].Code != "feed.bad_setting" || p[0].Line != 3) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := feedtest.World(t, map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": "/gone.json"}, fetch.Options{})
	w.Read = func(string) ([]byte, error) { return nil, errors.New("gone") }
	if _, err := gcp.Maker.New(feed.Config{Name: "gcp"}, w); problem.All(err)[0].Code != "feed.bad_setting" {
		t.Errorf("%v", err)
	}
}

// Without a home there is no file to look for: one in the working directory is somebody else's.
func TestNoHome(t *testing.T) {
	w := feedtest.World(t, nil, fetch.Options{})
	w.Read = func(path string) ([]byte, error) {
		t.Errorf("looked for %s", path)
		return []byte("{}"), nil
	}
	if _, err := gcp.Maker.New(feed.Config{Name: "gcp"}, w); problem.All(err)[0].Code != feed.CodeNoCredentials {
		t.Errorf("%v", err)
	}
}
