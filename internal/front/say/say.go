// Package say is the words of Rackrate: the one catalogue of messages in every language the product speaks, and
// the reader's forms of numbers, money, sizes and times.
//
// Invariants: every code a lower floor can return has a message in every language, with the same fields; a figure
// is printed the same way in every command; an unknown figure is a dash, never a zero. Imported by front only.
package say

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

//go:embed messages/*.json
var files embed.FS

// Lang is a language the product speaks.
type Lang string

// The languages.
const (
	English Lang = "en"
	Chinese Lang = "zh"
)

// Langs lists every language, the default first.
func Langs() []Lang { return []Lang{English, Chinese} }

// ParseLang reads a language as people and environments write it: zh, zh-CN, zh_CN.UTF-8, en_US, C. False where
// the product does not speak it.
func ParseLang(s string) (Lang, bool) {
	base, _, _ := strings.Cut(strings.ToLower(s), ".")
	base, _, _ = strings.Cut(strings.ReplaceAll(base, "_", "-"), "-")
	switch base {
	case "en", "c", "posix":
		return English, true
	case "zh":
		return Chinese, true
	}
	return English, false
}

// Args are the figures of a message by the names it uses. Values may be of any type that Value can print.
type Args = map[string]any

// Speaker says things in one language.
type Speaker struct {
	lang      Lang
	localizer *i18n.Localizer
	messages  map[string]*i18n.Message
}

// For gives the speaker of a language. Only that language's file is read, and only once: the command line pays
// for it at every start.
func For(lang Lang) *Speaker {
	if lang == Chinese {
		return speakChinese()
	}
	return speakEnglish()
}

var (
	speakEnglish = sync.OnceValue(func() *Speaker { return load(English) })
	speakChinese = sync.OnceValue(func() *Speaker { return load(Chinese) })
)

// load reads an embedded file; a broken one cannot leave the build, so it panics.
func load(lang Lang) *Speaker {
	path := "messages/" + string(lang) + ".json"
	raw, err := files.ReadFile(path)
	if err != nil {
		panic(err)
	}
	file, err := i18n.ParseMessageFileBytes(raw, path, nil)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", path, err))
	}
	tag := language.Make(string(lang))
	bundle := i18n.NewBundle(tag)
	if err := bundle.AddMessages(tag, file.Messages...); err != nil {
		panic(fmt.Sprintf("%s: %v", path, err))
	}
	s := &Speaker{lang: lang, localizer: i18n.NewLocalizer(bundle, string(lang)), messages: map[string]*i18n.Message{}}
	for _, m := range file.Messages {
		s.messages[m.ID] = m
	}
	return s
}

// Lang is the language spoken.
func (s *Speaker) Lang() Lang { return s.lang }

// IDs lists every message there is, sorted.
func (s *Speaker) IDs() []string { return slices.Sorted(maps.Keys(s.messages)) }

// Has says whether there is a message of that name.
func (s *Speaker) Has(id string) bool { return s.messages[id] != nil }

// Text says a message that has no figures.
func (s *Speaker) Text(id string) string { return s.Say(id, nil) }

// Say says a message with its figures, each in the reader's form. The field Count, where a message has one,
// chooses between singular and plural. A message that is missing prints its name and figures rather than nothing.
func (s *Speaker) Say(id string, args Args) string {
	m := s.messages[id]
	if m == nil {
		return bare(id, args)
	}
	data := make(map[string]string, len(args))
	for k, v := range args {
		data[k] = s.Value(v)
	}
	cfg := &i18n.LocalizeConfig{MessageID: id, TemplateData: data}
	if n, ok := args["Count"].(int); ok && m.One != "" {
		cfg.PluralCount = n
	}
	text, err := s.localizer.Localize(cfg)
	if err != nil {
		return bare(id, args)
	}
	return text
}

// bare is what can be said without a message.
func bare(id string, args Args) string {
	var b strings.Builder
	b.WriteString(id)
	for _, k := range slices.Sorted(maps.Keys(args)) {
		fmt.Fprintf(&b, " %s=%v", k, args[k])
	}
	return b.String()
}

// Source gives a message as it is written, for checking the catalogue.
func (s *Speaker) Source(id string) string {
	m := s.messages[id]
	if m == nil {
		return ""
	}
	return m.One + m.Other
}
