package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The hub that transcripts meet: a page for each path, and a status for each that refuses.
var hubPages = map[string]string{
	"/api/models/Acme/Duck-1B":           hubAbout("Acme/Duck-1B", "false", 1235814400),
	"/Acme/Duck-1B/resolve/SHA":          hubConfig("llama", 2048),
	"/api/models/Acme/Gap":               hubAbout("Acme/Gap", "false", 1300000000),
	"/Acme/Gap/resolve/SHA":              hubConfig("llama", 2048),
	"/api/models/Acme/Odd":               `{"id":"Acme/Odd","sha":"` + hubSHA + `","safetensors":{"parameters":{"I32":9000,"F16":1000}}}`,
	"/Acme/Odd/resolve/SHA":              hubConfig("platypus", 2048),
	"/api/models/Acme/Broken":            hubAbout("Acme/Broken", "false", 10),
	"/Acme/Broken/resolve/SHA":           hubConfig("llama", -1),
	"/api/models/Acme/Foreign":           hubAbout("Acme/Foreign", "false", 10),
	"/Acme/Foreign/resolve/SHA":          hubConfig("t5", 512),
	"/api/models/Acme/Locked":            hubAbout("Acme/Locked", `"manual"`, 10),
	"/Acme/Locked/resolve/SHA":           "401",
	"/api/models/Acme/Private":           "401",
	"/api/models/Acme/Gguf":              hubAbout("Acme/Gguf", "false", 10),
	"/api/models/Acme/Page":              "<html>",
	"/Acme/Page/resolve/main":            "<html>sign in to the network</html>",
	"/api/v1/models/Studio/Duck-1B/repo": hubConfig("llama", 2048),
}

const hubSHA = "0123456789abcdef0123456789abcdef01234567"

func hubAbout(id, gated string, parameters int64) string {
	return fmt.Sprintf(`{"id":%q,"sha":%q,"gated":%s,"cardData":{"license":"apache-2.0"},"safetensors":{"parameters":{"BF16":%d},"total":%d}}`,
		id, hubSHA, gated, parameters, parameters)
}

func hubConfig(kind string, width int) string {
	return fmt.Sprintf(`{
  "model_type": %q, "torch_dtype": "bfloat16", "num_hidden_layers": 16, "hidden_size": %d, "num_attention_heads": 32, "num_key_value_heads": 8,
  "head_dim": 64, "intermediate_size": 8192, "vocab_size": 128256, "max_position_embeddings": 131072, "tie_word_embeddings": true, "bos_token_id": 1
}`, kind, width)
}

// startHub serves hubPages as Hugging Face and ModelScope do, and gives its address.
func startHub(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimSuffix(strings.Replace(r.URL.Path, hubSHA, "SHA", 1), "/config.json")
		text, ok := hubPages[path]
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case text == "401" && r.Header.Get("Authorization") == "Bearer hf_good":
			_, _ = io.WriteString(w, hubConfig("llama", 2048))
		case text == "401":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = io.WriteString(w, text)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}
