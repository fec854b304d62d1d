package gcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
)

// scope lets read prices and nothing else.
const scope = "https://www.googleapis.com/auth/cloud-billing.readonly"

// credentials finds a key in the environment, or the application default credentials where Google's tools keep them: the file
// that GOOGLE_APPLICATION_CREDENTIALS names, or that `gcloud auth application-default login` wrote. A machine's own account on
// Google Cloud is not asked for.
func credentials(c feed.Config, w feed.World) (login, error) {
	if k := w.Env("GOOGLE_API_KEY"); k != "" {
		return apiKey(k), nil
	}
	project := w.Env("GOOGLE_CLOUD_QUOTA_PROJECT")
	if path := w.Env(variable); path != "" {
		text, err := w.Read(path)
		if err != nil {
			return nil, c.Bad(variable, path, "a readable file")
		}
		return account(c, variable, path, text, project)
	}
	folder := w.Env("CLOUDSDK_CONFIG")
	switch {
	case folder != "":
	case w.Env("APPDATA") != "":
		folder = filepath.Join(w.Env("APPDATA"), "gcloud")
	case w.Home != "":
		folder = filepath.Join(w.Home, ".config", "gcloud")
	default: // the working directory is nobody's home
		return nil, feed.NoCredentials(c.Name, "GOOGLE_API_KEY", variable)
	}
	path := filepath.Join(folder, "application_default_credentials.json")
	text, err := w.Read(path)
	if err != nil {
		return nil, feed.NoCredentials(c.Name, "GOOGLE_API_KEY", variable)
	}
	return account(c, "gcloud auth application-default", path, text, project)
}

// variable names a credentials file.
const variable = "GOOGLE_APPLICATION_CREDENTIALS"

type apiKey string

// header carries the key apart from the address, which may be printed.
func (k apiKey) header(context.Context, *fetch.Client) (http.Header, error) {
	return http.Header{"X-Goog-Api-Key": {string(k)}}, nil
}

// file is a credentials file: that of a service account, or of a user who logged in.
type file struct {
	Type         string `json:"type"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
	TokenURI     string `json:"token_uri"`
	QuotaProject string `json:"quota_project_id"`
}

type tokens struct {
	source  func(context.Context) oauth2.TokenSource
	project string
}

// account reads a credentials file that something names. Kinds that run a program or ask another service for a token are refused.
func account(c feed.Config, from, path string, text []byte, project string) (login, error) {
	var f file
	bad := func() error {
		return c.Bad(from, path, `{"type": "service_account" | "authorized_user", …}`)
	}
	if json.Unmarshal(text, &f) != nil { // the error may quote the file
		return nil, bad()
	}
	t := tokens{project: project}
	if t.project == "" {
		t.project = f.QuotaProject
	}
	switch f.Type {
	case "service_account":
		conf, err := google.JWTConfigFromJSON(text, scope)
		if err != nil {
			return nil, bad()
		}
		t.source = conf.TokenSource
	case "authorized_user":
		conf := oauth2.Config{ClientID: f.ClientID, ClientSecret: f.ClientSecret, Endpoint: google.Endpoint}
		if conf.Endpoint.AuthStyle = oauth2.AuthStyleInParams; f.TokenURI != "" {
			conf.Endpoint.TokenURL = f.TokenURI
		}
		t.source = func(ctx context.Context) oauth2.TokenSource {
			return conf.TokenSource(ctx, &oauth2.Token{RefreshToken: f.RefreshToken})
		}
	default:
		return nil, bad()
	}
	return t, nil
}

// header asks for a token, which lives for an hour: longer than a reading.
func (t tokens) header(ctx context.Context, client *fetch.Client) (http.Header, error) {
	through := &transport{ctx: ctx, client: client}
	token, err := t.source(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: through})).Token()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case through.failed != nil:
		return nil, through.failed
	case err != nil: // it may quote the answer
		return nil, problem.New(problem.Internal, "feed.no_token", problem.Args{"Source": vendor})
	}
	h := http.Header{"Authorization": {"Bearer " + token.AccessToken}}
	if t.project != "" {
		h.Set("X-Goog-User-Project", t.project)
	}
	return h, nil
}

// transport lets the library for tokens ask servers as everything else here does.
type transport struct {
	ctx    context.Context // the library's requests for service accounts carry none
	client *fetch.Client
	failed error // which the library turns into words
}

// maxToken bounds the answer to a request for a token.
const maxToken = 1 << 20

// RoundTrip makes one request. An answer that is no success is an error.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		_ = req.Body.Close() // of a form in memory
	}
	body, err := t.client.Get(t.ctx, fetch.Request{
		Method: req.Method, URL: req.URL.String(), Header: req.Header, Body: sent, Secret: true, MaxBytes: maxToken,
	})
	if err != nil {
		t.failed = err
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: req,
	}, nil
}
