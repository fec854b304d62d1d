package render

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/say"
)

// shortRejections is how many reasons stand under the table; --why-not lists all.
const shortRejections = 6

// rejections writes what was left out and by how little the nearest missed.
func (d *Plans) rejections(p *Printer) {
	p.Line(p.Bold(p.Say.Text("plan.rejected.head")))
	list := d.Result.Rejected
	hidden := 0
	if !d.WhyNot && len(d.Result.Plans) > 0 && len(list) > shortRejections {
		hidden = len(list) - shortRejections
		list = list[:shortRejections]
	}
	column := 0
	for _, r := range list {
		column = max(column, width(p.Say.Value(r.Reason)))
	}
	digits := 0
	for _, r := range list {
		digits = max(digits, width(p.Say.Value(r.Count)))
	}
	for _, r := range list {
		label := "  " + pad(p.Say.Value(r.Reason), column, false) + "  " + pad(p.Say.Value(r.Count), digits, true) + "  "
		p.Hang(label, missText(r, d.Result.Currency, p.Say), width(label))
		if d.WhyNot && p.Say.Has("reason."+string(r.Reason)+".help") {
			p.Hang("", p.Dim(p.Say.Text("reason."+string(r.Reason)+".help")), 6)
		}
	}
	if hidden > 0 {
		p.Line("  ", p.Dim(p.Say.Say("plan.rejected.more", say.Args{"Count": hidden})))
	}
}

// rejectionLine is one rejection as a line of a list.
func rejectionLine(r plan.Rejection, c money.Currency, s *say.Speaker) string {
	text := s.Value(r.Reason) + ": " + s.Value(r.Count)
	if miss := missText(r, c, s); miss != "" {
		text += " (" + miss + ")"
	}
	return text
}

// missText says which candidate came nearest and by how much it missed.
func missText(r plan.Rejection, c money.Currency, s *say.Speaker) string {
	n := r.Nearest
	if n == nil || n.Offer == nil {
		return ""
	}
	return s.Say("miss.nearest", say.Args{"Candidate": candidate(n, s), "Gap": gap(r.Reason, n, c, s)})
}

// candidate names the offer of a near miss.
func candidate(n *plan.NearMiss, s *say.Speaker) string {
	text := n.Offer.Provider + " " + n.Offer.InstanceType
	if n.Instances > 1 {
		text += " ×" + s.Value(n.Instances)
	}
	if n.Offer.Region != "" {
		text += " " + n.Offer.Region
	}
	if n.Mode != "" {
		text += " " + s.Value(n.Mode)
	}
	return text
}

// gap says by how much a candidate missed, in its own unit and direction.
func gap(reason plan.Reason, n *plan.NearMiss, c money.Currency, s *say.Speaker) string {
	direction := "short"
	if n.Have > n.Want {
		direction = "over"
	}
	id := "miss." + n.Quantity + "." + direction
	if n.Because != nil {
		return s.Warning(*n.Because)
	}
	if reason == plan.BySpot {
		id = "miss.interrupted"
	}
	if !s.Has(id) { // a law, a certificate, a place: wanted, and not there
		want := any(n.Text)
		if reason == plan.ByBilling {
			want = catalog.BillingMode(n.Text)
		}
		if own := "miss.reason." + string(reason); s.Has(own) {
			return s.Say(own, say.Args{"Want": want})
		}
		return s.Say("miss.text", say.Args{"Want": want})
	}
	return s.Say(id, say.Args{
		"Gap":  measure(n.Quantity, math.Abs(n.Want-n.Have), c, s),
		"Have": measure(n.Quantity, n.Have, c, s), "Want": measure(n.Quantity, n.Want, c, s), "Promise": promise(n, s),
	})
}

// promise names the latency that is too slow; empty where the miss is about none.
func promise(n *plan.NearMiss, s *say.Speaker) string {
	if n.Quantity != "seconds" || n.Text == "" {
		return ""
	}
	return s.Text("promise." + n.Text)
}

// measure prints a figure of a near miss by what it counts.
func measure(quantity string, v float64, c money.Currency, s *say.Speaker) string {
	switch quantity {
	case "bytes":
		return unit.Bytes(v).Binary()
	case "hours":
		return s.Hours(unit.Hours(v))
	case "seconds":
		return s.Hours(unit.FromSeconds(v))
	case "money":
		return s.Money(money.Micros(int64(math.Round(v*1e6)), c))
	case "kg":
		return s.Kilograms(unit.Kilograms(v))
	}
	return s.Number(v)
}
