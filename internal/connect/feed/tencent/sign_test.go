package tencent

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The example of Tencent's documentation of signatures.
func TestSignature(t *testing.T) {
	body := []byte(`{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}`)
	r, err := http.NewRequest(http.MethodPost, "https://cvm.tencentcloudapi.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	keys{ID: "AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE", Key: "Gu5t9xGARNpq86cd98joQYCN3EXAMPLE"}.sign(r, "cvm", body, time.Unix(1551113065, 0))
	want := "TC3-HMAC-SHA256 Credential=AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host, " +
		"Signature=72e494ea809ad7a8c8f7a4507b9bddcbaa8e581f516e8da2f66e2c5a96525168"
	if got := r.Header.Get("Authorization"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if r.Header.Get("X-TC-Timestamp") != "1551113065" || r.Header.Get("X-TC-Token") != "" {
		t.Errorf("%v", r.Header)
	}
	keys{ID: "a", Key: "b", Token: "c"}.sign(r, "cvm", body, time.Unix(0, 0))
	if r.Header.Get("X-TC-Token") != "c" || strings.Contains(r.Header.Get("Authorization"), "Gu5t") {
		t.Errorf("%v", r.Header)
	}
}
