package huawei

import (
	"net/http"
	"testing"
	"time"
)

// The example of Huawei Cloud's documentation of signatures.
func TestSignature(t *testing.T) {
	r, err := http.NewRequest(http.MethodGet,
		"https://service.region.example.com/v1/77b6a44cba5143ab91d13ab9a8ff44fd/vpcs?limit=2&marker=13551d6b-755d-4757-b956-536f674975c0", nil)
	if err != nil {
		t.Fatal(err)
	}
	k := keys{ak: "QTWAOYTTINDUT2QVKYUC", sk: "MFyfvK41ba2giqM7Uio6PznpdUKGpownRZlmVmHc"}
	k.sign(r, nil, time.Date(2019, 11, 15, 3, 36, 55, 0, time.UTC))
	want := "SDK-HMAC-SHA256 Access=QTWAOYTTINDUT2QVKYUC, SignedHeaders=content-type;host;x-sdk-date, " +
		"Signature=7be6668032f70418fcc22abc52071e57aff61b84a1d2381bb430d6870f4f6ebe"
	if got := r.Header.Get("Authorization"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	k.token = "temporary"
	k.sign(r, nil, time.Unix(0, 0))
	if r.Header.Get("X-Security-Token") != "temporary" || r.Header.Get("X-Sdk-Date") != "19700101T000000Z" {
		t.Errorf("%v", r.Header)
	}
}

func TestChips(t *testing.T) {
	for _, c := range []struct {
		gpu, ascend, alias, specs, name string
		count, gib                      float64
	}{
		{"8 * NVIDIA A100 / 8 * 40 GB", "", "nvidia-a100:8", "", "NVIDIA A100", 8, 40},
		{"1 * NVIDIA V100 / 32GiB", "", "", "", "NVIDIA V100", 1, 32},
		{"", "2*Ascend 310", "", "", "Ascend 310", 2, 0},
		{"NVIDIA T4", "", "nvidia-t4:1", "", "nvidia-t4", 1, 0},
		{"", "", "", "m60:direct_graphics:1", "m60", 1, 0},
		{"", "", "", "m60_1q:virt:1", "", 0, 0},
		{"", "", "", "", "", 0, 0},
	} {
		var f flavor
		f.Specs.GPUName, f.Specs.AscendName, f.Specs.Alias, f.Specs.GPU = c.gpu, c.ascend, c.alias, c.specs
		if name, count, mib := f.chips(); name != c.name || count != c.count || mib != c.gib*1024 {
			t.Errorf("%+v: %g x %s of %g MiB", c, count, name, mib)
		}
	}
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		status, zones string
		gone, left    bool
	}{
		{"", "", false, true}, {"normal", "", false, true}, {"sellout", "", false, false}, {"abandon", "", true, false},
		{"abandon", "cn-north-4a(sellout), cn-north-4b(obt)", false, true}, {"abandon", "cn-north-4a(abandon)", true, false},
		{"abandon", "cn-north-4a(sellout),cn-north-4b(abandon)", false, false}, {"promotion", "a(sellout)", false, true},
	} {
		var f flavor
		f.Specs.Status, f.Specs.Zones = c.status, c.zones
		if f.gone() != c.gone || f.inStock() != c.left {
			t.Errorf("%+v: gone %t, in stock %t", c, f.gone(), f.inStock())
		}
	}
}
