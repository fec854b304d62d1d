package accuracy

import (
	"cmp"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// onlineRow reads latencies at an offered rate, or of one request alone.
func onlineRow(s *Set, r Row, m *model.Model) {
	x, why, what := onlineTrial(r, m)
	addLatencies(s, r, x, why, what, [2]string{cmp.Or(present(r, "ttft_ms_mean"), "ttft_ms_p50"), cmp.Or(present(r, "tpot_ms_mean"), "tpot_ms_p50")})
}

// present is the name of a column that a row has, else nothing.
func present(r Row, column string) string {
	if r.Text(column) == "" {
		return ""
	}
	return column
}

// alone is the mode of requests that nobody else shares the engine with.
const alone = "alone"

func onlineTrial(r Row, m *model.Model) (x *trial, why Skip, what string) {
	b, why, what := bulkOf(r, m)
	if why != "" {
		return nil, why, what
	}
	x = &trial{chip: b.Group.Chip, mode: serve.Mode(b.In, b.Out), assumed: b.assumed}
	x.Setup, x.Group, x.In, x.Out, x.Least, x.Count = b.Setup, b.Group, int(b.In), int(b.Out), 1, 1
	x.Spread = serve.Spread{TP: max(1, r.Int("tp"))}
	offered, open := strings.CutPrefix(r.Text("scenario"), "online-qps-")
	switch {
	case !open:
		x.mode, x.Clients, x.Bare = alone, 1, true
	case offered == "INF":
		x.Rate, x.Requests = 1e6, onlineRequests
	default:
		x.Rate, x.Requests = numberAfter("qps "+offered, "qps"), onlineRequests
	}
	if open && !(x.Rate > 0) {
		return nil, NoSize, "rate"
	}
	return x, "", ""
}

// onlineRequests is what the tables of TensorRT-LLM's documentation were measured over.
const onlineRequests = 500
