// Package aws reads what AWS says about machines with accelerators: the public price list (on demand, reservations, savings
// plans; also that of the regions in China), the spot prices of the EC2 interface, and the Spot Instance Advisor.
//
// Invariants: a price list is streamed, never held; a region is read whole or lost; an upfront payment becomes an hourly
// price exactly; a price of zero, which the list has for capacity that is reserved otherwise, is never a price. Imported by
// front/app only.
package aws

import (
	"regexp"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// The makers of the sources of AWS.
var (
	// Maker makes the source of kind aws: the price list of the regions outside China, GovCloud and Local Zones included.
	// Source: https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/price-changes.html
	Maker = listMaker("aws", "AWS Price List", worldwide)
	// China makes the source of kind aws-china: the price list of the regions in China, in yuan.
	China = listMaker("aws-china", "AWS China Price List", china)
)

const vendor = "aws" // also of the regions in China

// partition is a part of AWS with accounts and addresses of its own.
type partition struct {
	list   string         // the server of price lists
	offers string         // the path of the list of services
	api    string         // what follows ec2.REGION. in the address of the EC2 interface
	home   string         // a region that every account has
	spot   money.Currency // of spot prices, which come without one
}

var (
	worldwide = partition{"https://pricing.us-east-1.amazonaws.com", "/offers/v1.0/aws/index.json", "amazonaws.com", "us-east-1", money.USD}
	china     = partition{"https://pricing.cn-north-1.amazonaws.com.cn", "/offers/v1.0/cn/index.json", "amazonaws.com.cn", "cn-north-1", money.CNY}
)

// known is the machines that are known already, by type.
func known(w feed.World) map[string]*catalog.Machine {
	machines := map[string]*catalog.Machine{}
	for _, m := range w.Known.Machines {
		if m.Provider == vendor {
			machines[m.InstanceType] = m
		}
	}
	return machines
}

// accelerated are the families that hold accelerators by the letters AWS gives them: P and G for GPUs, Inf and Trn for its
// own chips, DL for others; U-P6e are many machines on one fabric.
// Source: https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
var accelerated = regexp.MustCompile(`^(?:(?:p|g|gr|inf|trn|dl)[0-9]|u-(?:p|trn)[0-9])`)
