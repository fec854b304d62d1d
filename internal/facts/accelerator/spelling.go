package accelerator

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxName bounds the text that is taken for a name; the longest real one has under 60 bytes.
const maxName = 128

// fold brings a name to the letters and digits that count: case, punctuation and spaces are gone, and
// full-width forms, which Chinese keyboards write, are narrow.
func fold(s string) string {
	if plain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r >= '！' && r <= '～' {
			r -= '！' - '!'
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r)) // both ways, so that ſ and K fold as s and k do
	}, s)
}

// plain says whether folding would change nothing, which is so for most words of most names.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// saw is what of a chip's identity a text has named so far.
type saw uint8

const (
	sawName saw = 1 << iota
	sawMemory
	sawForm
	numSaws // the number of sets of the above
)

// word is folded text that may stand in the name of a chip.
type word struct {
	text string
	says saw
}

// spelling is a chip's vocabulary: a text means the chip when it is made of these words only and says at least what is needed.
type spelling struct {
	chip  *Accelerator
	model string // the canonical name without what qualifies it, as printed
	words []word
	needs saw
}

// vendorWords stand before or in a name without telling chips apart: makers, their brands and families.
var vendorWords = map[string][]string{
	"NVIDIA":         {"nvidia", "tesla", "geforce", "quadro", "grace", "英伟达"},
	"AMD":            {"amd", "instinct", "radeon"},
	"Intel":          {"intel", "habana", "datacenter", "英特尔"},
	"Google":         {"google", "cloud", "tpu", "podslice", "slice", "谷歌"},
	"AWS":            {"aws", "amazon", "亚马逊"},
	"Huawei":         {"huawei", "ascend", "华为", "昇腾"},
	"Hygon":          {"hygon", "dcu", "海光", "深算"},
	"Cambricon":      {"cambricon", "寒武纪", "思元"},
	"Iluvatar":       {"iluvatar", "corex", "天数智芯", "天垓", "智铠"},
	"Moore Threads":  {"moorethreads", "mtt", "摩尔线程"},
	"Biren":          {"biren", "壁仞", "壁砺"},
	"MetaX":          {"metax", "沐曦", "曦云", "曦思"},
	"Enflame":        {"enflame", "燧原", "云燧"},
	"Baidu Kunlun":   {"baidu", "kunlunxin", "kunlun", "百度", "昆仑芯", "昆仑"},
	"Alibaba T-Head": {"alibaba", "thead", "阿里", "平头哥", "ppu", "zhenwu", "真武"},
}

// plainWords say nothing about which chip is meant; the last three are how one marketplace grades hosts.
var plainWords = []string{"gpu", "card", "accelerator", "tensorcore", "加速卡", "显卡", "芯片", "baremetal", "highperf", "lowram"}

// formWords are the ways to write a form factor. Makers number SXM by generation, which the model already tells.
var formWords = map[string][]string{
	"PCIe": {"pcie", "pci"},
	"SXM":  {"sxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "sxm6ac", "hgx", "dgx"},
	"SXM2": {"sxm", "sxm2", "sxm3", "hgx", "dgx"},
	"NVL":  {"nvl"},
	"OAM":  {"oam"},
}

func newSpelling(r row) spelling {
	a := r.chip
	s := spelling{chip: a, needs: sawName, words: make([]word, 0, 48)}
	switch r.needs {
	case "memory":
		s.needs |= sawMemory
	case "form":
		s.needs |= sawForm
	}
	s.addFolded(sawForm, formWords[a.FormFactor])
	add := func(says saw, texts ...string) {
		for _, t := range texts {
			if t = fold(t); t != "" {
				s.words = append(s.words, word{t, says})
			}
		}
	}
	if gb, ok := a.NominalGB.Get(); ok {
		size := strconv.FormatFloat(gb, 'f', -1, 64)
		add(sawMemory, size+"GB", size+"GiB", size+"G")
	}
	if w, ok := a.TDP.Get(); ok {
		add(0, strconv.FormatFloat(float64(w), 'f', -1, 64)+"W")
	}
	add(0, a.MemoryType)
	s.model = modelOf(a.Name, s.words)
	add(sawName, s.model, withoutVendor(s.model, a.Vendor))
	// A whole name or an alias is as exact as can be.
	add(sawName|sawMemory|sawForm, a.Name)
	add(sawName|sawMemory|sawForm, r.aliases...)
	s.addFolded(0, vendorWords[a.Vendor])
	s.addFolded(0, plainWords)
	add(0, a.Vendor, a.Arch)
	if strings.HasPrefix(a.LinkKind, "NVLink") {
		add(0, "nvlink")
	}
	return s
}

// addFolded adds words of the tables above, which are written folded.
func (s *spelling) addFolded(says saw, texts []string) {
	for _, t := range texts {
		s.words = append(s.words, word{t, says})
	}
}

// modelOf cuts the parts of a canonical name that qualify a model: form factor, memory and power.
func modelOf(name string, qualifiers []word) string {
	parts := strings.Split(name, "-")
	kept := slices.DeleteFunc(parts[1:], func(p string) bool {
		return slices.ContainsFunc(qualifiers, func(w word) bool { return w.text == fold(p) })
	})
	return strings.Join(append([]string{parts[0]}, kept...), "-")
}

// withoutVendor cuts a leading vendor word: Ascend-910C is as often written 910C.
func withoutVendor(model, vendor string) string {
	if head, rest, ok := strings.Cut(model, "-"); ok && slices.Contains(vendorWords[vendor], fold(head)) {
		return rest
	}
	return model
}

// means says whether a folded text is made of the chip's words and says what is needed. It walks the text
// once and keeps, at each place, every set of things said on some way there: time grows with the length of
// the text, however the words overlap.
func (s *spelling) means(text string) bool {
	if !slices.ContainsFunc(s.words, func(w word) bool { return w.says&sawName != 0 && strings.Contains(text, w.text) }) {
		return false // nearly every chip ends here
	}
	var ways [3*maxName + 1]uint8 // bit n: the set n of saws can have been said; folding may lengthen text
	ways[0] = 1
	for at := range text {
		if ways[at] == 0 {
			continue
		}
		for _, w := range s.words {
			if strings.HasPrefix(text[at:], w.text) {
				ways[at+len(w.text)] |= join(ways[at], w.says)
			}
		}
	}
	for said := range numSaws {
		if ways[len(text)]&(1<<said) != 0 && said&s.needs == s.needs {
			return true
		}
	}
	return false
}

// join adds what a word says to every set in ways.
func join(ways uint8, says saw) uint8 {
	var out uint8
	for said := range numSaws {
		if ways&(1<<said) != 0 {
			out |= 1 << (said | says)
		}
	}
	return out
}
