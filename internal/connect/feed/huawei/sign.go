package huawei

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/connect/feed"
)

// keys are an account's credentials; token is there with temporary ones only.
type keys struct {
	ak, sk, token string
}

// credentials are from the environment, as Huawei Cloud's SDKs read it, or from their file: ak, sk and security_token under [basic].
func credentials(w feed.World) keys {
	k := keys{w.Env("HUAWEICLOUD_SDK_AK"), w.Env("HUAWEICLOUD_SDK_SK"), w.Env("HUAWEICLOUD_SDK_SECURITY_TOKEN")}
	if k.ak != "" && k.sk != "" || w.Home == "" {
		return k
	}
	data, err := w.Read(path.Join(w.Home, ".huaweicloud", "credentials"))
	if err != nil { // not there: no credentials
		return keys{}
	}
	section, values := "", map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
		} else if key, value, ok := strings.Cut(line, "="); ok && section == "basic" {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return keys{values["ak"], values["sk"], values["security_token"]}
}

// sign signs a request by SDK-HMAC-SHA256 over its path, query, type, host, time and body.
// Source: https://support.huaweicloud.com/intl/en-us/devg-apisign/api-sign-algorithm-005.html and the pages before it
func (k keys) sign(r *http.Request, body []byte, now time.Time) {
	date := now.UTC().Format("20060102T150405Z")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Sdk-Date", date)
	if k.token != "" {
		r.Header.Set("X-Security-Token", k.token)
	}
	at := r.URL.EscapedPath()
	if !strings.HasSuffix(at, "/") {
		at += "/"
	}
	const signed = "content-type;host;x-sdk-date"
	canonical := strings.Join([]string{
		r.Method, at, query(r.URL), "content-type:application/json", "host:" + r.URL.Host, "x-sdk-date:" + date, "", signed, feed.Hash(string(body)),
	}, "\n")
	mac := feed.MAC([]byte(k.sk), "SDK-HMAC-SHA256\n"+date+"\n"+feed.Hash(canonical))
	r.Header.Set("Authorization", "SDK-HMAC-SHA256 Access="+k.ak+", SignedHeaders="+signed+", Signature="+hex.EncodeToString(mac))
}

// query writes parameters as they are signed: sorted, with every space as %20.
func query(u *url.URL) string { return strings.ReplaceAll(u.Query().Encode(), "+", "%20") }
