package hub

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// huggingFace reads a model of the Hugging Face Hub. Addresses, variables and the place of the token are those of huggingface_hub
// (constants.py, utils/_auth.py); GET /api/models/NAME gives sha, gated, cardData and safetensors.
func huggingFace(ctx context.Context, w World, ref model.Ref) (*Card, error) {
	s := &site{World: w, ref: ref, endpoint: "https://huggingface.co", variable: "HF_TOKEN", token: w.huggingToken}
	if e := w.first("HF_ENDPOINT"); e != "" {
		s.endpoint = strings.TrimRight(e, "/")
	}
	s.sign = func(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) }
	said, err := s.model(ctx)
	card := &Card{Name: ref.Name, License: said.license()}
	if named, bad := model.ParseRef("hf:" + said.ID); bad == nil && named.Revision == "" {
		card.Name = named.Name
	}
	card.Parameters, card.Packed = said.parameters()
	switch codeOf(err) {
	case "", fetch.CodeNotFound, fetch.CodeMalformed, fetch.CodeStatus: // a mirror may serve the files only
	default:
		return nil, s.about(err, false)
	}
	revision, shown := ref.Revision, ref.Revision
	if commit.MatchString(said.SHA) {
		revision, shown = said.SHA, said.SHA[:shortCommit]
	}
	card.Source = s.source(card.Name, shown)
	if revision == "" {
		revision = "main"
	}
	var fileErr error
	card.Config, fileErr = s.get(ctx, s.endpoint+"/"+ref.Name+"/resolve/"+url.PathEscape(revision)+"/config.json", maxConfig)
	switch {
	case fileErr == nil:
		return card, nil
	case err == nil && codeOf(fileErr) == fetch.CodeNotFound:
		return nil, s.noConfig(fileErr)
	}
	return nil, s.about(fileErr, said.gated())
}

// shortCommit is as much of a commit's name as tells it from every other of a repository.
const shortCommit = 12

var commit = regexp.MustCompile(`^[0-9a-f]{40}$`)

// said is the part that is read of what the hub says.
type said struct {
	ID    string          `json:"id"`
	SHA   string          `json:"sha"`
	Gated json.RawMessage `json:"gated"` // false, "auto" or "manual"
	Card  struct {
		License json.RawMessage `json:"license"` // a name, or a list of them
	} `json:"cardData"`
	Safetensors struct {
		Parameters map[string]int64 `json:"parameters"` // by the format they are stored in
	} `json:"safetensors"`
}

// model asks what the hub knows of the model.
func (s *site) model(ctx context.Context) (said, error) {
	address := s.endpoint + "/api/models/" + s.ref.Name
	if s.ref.Revision != "" {
		address += "/revision/" + url.PathEscape(s.ref.Revision)
	}
	body, err := s.get(ctx, address, maxAbout)
	if err != nil {
		return said{}, err
	}
	var out said
	if err := json.Unmarshal(body, &out); err != nil {
		return said{}, fetch.Malformed(address, err)
	}
	return out, nil
}

func (s said) gated() bool { return len(s.Gated) > 0 && s.Gated[0] == '"' }

func (s said) license() string {
	var one string
	var many []string
	if json.Unmarshal(s.Card.License, &one) != nil && json.Unmarshal(s.Card.License, &many) == nil {
		one = strings.Join(many, ", ")
	}
	return plain(one, 80)
}

// plain makes a hub's words fit for one line.
func plain(text string, most int) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "")))
	return string(runes[:min(len(runes), most)])
}

// unpacked are the formats in which a stored number is one weight. Others hold several, or are told apart by nothing here.
var unpacked = map[string]bool{"F64": true, "F32": true, "F16": true, "BF16": true, "F8_E4M3": true, "F8_E5M2": true}

// parameters sums the checkpoint's numbers. Positions and the like are whole numbers, too, but few of them.
func (s said) parameters() (n unit.Maybe[int64], packed bool) {
	const most = 1 << 50 // a thousand times the largest network
	var sum, others int64
	for format, count := range s.Safetensors.Parameters {
		if count < 0 || count > most {
			return n, false
		}
		if sum += count; !unpacked[format] {
			others += count
		}
	}
	switch {
	case sum == 0:
		return n, false
	case others > sum/1000:
		return n, true
	}
	return unit.Some(sum - others), false
}

// huggingToken is where huggingface_hub looks for a token.
func (w World) huggingToken() string {
	if token := w.first("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"); token != "" {
		return token
	}
	if path := w.first("HF_TOKEN_PATH"); path != "" {
		return w.fromFile(path)
	}
	if home := w.first("HF_HOME"); home != "" {
		return w.fromFile(filepath.Join(home, "token"))
	}
	cache := w.first("XDG_CACHE_HOME")
	if cache == "" {
		if w.Home == "" {
			return ""
		}
		cache = filepath.Join(w.Home, ".cache")
	}
	return w.fromFile(filepath.Join(cache, "huggingface", "token"))
}
