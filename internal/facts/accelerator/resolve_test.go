package accelerator

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/problem"
)

func namesOf(chips []*Accelerator) string {
	var names []string
	for _, a := range chips {
		names = append(names, a.Name)
	}
	return strings.Join(names, " ")
}

func TestResolve(t *testing.T) {
	const (
		h100   = "H100-PCIe-80GB H100-SXM-80GB H100-NVL-94GB"
		a100   = "A100-PCIe-40GB A100-SXM-40GB A100-PCIe-80GB A100-SXM-80GB"
		a100x  = "A100-PCIe-80GB A100-SXM-80GB"
		pro6k  = "RTX-PRO-6000-Blackwell-Workstation RTX-PRO-6000-Blackwell-Max-Q RTX-PRO-6000-Blackwell-Server"
		asc910 = "Ascend-910B2 Ascend-910B3 Ascend-910B4"
	)
	tests := []struct{ text, want string }{
		{"h100", h100}, {"NVIDIA H100", h100}, {"H100 NVLink", h100}, {"Ｈ１００", h100}, {"英伟达 H100", h100},
		{"H100 80GB", "H100-PCIe-80GB H100-SXM-80GB"}, {"H100 80GiB", "H100-PCIe-80GB H100-SXM-80GB"},
		{"H100-SXM", "H100-SXM-80GB"}, {"H100_SXM5", "H100-SXM-80GB"}, {"HGX H100", "H100-SXM-80GB"},
		{"NVIDIA-H100-80GB-HBM3", "H100-SXM-80GB"}, {"NVIDIA H100 PCIe", "H100-PCIe-80GB"}, {"h100 nvl", "H100-NVL-94GB"},
		{"H100 96GB", "H100-SXM-96GB-HBM2e-500W"}, {"H100 40GB", ""},
		{"A100", a100}, {"A100 (NVlink)", a100}, {"A100 80GB", a100x}, {"a100-80g", a100x},
		{"A100-80GB-SXM4", "A100-SXM-80GB"}, {"NVIDIA-A100-SXM4-40GB", "A100-SXM-40GB"}, {"A100-80G-PCIe-NVLink", "A100-PCIe-80GB"},
		{"H200", "H200-SXM-141GB H200-NVL-141GB"}, {"NVIDIA B300 SXM6 AC", "B300"}, {"B300 288GB", "B300"},
		{"GB200", "GB200"}, {"NVIDIA GB200 Grace Blackwell", "GB200"}, {"GH200 480GB", "GH200-96GB"},
		{"Tesla T4", "T4"}, {"T4g", "T4G"}, {"Tesla V100-SXM2-32GB", "V100-SXM2-32GB"}, {"V100 SXM3 32GB", "V100-SXM2-32GB"},
		{"P100", "P100-PCIe-16GB P100-SXM2-16GB"}, {"Tesla P100-PCIE-12GB", "P100-PCIe-12GB"},
		{"L4", "L4"}, {"L40", "L40"}, {"L40s", "L40S"}, {"A10", "A10"}, {"A10G", "A10G"}, {"A2", "A2"}, {"A16", "A16"},
		{"RTX4090", "RTX-4090"}, {"4090", "RTX-4090"}, {"NVIDIA GeForce RTX 4090", "RTX-4090"}, {"RTX 4090D 24GB", "RTX-4090-D"},
		{"RTX 3080", "RTX-3080-10GB RTX-3080-12GB"}, {"RTX 3060 Ti", "RTX-3060-Ti"}, {"RTX 4070S Ti", "RTX-4070-Ti-Super"},
		{"RTX6000", "Quadro-RTX-6000"}, {"rtx 6000 ada", "RTX-6000-Ada"}, {"RTX6000ADA_PCIE", "RTX-6000-Ada"}, {"RTX A6000", "RTX-A6000"}, {"A6000", "RTX-A6000"},
		{"RTXPRO6000", pro6k}, {"RTX PRO 6000 Blackwell", pro6k}, {"RTX PRO 6000 96GB", pro6k},
		{"RTXPRO6000S", "RTX-PRO-6000-Blackwell-Server"}, {"RTXPRO6000WS", "RTX-PRO-6000-Blackwell-Workstation"},
		{"mi300x", "MI300X"}, {"AMD Instinct MI300X OAM", "MI300X"}, {"MI300", ""}, {"AMD H100", ""}, {"Radeon Pro V520", "Radeon-Pro-V520"}, {"Radeon MI25", "MI25"},
		{"Gaudi HL-205", "Gaudi1"}, {"gaudi 3", "Gaudi3"}, {"Gaudi3 PCIe", "Gaudi3-PCIe"}, {"Intel Data Center GPU Max 1550", "Max-1550"},
		{"tpu v5e", "TPU-v5e"}, {"v5litepod", "TPU-v5e"}, {"tpu-v5litepod-256", "TPU-v5e"}, {"tpu-v5p-8960", "TPU-v5p"}, {"Ironwood", "TPU-v7x"}, {"tpu", ""},
		{"trainium2", "Trainium2"}, {"trn2", "Trainium2"}, {"Trainium", "Trainium1"}, {"AWS Inferentia", "Inferentia1"}, {"inf2", "Inferentia2"},
		{"昇腾910B", asc910}, {"Ascend 910B", asc910}, {"华为昇腾 910C", "Ascend-910C"}, {"昇腾910B3", "Ascend-910B3"},
		{"寒武纪 MLU590", "MLU590"}, {"思元370", "MLU370-X8 MLU370-X4"}, {"海光 K100_AI", "DCU-K100_AI"}, {"海光DCU K100", "DCU-K100"},
		{"摩尔线程 MTT S4000", "MTT-S4000"}, {"沐曦 曦云C500", "C500"}, {"燧原 S60", "S60"}, {"昆仑芯 P800", "P800"}, {"昆仑芯R200", "R300"},
		{"壁仞 BR104", "BR104"}, {"天数智芯 天垓100", "BI-V100"}, {"天垓150", "BI-V150"}, {"平头哥真武810E", "PPU-810E"},
		{"", ""}, {"gpu", ""}, {"nvidia", ""}, {"80GB", ""}, {"H100 and more", ""}, {"A100-PCIe-80GB-MIG-1g.10gb", ""}, {"8xH100", ""},
	}
	for _, tt := range tests {
		if got := namesOf(Embedded().Resolve(tt.text)); got != tt.want {
			t.Errorf("Resolve(%q) = %s; want %s", tt.text, got, tt.want)
		}
	}
}

