package app

import (
	"slices"

	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/alibaba"
	"github.com/rackrate/rackrate/internal/connect/feed/aws"
	"github.com/rackrate/rackrate/internal/connect/feed/azure"
	"github.com/rackrate/rackrate/internal/connect/feed/contract"
	"github.com/rackrate/rackrate/internal/connect/feed/gcp"
	"github.com/rackrate/rackrate/internal/connect/feed/huawei"
	"github.com/rackrate/rackrate/internal/connect/feed/lambda"
	"github.com/rackrate/rackrate/internal/connect/feed/oci"
	"github.com/rackrate/rackrate/internal/connect/feed/runpod"
	"github.com/rackrate/rackrate/internal/connect/feed/skypilot"
	"github.com/rackrate/rackrate/internal/connect/feed/tencent"
	"github.com/rackrate/rackrate/internal/connect/feed/vast"
)

// makers are the kinds of sources there are, in the order they are listed.
func makers() []feed.Maker {
	return []feed.Maker{
		aws.Maker, aws.China, aws.Spot, aws.Advisor, azure.Maker, gcp.Maker, gcp.Table, oci.Maker,
		alibaba.Maker, alibaba.PageMaker, tencent.Maker, huawei.Maker, lambda.Maker, runpod.Maker, vast.Maker, skypilot.Maker, contract.Maker,
	}
}

// makerOf gives the maker of a kind; whoever asks has it from makers.
func makerOf(kind string) feed.Maker {
	return makers()[slices.IndexFunc(makers(), func(m feed.Maker) bool { return m.Kind == kind })]
}
