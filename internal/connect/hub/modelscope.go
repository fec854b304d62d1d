package hub

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// modelScope reads a model of ModelScope. Addresses, variables and the cookie that carries the token are those of its own Python
// client (modelscope/hub: file_download.py, api.py, constants.py). It counts no parameters.
func modelScope(ctx context.Context, w World, ref model.Ref) (*Card, error) {
	s := &site{World: w, ref: ref, endpoint: "https://www.modelscope.cn", variable: "MODELSCOPE_API_TOKEN"}
	if e := w.first("MODELSCOPE_ENDPOINT"); e != "" {
		s.endpoint = strings.TrimRight(e, "/")
	} else if domain := w.first("MODELSCOPE_DOMAIN"); domain != "" {
		s.endpoint = "https://" + strings.Trim(domain, "/")
	}
	s.token = func() string { return w.first(s.variable) }
	s.sign = func(h http.Header, token string) {
		h.Set("Cookie", (&http.Cookie{Name: "m_session_id", Value: token}).String())
	}
	revision := ref.Revision
	if revision == "" {
		revision = "master"
	}
	query := url.Values{"Revision": {revision}, "FilePath": {"config.json"}}
	config, err := s.get(ctx, s.endpoint+"/api/v1/models/"+ref.Name+"/repo?"+query.Encode(), maxConfig)
	if err != nil {
		return nil, s.about(err, false)
	}
	if refusal(config) {
		return nil, problem.New(problem.NoMatch, "hub.not_found", problem.Args{"Name": ref.Name, "Host": s.host(), "Revision": ref.Revision})
	}
	return &Card{Name: ref.Name, Source: s.source(ref.Name, ref.Revision), Config: config}, nil
}

// refusal says whether an answer is the envelope that ModelScope wraps its faults in, which may come with status 200 where a
// revision or file is not there.
func refusal(body []byte) bool {
	var e struct {
		Code    *int64
		Success *bool
	}
	return json.Unmarshal(body, &e) == nil && e.Code != nil && e.Success != nil && !*e.Success
}