// A canonical name and what JSON or a report prints of it must lead back to the one chip.
func TestCanonicalNamesAreExact(t *testing.T) {
	for _, a := range Embedded().All() {
		for _, text := range []string{a.Name, a.Vendor + " " + a.Name} {
			if got, err := Embedded().One(text); got != a {
				t.Errorf("One(%q) = %v, want %s", text, err, a.Name)
			}
		}
	}
}

func TestOne(t *testing.T) {
	tests := []struct {
		text, want string
		suggest    []string
	}{
		{"H100", "accelerator.ambiguous Choices=[H100-PCIe-80GB H100-SXM-80GB H100-NVL-94GB] Name=H100", nil},
		{"H1000", "accelerator.unknown Name=H1000", []string{"H100", "A100", "B100"}},
		{"mi30x", "accelerator.unknown Name=mi30x", []string{"MI300X"}},
		{"rtx490", "accelerator.unknown Name=rtx490", []string{"RTX-4090"}},
		{"", "accelerator.unknown Name=", nil},
	}
	for _, tt := range tests {
		_, err := Embedded().One(tt.text)
		all := problem.All(err)
		if len(all) != 1 || all[0].Error() != tt.want || all[0].Kind != problem.Input {
			t.Errorf("One(%q) = %v, want %s", tt.text, err, tt.want)
			continue
		}
		if got := all[0].Suggest; len(tt.suggest) == 0 != (len(got) == 0) || len(got) > 0 && !cmp.Equal(got[0], tt.suggest[0]) {
			t.Errorf("One(%q) suggests %q, want first of %q", tt.text, got, tt.suggest)
		}
	}
}

// Form factors are never merged: a text that names one finds chips of that one only.
func TestFormFactorsStayApart(t *testing.T) {
	for _, a := range Embedded().All() {
		model := newSpelling(row{chip: a}).model
		for form, words := range formWords {
			for _, w := range words {
				for _, got := range Embedded().Resolve(model + "-" + w) {
					if got.FormFactor != form && !(strings.HasPrefix(form, "SXM") && strings.HasPrefix(got.FormFactor, "SXM")) {
						t.Errorf("Resolve(%s-%s) finds %s, a %s", model, w, got.Name, got.FormFactor)
					}
				}
			}
		}
	}
}

func TestPunctuationAndCaseDoNotCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(Embedded().written).Draw(t, "name")
		want := namesOf(Embedded().Resolve(text))
		if want == "" {
			t.Fatalf("%q, which we print, finds nothing", text)
		}
		marks := rapid.SampledFrom([]string{"", " ", "-", "_", ".", "/", "  ", "("})
		var b strings.Builder
		for _, r := range text {
			if strings.ContainsRune("-_ ", r) {
				b.WriteString(marks.Draw(t, "mark"))
				continue
			}
			if rapid.Bool().Draw(t, "upper") {
				b.WriteString(strings.ToUpper(string(r)))
			} else {
				b.WriteString(strings.ToLower(string(r)))
			}
			b.WriteString(marks.Draw(t, "gap"))
		}
		if b.Len() > maxName {
			return // longer than a name may be
		}
		if got := namesOf(Embedded().Resolve(b.String())); got != want {
			t.Fatalf("Resolve(%q) = %s; %q gives %s", b.String(), got, text, want)
		}
	})
}

// The order of the rows decides the order of the answer and nothing else.
func TestRowOrderDoesNotCount(t *testing.T) {
	shuffled := &Table{byName: Embedded().byName, spellings: append([]spelling(nil), Embedded().spellings...)}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(shuffled.spellings), func(i, j int) {
		s := shuffled.spellings
		s[i], s[j] = s[j], s[i]
	})
	for _, text := range Embedded().written {
		want := map[*Accelerator]bool{}
		for _, a := range Embedded().Resolve(text) {
			want[a] = true
		}
		got := shuffled.Resolve(text)
		for _, a := range got {
			if !want[a] || len(got) != len(want) {
				t.Errorf("Resolve(%q) depends on the order of rows", text)
			}
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"H100", "昇腾910B", "tpu-v5p-128", strings.Repeat("sxm4", 30), "\xff", "ſxm", strings.Repeat("Ⱥ", 64)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first := namesOf(Embedded().Resolve(text))
		if again := namesOf(Embedded().Resolve(text)); again != first {
			t.Errorf("Resolve(%q) = %s, then %s", text, first, again)
		}
		if a, err := Embedded().One(text); (a == nil) == (err == nil) {
			t.Errorf("One(%q) = %v, %v", text, a, err)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	t := Embedded()
	b.ReportAllocs()
	for b.Loop() {
		t.Resolve("NVIDIA-H100-80GB-HBM3")
		t.Resolve("RTX4090")
	}
}
