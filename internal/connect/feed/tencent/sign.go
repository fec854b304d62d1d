package tencent

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/connect/feed"
)

// keys are an account's credentials; token is there with temporary ones only.
type keys struct {
	ID    string `json:"secretId"`
	Key   string `json:"secretKey"`
	Token string `json:"token"`
}

// credentials are from the environment, as Tencent's SDKs read it, or from the file of its command line.
func credentials(w feed.World) keys {
	k := keys{w.Env("TENCENTCLOUD_SECRET_ID"), w.Env("TENCENTCLOUD_SECRET_KEY"), w.Env("TENCENTCLOUD_SESSION_TOKEN")}
	if k.ID != "" && k.Key != "" || w.Home == "" {
		return k
	}
	profile := w.Env("TCCLI_PROFILE")
	if profile == "" {
		profile = "default"
	}
	var stored keys
	data, err := w.Read(path.Join(w.Home, ".tccli", profile+".credential"))
	if err != nil || json.Unmarshal(data, &stored) != nil { // not there, or nothing that can be used: no credentials
		return keys{}
	}
	return stored
}

// sign signs a request by TC3-HMAC-SHA256 over its type, host and body.
// Source: https://www.tencentcloud.com/document/api/1155/48996
func (k keys) sign(r *http.Request, service string, body []byte, now time.Time) {
	const kind = "application/json; charset=utf-8"
	r.Header.Set("Content-Type", kind)
	r.Header.Set("X-TC-Timestamp", strconv.FormatInt(now.Unix(), 10))
	if k.Token != "" {
		r.Header.Set("X-TC-Token", k.Token)
	}
	canonical := strings.Join([]string{
		r.Method, "/", "", "content-type:" + kind, "host:" + r.URL.Host, "", "content-type;host", feed.Hash(string(body)),
	}, "\n")
	day := now.UTC().Format(time.DateOnly)
	scope := day + "/" + service + "/tc3_request"
	text := strings.Join([]string{"TC3-HMAC-SHA256", strconv.FormatInt(now.Unix(), 10), scope, feed.Hash(canonical)}, "\n")
	key := feed.MAC(feed.MAC(feed.MAC([]byte("TC3"+k.Key), day), service), "tc3_request")
	r.Header.Set("Authorization", "TC3-HMAC-SHA256 Credential="+k.ID+"/"+scope+", SignedHeaders=content-type;host, Signature="+
		hex.EncodeToString(feed.MAC(key, text)))
}
