package alibaba

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/connect/feed"
)

// keys are an account's credentials; token is there with temporary ones only.
type keys struct {
	id, secret, token string
}

// credentials are from the environment, as Alibaba Cloud's SDKs read it, or from the file of its command line.
func credentials(w feed.World) keys {
	k := keys{w.Env("ALIBABA_CLOUD_ACCESS_KEY_ID"), w.Env("ALIBABA_CLOUD_ACCESS_KEY_SECRET"), w.Env("ALIBABA_CLOUD_SECURITY_TOKEN")}
	if k.id != "" && k.secret != "" || w.Home == "" {
		return k
	}
	var stored struct {
		Current  string `json:"current"`
		Profiles []struct {
			Name   string `json:"name"`
			ID     string `json:"access_key_id"`
			Secret string `json:"access_key_secret"`
			Token  string `json:"sts_token"`
		} `json:"profiles"`
	}
	data, err := w.Read(path.Join(w.Home, ".aliyun", "config.json"))
	if err != nil || json.Unmarshal(data, &stored) != nil { // not there, or nothing that can be used: no credentials
		return keys{}
	}
	name := w.Env("ALIBABA_CLOUD_PROFILE")
	if name == "" {
		name = stored.Current
	}
	for _, p := range stored.Profiles {
		if p.Name == name {
			return keys{p.ID, p.Secret, p.Token}
		}
	}
	return keys{}
}

// nonce is a text that no other request has.
func nonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// sign signs a request without a body by ACS3-HMAC-SHA256, over its query and all of its x-acs headers.
// Source: https://www.alibabacloud.com/help/en/sdk/product-overview/v3-request-structure-and-signature
func (k keys) sign(r *http.Request, action, nonce string, now time.Time) {
	empty := feed.Hash("")
	signed := map[string]string{
		"host": r.URL.Host, "x-acs-action": action, "x-acs-version": version, "x-acs-content-sha256": empty,
		"x-acs-date": now.UTC().Format("2006-01-02T15:04:05Z"), "x-acs-signature-nonce": nonce,
	}
	if k.token != "" {
		signed["x-acs-security-token"] = k.token
	}
	names := slices.Sorted(maps.Keys(signed))
	var headers strings.Builder
	for _, n := range names {
		headers.WriteString(n + ":" + signed[n] + "\n")
		if n != "host" {
			r.Header.Set(n, signed[n])
		}
	}
	canonical := strings.Join([]string{r.Method, "/", r.URL.RawQuery, headers.String(), strings.Join(names, ";"), empty}, "\n")
	mac := feed.MAC([]byte(k.secret), "ACS3-HMAC-SHA256\n"+feed.Hash(canonical))
	r.Header.Set("Authorization", "ACS3-HMAC-SHA256 Credential="+k.id+",SignedHeaders="+strings.Join(names, ";")+
		",Signature="+hex.EncodeToString(mac))
}

// query writes parameters as they are signed: sorted, with every space as %20.
func query(params map[string]string) string {
	values := url.Values{}
	for k, v := range params {
		values.Set(k, v)
	}
	return strings.ReplaceAll(values.Encode(), "+", "%20")
}
