package sharedtest

import (
	"path/filepath"
	"runtime"
	"testing"
)

// recorder is a test that notes how it ended.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Helper()               {}
func (r *recorder) Skip(...any)           { r.end = "skipped"; runtime.Goexit() }
func (r *recorder) Fatalf(string, ...any) { r.end = "failed"; runtime.Goexit() }

func TestDir(t *testing.T) {
	here := t.TempDir()
	for _, c := range []struct{ env, dir, end string }{
		{"", "", "skipped"},
		{filepath.Join(here, "absent"), "", "failed"},
		{here, here, ""},
	} {
		t.Setenv(Env, c.env)
		r, dir := &recorder{TB: t}, ""
		done := make(chan struct{})
		go func() {
			defer close(done)
			dir = Dir(r)
		}()
		<-done
		if r.end != c.end || dir != c.dir {
			t.Errorf("%s=%q: %q, ended %q; want %q, %q", Env, c.env, dir, r.end, c.dir, c.end)
		}
	}
}
