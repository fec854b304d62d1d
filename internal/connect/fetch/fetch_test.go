package fetch_test

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "s3cr3t-key"

func client(t *testing.T, o fetch.Options) *fetch.Client {
	t.Helper()
	o.Delay = time.Millisecond
	c := fetch.New(o)
	t.Cleanup(c.Close)
	return c
}

func server(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return problem.All(err)[0].Code
}

func TestOnlySecureAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://prices.example.com/a?key=" + key: fetch.CodeInsecure,
		"http://192.168.1.1/":                    fetch.CodeInsecure,
		"ftp://prices.example.com/":              fetch.CodeBadURL,
		"file:///etc/passwd":                     fetch.CodeBadURL,
		"https://me:" + key + "@example.com/":    fetch.CodeBadURL,
		"prices.example.com":                     fetch.CodeBadURL,
		"":                                       fetch.CodeBadURL,
		"http://[::1":                            fetch.CodeBadURL,
		"http://prices.localhost/":               fetch.CodeInsecure, // which a name server may answer for
		"https://me@example.com/?key=" + key:     fetch.CodeBadURL,
		"https://exa mple.com/?key=" + key:       fetch.CodeBadURL,
		"https://me:" + key + "@exa mple.com/":   fetch.CodeBadURL,
		"https://me:" + key + "?@example.com/":   fetch.CodeBadURL,
		"https://" + key + "@me@exa mple.com/#":  fetch.CodeBadURL,
	} {
		_, err := client(t, fetch.Options{}).Get(t.Context(), fetch.Request{URL: address})
		if code(err) != want {
			t.Errorf("%q: %v, want %s", address, err, want)
		}
		if strings.Contains(fmt.Sprint(err), key) {
			t.Errorf("%q: the error holds the key: %v", address, err)
		}
	}
}

func TestWhatMayPassIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		bad   http.HandlerFunc
		tries int32
		want  string // after every attempt failed
	}{
		"503": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 4, fetch.CodeBusy},
		"429": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "0"); w.WriteHeader(429) }, 4, fetch.CodeBusy},
		"429 for an hour": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		}, 1, fetch.CodeBusy},
		"429 for longer than numbers reach": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "9300000000")
			w.WriteHeader(429)
		}, 1, fetch.CodeBusy},
		"503 until a date": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
			w.WriteHeader(503)
		}, 1, fetch.CodeBusy},
		"503 until a date gone by": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "Wed, 01 Jan 2020 00:00:00 GMT")
			w.WriteHeader(503)
		}, 4, fetch.CodeBusy},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			_, _ = io.WriteString(w, "half")
		}, 4, fetch.CodeTruncated},
		"hung up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 4, fetch.CodeUnreachable},
		"404":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 1, fetch.CodeNotFound},
		"401":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, 1, fetch.CodeDenied},
		"400":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) }, 1, fetch.CodeStatus},
		"401 broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			w.WriteHeader(401)
			_, _ = io.WriteString(w, "half")
		}, 4, fetch.CodeDenied},
		"over cap once unpacked": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 1<<20))
			_ = z.Close()
		}, 1, fetch.CodeTooLarge},
		"over cap": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2000)) }, 1, fetch.CodeTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			s := server(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); c.bad(w, r) })
			_, err := client(t, fetch.Options{Attempts: 4, Cap: 1000}).Get(t.Context(), fetch.Request{URL: s.URL + "/p?key=" + key})
			if code(err) != c.want || asked.Load() != c.tries {
				t.Errorf("%v after %d requests, want %s after %d", err, asked.Load(), c.want, c.tries)
			}
			if strings.Contains(fmt.Sprint(err), key) {
				t.Errorf("the error holds the key: %v", err)
			}
		})
	}
}

func TestLastAttemptCounts(t *testing.T) {
	var asked atomic.Int32
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if asked.Add(1) < 3 {
			w.WriteHeader(502)
			return
		}
		_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, text, r.Header.Get("X-Attempt"))
	})
	n := 0
	got, err := client(t, fetch.Options{}).Get(t.Context(), fetch.Request{
		Method: "POST", URL: s.URL, Body: []byte("question"),
		Sign: func(r *http.Request) error { n++; r.Header.Set("X-Attempt", fmt.Sprint(n)); return nil },
	})
	if err != nil || string(got) != "POST question 3" {
		t.Errorf("%q %v", got, err)
	}
}

func TestRedirects(t *testing.T) {
	var reached atomic.Int32
	other := server(t, func(w http.ResponseWriter, _ *http.Request) { reached.Add(1); _, _ = io.WriteString(w, "other") })
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{
			"/away": other.URL, "/here": "/end", "/round": "/round", "/plain": "http://prices.example.com/", "/file": "file:///etc/passwd",
		}[r.URL.Path]
		if to == "" {
			_, _ = io.WriteString(w, "end")
			return
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
	for _, c := range []struct {
		path   string
		secret bool
		want   string
		code   string
	}{
		{"/here", true, "end", ""}, {"/away", false, "other", ""}, {"/away", true, "", fetch.CodeRedirect},
		{"/round", false, "", fetch.CodeRedirect}, {"/plain", false, "", fetch.CodeInsecure}, {"/file", false, "", fetch.CodeBadURL},
	} {
		got, err := client(t, fetch.Options{}).Get(t.Context(), fetch.Request{URL: s.URL + c.path, Secret: c.secret})
		if string(got) != c.want || code(err) != c.code {
			t.Errorf("%s secret=%v: %q %v, want %q %s", c.path, c.secret, got, err, c.want, c.code)
		}
	}
	if reached.Load() != 1 {
		t.Errorf("the other host was asked %d times, want once, without credentials", reached.Load())
	}
}

func TestStalls(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "a start")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	_, err := client(t, fetch.Options{Attempts: 2, Stall: 30 * time.Millisecond}).Get(t.Context(), fetch.Request{URL: s.URL})
	if code(err) != fetch.CodeStalled {
		t.Errorf("%v, want %s", err, fetch.CodeStalled)
	}
}

