package config_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/front/config"
)

func sources(files map[string]string, env map[string]string) config.Sources {
	return config.Sources{
		UserDir: "/home/.config",
		Env:     func(name string) string { return env[name] },
		Open: func(path string) ([]byte, error) {
			if text, ok := files[filepath.ToSlash(path)]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
	}
}

const userFile = "/home/.config/rackrate/config.yaml"

func TestOrderOfLayers(t *testing.T) {
	files := map[string]string{userFile: "currency: EUR\ntop: 5\nlang: zh\n", "rackrate.yaml": "top: 7\n"}
	src := sources(files, map[string]string{"RACKRATE_TOP": "9", "LANG": "en_US.UTF-8"})
	src.Flags = map[config.Key]string{config.Top: "11"}
	for _, c := range []struct {
		remove func()
		want   string
		layer  config.Layer
	}{
		{func() {}, "11", config.FromFlag},
		{func() { src.Flags = nil }, "9", config.FromEnv},
		{func() { src.Env = func(string) string { return "" } }, "7", config.FromHere},
		{func() { delete(files, "rackrate.yaml") }, "5", config.FromUser},
		{func() { delete(files, userFile) }, "10", config.FromDefault},
	} {
		c.remove()
		cfg, err := config.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		if v := cfg.Get(config.Top); v.Text != c.want || v.Origin.Layer != c.layer {
			t.Errorf("top is %s from %s, want %s from %s", v.Text, v.Origin.Layer, c.want, c.layer)
		}
	}
}

func TestEveryFaultWithItsLine(t *testing.T) {
	for text, want := range map[string][]string{
		"top: many\ncolour: auto\ntop: 3\n": {"1 settings.bad_value", "2 settings.unknown_key", "3 settings.duplicate"},
		"- a\n- b\n":                        {"1 settings.not_mapping"},
		"top: [1]\n":                        {"1 settings.scalar"},
		"a: b: c\n":                         {"1 settings.syntax"},
		strings.Repeat("#", 1<<17):          {"1 settings.too_large"},
		"":                                  nil,
		"# nothing\n":                       nil,
	} {
		_, err := config.Load(sources(map[string]string{"rackrate.yaml": text}, nil))
		var got []string
		if err != nil {
			for _, p := range problem.All(err) {
				got = append(got, strings.TrimSpace(strings.Join([]string{string(rune('0' + p.Line)), p.Code}, " ")))
			}
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%.30q: %v, want %v", text, got, want)
		}
	}
}

// A language that is not spoken here is no fault of the environment, but is one of a flag.
func TestLanguage(t *testing.T) {
	cfg, err := config.Load(sources(nil, map[string]string{"LANG": "de_DE.UTF-8"}))
	if err != nil || cfg.Language() != "en" {
		t.Errorf("%v %v", cfg.Language(), err)
	}
	cfg, _ = config.Load(sources(nil, map[string]string{"LC_ALL": "zh_CN.UTF-8", "LANG": "en_US"}))
	if cfg.Language() != "zh" {
		t.Error("LC_ALL does not beat LANG")
	}
	src := sources(nil, nil)
	src.Flags = map[config.Key]string{config.Lang: "fr"}
	if _, err := config.Load(src); err == nil {
		t.Error("--lang fr was taken")
	}
}

// The password of a database is in no listing and no message.
func TestPasswordsAreStarred(t *testing.T) {
	cfg, err := config.Load(sources(nil, map[string]string{"RACKRATE_DB": "postgres://me:s3cr3t@db.example/rackrate"}))
	if err != nil || cfg.Text(config.DB) != "postgres://me:s3cr3t@db.example/rackrate" || cfg.Shown(config.DB) != "postgres://me:***@db.example/rackrate" {
		t.Errorf("%v %q %q", err, cfg.Text(config.DB), cfg.Shown(config.DB))
	}
	_, err = config.Load(sources(nil, map[string]string{"RACKRATE_DB": "mysql://me:s3cr3t@db.example/rackrate"}))
	if err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("%v", err)
	}
}
