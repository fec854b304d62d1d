package alibaba

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/connect/feed"
)

// The example of Alibaba Cloud's documentation of signatures.
func TestSignature(t *testing.T) {
	q := query(map[string]string{"RegionId": "cn-shanghai", "ImageId": "win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd"})
	r, err := http.NewRequest(http.MethodPost, "https://ecs.cn-shanghai.aliyuncs.com/?"+q, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := keys{id: "YourAccessKeyId", secret: "YourAccessKeySecret"}
	k.sign(r, "RunInstances", "3156853299f313e23d1673dc12e1703d", time.Date(2023, 10, 26, 10, 22, 32, 0, time.UTC))
	want := "ACS3-HMAC-SHA256 Credential=YourAccessKeyId,SignedHeaders=host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version," +
		"Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0"
	if got := r.Header.Get("Authorization"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	k.token = "temporary"
	k.sign(r, "RunInstances", nonce(), time.Unix(0, 0))
	if r.Header.Get("x-acs-security-token") != "temporary" || !strings.Contains(r.Header.Get("Authorization"), ";x-acs-security-token;") {
		t.Errorf("%v", r.Header)
	}
}

func TestQuery(t *testing.T) {
	if got := query(map[string]string{"b": "x y*~/:", "a": "中", "SystemDisk.Size": "40"}); got != "SystemDisk.Size=40&a=%E4%B8%AD&b=x%20y%2A~%2F%3A" {
		t.Error(got)
	}
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		spec, gpus, chip string
		count            float64
	}{
		{"NVIDIA V100", "8", "NVIDIA V100", 8}, {"NVIDIA A10*1/6", "1", "NVIDIA A10", 1. / 6}, {"NVIDIA T4 1/2", "0", "NVIDIA T4", 0.5},
		{"NVIDIA A10 * 1/12", "", "NVIDIA A10", 1. / 12}, {"NVIDIA A10*2/1", "1", "NVIDIA A10*2/1", 1}, {"", "1", "", 1},
	} {
		m := machine{ID: "ecs.x", GPU: c.spec, GPUs: feed.Number(c.gpus)}
		if l := m.listing("cn-beijing"); l.Accelerator != c.chip || l.Count != c.count {
			t.Errorf("%s x %s is %g x %s", c.gpus, c.spec, l.Count, l.Accelerator)
		}
	}
}