func TestEndsWithItsContext(t *testing.T) {
	s := server(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := client(t, fetch.Options{}).Get(ctx, fetch.Request{URL: s.URL}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A reader is begun anew where the answer broke off; its own error ends the request.
func TestStream(t *testing.T) {
	var asked atomic.Int32
	s := server(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Content-Length", "8")
			_, _ = io.WriteString(w, "one\n")
			return
		}
		_, _ = io.WriteString(w, "one\ntwo\n")
	})
	var parts []string
	err := client(t, fetch.Options{}).Stream(t.Context(), fetch.Request{URL: s.URL}, func(in io.Reader) error {
		text, err := io.ReadAll(in)
		parts = append(parts, string(text))
		return err
	})
	if err != nil || !slices.Equal(parts, []string{"one\n", "one\ntwo\n"}) {
		t.Errorf("%q %v", parts, err)
	}
	own := errors.New("no price list")
	asked.Store(1)
	if err := client(t, fetch.Options{}).Stream(t.Context(), fetch.Request{URL: s.URL}, func(io.Reader) error { return own }); !errors.Is(err, own) || asked.Load() != 2 {
		t.Errorf("%v after %d requests", err, asked.Load()-1)
	}
}

// What a server says is shown on one line, unless it may repeat a key.
func TestWordsOfTheServer(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(403)
		_, _ = io.WriteString(w, "no\n\x1b[31m such account "+r.Header.Get("Authorization")+strings.Repeat("x", 9000))
	})
	_, err := client(t, fetch.Options{}).Get(t.Context(), fetch.Request{URL: s.URL})
	if text := problem.All(err)[0].Args["Text"].(string); !strings.HasPrefix(text, "no [31m such account") || len(text) > 300 {
		t.Errorf("%q", text)
	}
	_, err = client(t, fetch.Options{}).Get(t.Context(), fetch.Request{URL: s.URL, Secret: true, Header: http.Header{"Authorization": {"Bearer " + key}}})
	if strings.Contains(fmt.Sprintf("%v %+v", err, problem.All(err)), key) {
		t.Errorf("the error holds the key: %v", err)
	}
	var status *fetch.StatusError
	if !errors.As(err, &status) || status.Status != 403 || !strings.Contains(string(status.Body), "no") {
		t.Errorf("%+v", status)
	}
}

// What a server writes where no words of people belong may repeat a key too.
func TestAnswersThatAreNoHTTP(t *testing.T) {
	for _, answer := range []string{
		"302 Found\r\nLocation: http://[::1?key=" + key,
		"302 Found\r\nLocation: ftp://other.example.com/" + key,
		"302 Found\r\nLocation: https://me:" + key + "@other.example.com/?key=" + key,
		"307 Go\r\nLocation: https://other.example.com/" + key,
		"200 OK\r\nContent-Length: " + key,
		"200 OK\r\nTransfer-Encoding: " + key,
		"200 OK\r\n" + key,
	} {
		s := server(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 "+answer+"\r\n\r\n")
			_ = conn.Close()
		})
		_, err := client(t, fetch.Options{Attempts: 2}).Get(t.Context(), fetch.Request{URL: s.URL, Secret: true})
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, problem.All(err)), key) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

// A server whose certificate is not to be trusted is not asked again; one that is trusted may speak HTTP/2.
func TestTLS(t *testing.T) {
	var hellos atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
		w.(http.Flusher).Flush()
		if r.URL.Path == "/half" {
			panic(http.ErrAbortHandler)
		}
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { hellos.Add(1); return nil, nil }}
	s.StartTLS()
	t.Cleanup(s.Close)
	_, err := client(t, fetch.Options{Attempts: 3}).Get(t.Context(), fetch.Request{URL: s.URL})
	if code(err) != fetch.CodeUnreachable || !strings.Contains(fmt.Sprint(err), "certificate") || hellos.Load() != 1 {
		t.Errorf("%v after %d connections", err, hellos.Load())
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(s.Certificate())
	c := client(t, fetch.Options{Attempts: 2, TLS: &tls.Config{RootCAs: trusted}})
	if got, err := c.Get(t.Context(), fetch.Request{URL: s.URL}); err != nil || string(got) != "HTTP/2.0" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := c.Get(t.Context(), fetch.Request{URL: s.URL + "/half"}); code(err) != fetch.CodeTruncated {
		t.Errorf("%v, want %s", err, fetch.CodeTruncated)
	}
}

func TestPace(t *testing.T) {
	var asked atomic.Int32
	s := server(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	c := client(t, fetch.Options{}).Paced(2)
	for {
		if _, err := c.Get(ctx, fetch.Request{URL: s.URL}); err != nil {
			break
		}
	}
	if n := asked.Load(); n < 2 || n > 3 {
		t.Errorf("%d requests in a fifth of a second at 2 a second with a burst of 2", n)
	}
}
