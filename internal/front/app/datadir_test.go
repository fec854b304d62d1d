package app

import "testing"

func TestDataDir(t *testing.T) {
	for _, c := range []struct {
		goos string
		env  map[string]string
		want string
	}{
		{"linux", map[string]string{"HOME": "/home/a"}, "/home/a/.local/share/rackrate"},
		{"linux", map[string]string{"HOME": "/home/a", "XDG_DATA_HOME": "/data"}, "/data/rackrate"},
		{"linux", map[string]string{"HOME": "/home/a", "XDG_DATA_HOME": "data"}, "/home/a/.local/share/rackrate"},
		{"darwin", map[string]string{"HOME": "/Users/a", "XDG_DATA_HOME": "/data"}, "/Users/a/Library/Application Support/rackrate"},
		{"windows", map[string]string{"LOCALAPPDATA": "/c/Local", "HOME": "/home/a"}, "/c/Local/rackrate"},
		{"freebsd", map[string]string{"HOME": "/home/a", "RACKRATE_DATA": "here"}, "here"},
		{"linux", nil, ""},
	} {
		if got := dataDir(c.goos, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s with %v: %q, want %q", c.goos, c.env, got, c.want)
		}
	}
}
