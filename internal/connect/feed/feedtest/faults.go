package feedtest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// keyOf tells requests apart, a POST by its body too, and gives the body back.
func keyOf(r *http.Request) string {
	text, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(text))
	q := r.URL.Query()
	for _, fresh := range []string{"SignatureNonce", "Timestamp", "Signature"} { // differ from one attempt to the next
		q.Del(fresh)
	}
	return r.Method + " " + r.URL.Path + "?" + q.Encode() + " " + string(text)
}

// packed sends answers in gzip to whoever takes them.
func packed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Del("Content-Length")
		w.WriteHeader(rec.Code)
		z := gzip.NewWriter(w)
		_, _ = z.Write(rec.Body.Bytes())
		_ = z.Close()
	})
}

// firstly does something else with every first request of a kind.
func firstly(fault func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		bad := fault(h)
		var mu sync.Mutex
		seen := map[string]bool{}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key := keyOf(r)
			mu.Lock()
			first := !seen[key]
			seen[key] = true
			mu.Unlock()
			if first {
				bad.ServeHTTP(w, r)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
}

func status(code int, header map[string]string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for k, v := range header {
				w.Header().Set(k, v)
			}
			w.WriteHeader(code)
			// Some servers repeat what they were sent.
			_, _ = io.WriteString(w, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+r.URL.RawQuery)
		})
	}
}

func body(text string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
}

// truncated states the length of the whole answer and sends half of it.
func truncated(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		w.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()))
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
	})
}

// silent never answers.
func silent(http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server only notices that a client is gone once it has read what it sent
		<-r.Context().Done()
	})
}

// endless sends spaces until nobody listens, at most a gigabyte.
func endless(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		spaces := bytes.Repeat([]byte(" "), 64<<10)
		for range 1 << 14 {
			if _, err := w.Write(spaces); err != nil {
				return
			}
		}
	})
}
