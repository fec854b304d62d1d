package aws

import (
	"context"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
)

const (
	// version is that of the EC2 interface.
	version = "2016-11-15"
	// perSecondEC2 is how often to ask the EC2 interface, all regions together: of an action that changes nothing it takes some
	// twenty a second from an account in each region.
	// Source: https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
	perSecondEC2 = 10
	// maxAnswer bounds an answer: a page of a thousand prices has 400 KB.
	maxAnswer = 16 << 20
)

// The answers, of which the name of the outermost element tells one from another.
type (
	regionsAnswer struct {
		XMLName xml.Name `xml:"DescribeRegionsResponse"`
		Regions []struct {
			Name string `xml:"regionName"`
		} `xml:"regionInfo>item"`
	}
	pricesAnswer struct {
		XMLName xml.Name    `xml:"DescribeSpotPriceHistoryResponse"`
		Prices  []spotPrice `xml:"spotPriceHistorySet>item"`
		Next    string      `xml:"nextToken"`
	}
	spotPrice struct {
		Type    string `xml:"instanceType"`
		Product string `xml:"productDescription"`
		Price   string `xml:"spotPrice"`
		Since   string `xml:"timestamp"`
		Zone    string `xml:"availabilityZone"`
	}
	typesAnswer struct {
		XMLName xml.Name       `xml:"DescribeInstanceTypesResponse"`
		Types   []instanceType `xml:"instanceTypeSet>item"`
	}
	instanceType struct {
		Name       string   `xml:"instanceType"`
		BareMetal  bool     `xml:"bareMetal"`
		VCPU       string   `xml:"vCpuInfo>defaultVCpus"`
		MiB        string   `xml:"memoryInfo>sizeInMiB"`
		DiskGB     string   `xml:"instanceStorageInfo>totalSizeInGB"`
		DiskNVMe   string   `xml:"instanceStorageInfo>nvmeSupport"`
		Network    string   `xml:"networkInfo>networkPerformance"`
		GPUs       []device `xml:"gpuInfo>gpus>item"`
		Neurons    []device `xml:"neuronInfo>neuronDevices>item"`
		Inferences []device `xml:"inferenceAcceleratorInfo>accelerators>item"`
	}
	device struct {
		Count string `xml:"count"`
		Maker string `xml:"manufacturer"`
		Name  string `xml:"name"`
		MiB   string `xml:"memoryInfo>sizeInMiB"`
	}
	refusal struct {
		XMLName xml.Name `xml:"Response"`
		Code    string   `xml:"Errors>Error>Code"`
	}
)

// ask puts a question to the EC2 interface of a region and reads its answer.
func (s *spot) ask(ctx context.Context, keys sdk.CredentialsProvider, region, action string, q url.Values, answer any) error {
	q.Set("Action", action)
	q.Set("Version", version)
	address := s.server(region) + "/?" + q.Encode()
	body, err := s.http.Get(ctx, fetch.Request{
		URL: address, Secret: true, MaxBytes: maxAnswer,
		Sign: func(r *http.Request) error { return sign(r, keys, "ec2", region, s.world.Now()) },
	})
	if err != nil {
		return feed.Told(err, codeOf)
	}
	if err := xml.Unmarshal(body, answer); err != nil {
		return fetch.Malformed(address, err)
	}
	return nil
}

// closed says whether a region refused because the account has not opened it. One whose keys are wrong is refused in the same
// words, but everywhere.
func closed(err error) bool {
	status, ok := errors.AsType[*fetch.StatusError](err)
	if !ok {
		return false
	}
	code := codeOf(status.Body)
	return code == "AuthFailure" || code == "OptInRequired"
}

// codeOf is the code in a refusal; empty where there is none.
func codeOf(answer []byte) string {
	var r refusal
	if xml.Unmarshal(answer, &r) != nil {
		return ""
	}
	return r.Code
}
