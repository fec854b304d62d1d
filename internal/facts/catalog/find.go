package catalog

import "strings"

// Mode gives the price of an offer in one mode.
func (o *Offer) Mode(m BillingMode) (Price, bool) {
	for _, p := range o.Prices {
		if p.Mode == m {
			return p, true
		}
	}
	return Price{}, false
}

// Find lists the offers of an instance type, in any case, in catalog order. "provider/type" names one provider's.
func (c *Catalog) Find(instanceType string) []*Offer {
	provider, name, both := strings.Cut(instanceType, "/")
	var found []*Offer
	for _, o := range c.Offers {
		whole := strings.EqualFold(o.InstanceType, instanceType)
		if whole || both && strings.EqualFold(o.Provider, provider) && strings.EqualFold(o.InstanceType, name) {
			found = append(found, o)
		}
	}
	return found
}
