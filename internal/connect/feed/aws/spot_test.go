package aws_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/aws"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

const (
	keyID  = "AKIDEXAMPLE"
	secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	token  = "session/token+of=mine"
)

var keys = map[string]string{"AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": token}

func spotItem(kind, zone, price, since, product string) string {
	return fmt.Sprintf("<item><instanceType>%s</instanceType><productDescription>%s</productDescription><spotPrice>%s</spotPrice>"+
		"<timestamp>%s</timestamp><availabilityZone>%s</availabilityZone></item>", kind, product, price, since, zone)
}

// market is the EC2 interface of some regions by their name in the path, a few rows to the page.
type market struct {
	items  map[string][]string
	refuse map[string]string // regions that answer with a code
	types  string
	asked  []string
}

func (m *market) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	region := strings.Trim(r.URL.Path, "/")
	q := r.URL.Query()
	m.asked = append(m.asked, region+" "+q.Get("Action"))
	fail := func(status int, code string) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>1</RequestID></Response>`,
			code, r.Header.Get("Authorization"))
	}
	switch why := wellSigned(r, region); {
	case why != "":
		fail(http.StatusUnauthorized, "AuthFailure")
		return
	case m.refuse[region] != "":
		fail(http.StatusUnauthorized, m.refuse[region])
		return
	case q.Get("Version") != "2016-11-15":
		fail(http.StatusBadRequest, "InvalidAction")
		return
	}
	const namespace = `xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"`
	switch q.Get("Action") {
	case "DescribeRegions":
		_, _ = fmt.Fprintf(w, `<DescribeRegionsResponse %s><requestId>1</requestId><regionInfo>`, namespace)
		for name := range m.items {
			_, _ = fmt.Fprintf(w, "<item><regionName>%s</regionName><regionEndpoint>ec2.%s.amazonaws.com</regionEndpoint><optInStatus>opt-in-not-required</optInStatus></item>", name, name)
		}
		_, _ = io.WriteString(w, "</regionInfo></DescribeRegionsResponse>")
	case "DescribeSpotPriceHistory":
		if q.Get("StartTime") != "2026-06-01T12:00:00Z" || q.Get("MaxResults") != "1000" || q.Get("ProductDescription.1") != "Linux/UNIX" {
			fail(http.StatusBadRequest, "InvalidParameterValue")
			return
		}
		from, _ := strconv.Atoi(q.Get("NextToken"))
		end := min(from+3, len(m.items[region]))
		next := ""
		if end < len(m.items[region]) {
			next = strconv.Itoa(end)
		}
		_, _ = fmt.Fprintf(w, `<DescribeSpotPriceHistoryResponse %s><requestId>1</requestId><spotPriceHistorySet>%s</spotPriceHistorySet><nextToken>%s</nextToken></DescribeSpotPriceHistoryResponse>`,
			namespace, strings.Join(m.items[region][from:end], ""), next)
	case "DescribeInstanceTypes":
		if q.Get("InstanceType.1") != "p9.48xlarge" || q.Get("InstanceType.2") != "" || m.types == "" {
			fail(http.StatusForbidden, "UnauthorizedOperation")
			return
		}
		_, _ = fmt.Fprintf(w, `<DescribeInstanceTypesResponse %s><instanceTypeSet>%s</instanceTypeSet></DescribeInstanceTypesResponse>`, namespace, m.types)
	}
}

// wellSigned signs a request as it came once more, and says what differs.
func wellSigned(r *http.Request, region string) string {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return "no date"
	}
	again, err := http.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), nil)
	if err != nil {
		return err.Error()
	}
	err = v4.NewSigner().SignHTTP(r.Context(), sdk.Credentials{AccessKeyID: keyID, SecretAccessKey: secret, SessionToken: r.Header.Get("X-Amz-Security-Token")},
		again, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "ec2", region, at)
	if err != nil || again.Header.Get("Authorization") != r.Header.Get("Authorization") {
		return "another signature"
	}
	return ""
}

func markets() *market {
	const old, now = "2026-05-28T01:40:10.000Z", "2026-06-01T11:40:10+00:00"
	const linux, vpc = "Linux/UNIX", "Linux/UNIX (Amazon VPC)"
	return &market{
		items: map[string][]string{
			"us-east-1": {
				spotItem("m5.large", "us-east-1f", "0.043700", old, linux),
				spotItem("p5.48xlarge", "us-east-1a", "19.0", old, linux),
				spotItem("p5.48xlarge", "us-east-1a", "18.172500", now, vpc),
				spotItem("p5.48xlarge", "us-east-1b", "20.1", old, linux),
				spotItem("p5.48xlarge", "us-east-1b", "20.0", old, vpc),
				spotItem("g4dn.xlarge", "us-east-1a", "0.1578", old, "Windows"),
				spotItem("p9.48xlarge", "us-east-1c", "60", old, linux),
			},
			"us-west-2": {
				spotItem("g4dn.xlarge", "us-west-2-lax-1a", "0.25", old, linux),
				spotItem("inf2.xlarge", "us-west-2a", "0.2", old, linux),
				spotItem("inf2.xlarge", "us-west-2b", "0.000000", old, linux),
			},
		},
		types: `<item><instanceType>p9.48xlarge</instanceType><bareMetal>false</bareMetal><vCpuInfo><defaultVCpus>256</defaultVCpus></vCpuInfo>
			<memoryInfo><sizeInMiB>4194304</sizeInMiB></memoryInfo><instanceStorageInfo><totalSizeInGB>30400</totalSizeInGB><nvmeSupport>required</nvmeSupport></instanceStorageInfo>
			<networkInfo><networkPerformance>8x 800 Gigabit</networkPerformance></networkInfo>
			<gpuInfo><gpus><item><name>R200</name><manufacturer>NVIDIA</manufacturer><count>8</count><memoryInfo><sizeInMiB>294912</sizeInMiB></memoryInfo></item></gpus></gpuInfo></item>`,
	}
}

var wantSpot = []string{
	"aws p5.48xlarge us-east-1/us-east-1a 0 x - spot 18.1725 USD",
	"aws p5.48xlarge us-east-1/us-east-1b 0 x - spot 20.10 USD",
	"aws p9.48xlarge us-east-1/us-east-1c 8 x NVIDIA R200 spot 60.00 USD",
	"aws g4dn.xlarge us-west-2-lax-1/us-west-2-lax-1a 0 x - spot 0.25 USD",
	"aws inf2.xlarge us-west-2/us-west-2a 0 x - spot 0.20 USD",
}

func TestSpot(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(aws.Spot, feed.Config{Endpoint: address + "/{region}"}, w)
		},
		Server: func(*testing.T, func() string) http.Handler { m := markets(); return http.HandlerFunc(m.serve()) },
		Env:    keys, Secrets: []string{secret, token},
		Want: wantSpot, Part: "GET /us-west-2/", LostRegion: "us-west-2",
	})
}

// serve answers one request at a time.
func (m *market) serve() http.HandlerFunc {
	turn := make(chan struct{}, 1)
	return func(w http.ResponseWriter, r *http.Request) {
		turn <- struct{}{}
		defer func() { <-turn }()
		m.ServeHTTP(w, r)
	}
}

func readSpot(t *testing.T, m *market, c feed.Config, w feed.World) (*feedtest.Sink, error) {
	t.Helper()
	server := httptest.NewServer(m.serve())
	t.Cleanup(server.Close)
	c.Endpoint = server.URL + "/{region}"
	var got feedtest.Sink
	err := feedtest.Open(aws.Spot, c, w).Fetch(t.Context(), &got)
	return &got, err
}

func TestSpotRowsAddUp(t *testing.T) {
	m := markets()
	m.items["us-east-1"] = append(m.items["us-east-1"], spotItem("p5.48xlarge", "eu-west-1a", "1", "2026-05-28T01:40:10Z", "Linux/UNIX"),
		spotItem("p5.48xlarge", "us-east-1d", "1,5", "2026-05-28T01:40:10Z", "Linux/UNIX"), spotItem("p5.48xlarge", "us-east-1d", "1.5", "yesterday", "Linux/UNIX"))
	got, err := readSpot(t, m, feed.Config{}, feedtest.World(t, keys, fetch.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, r := range got.Rejections {
		kinds = append(kinds, fmt.Sprint(r.Kind, " ", r.InstanceType, " ", r.Region, " ", r.Args["Column"]))
	}
	slices.Sort(kinds)
	wantKinds := []string{
		"row p5.48xlarge us-east-1 availabilityZone", "row p5.48xlarge us-east-1 spotPrice", "row p5.48xlarge us-east-1 timestamp",
		"zero_price inf2.xlarge us-west-2 <nil>",
	}
	if !slices.Equal(kinds, wantKinds) {
		t.Errorf("rejected %q", kinds)
	}
	if total := len(m.items["us-east-1"]) + len(m.items["us-west-2"]); len(got.Listings)+len(got.Rejections)+got.Passed != total {
		t.Errorf("%d listed, %d rejected, %d passed of %d", len(got.Listings), len(got.Rejections), got.Passed, total)
	}
	for _, l := range got.Listings {
		if l.InstanceType == "p9.48xlarge" && (l.RAM.Or(0) != 4*unit.TiB || l.VCPU.Or(0) != 256 || l.NVMe.Or(0) != 30400*unit.GB || l.NetworkGbps.Or(0) != 6400 || l.MiB != 294912) {
			t.Errorf("%+v", l)
		}
	}
	var covered []string
	for _, c := range got.Covered {
		covered = append(covered, c.Region+" "+string(c.Mode))
	}
	slices.Sort(covered)
	if want := []string{"us-west-2 spot", "us-west-2-lax-1 spot"}; !slices.Equal(covered, want) {
		t.Errorf("covers %v", covered)
	}
}

// Keys that may not ask for types still bring the prices of new ones.
func TestTypesThatMayNotBeAsked(t *testing.T) {
	m := markets()
	m.types = ""
	got, err := readSpot(t, m, feed.Config{Regions: []string{"us-east-1"}}, feedtest.World(t, keys, fetch.Options{}))
	if err != nil || !slices.Contains(got.Lines(), "aws p9.48xlarge us-east-1/us-east-1c 0 x - spot 60.00 USD") {
		t.Errorf("%v, %v", got.Lines(), err)
	}
	if slices.Contains(m.asked, "us-east-1 DescribeRegions") {
		t.Errorf("asked %v, though the regions are named", m.asked)
	}
}

// A region that is not open to the account is skipped with a note; keys that are wrong everywhere are an error.
func TestClosedRegions(t *testing.T) {
	for _, code := range []string{"AuthFailure", "OptInRequired"} {
		m := markets()
		m.refuse = map[string]string{"us-west-2": code}
		got, err := readSpot(t, m, feed.Config{}, feedtest.World(t, keys, fetch.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Listings) != 3 || len(got.Losses) != 1 || got.Losses[0].Region != "us-west-2" || problem.All(got.Losses[0].Why)[0].Code != "feed.aws_region_closed" {
			t.Errorf("%s: %v, lost %v", code, got.Lines(), got.Losses)
		}
	}
	for _, c := range []feed.Config{{}, {Regions: []string{"us-east-1", "us-west-2"}}} {
		wrong := map[string]string{"AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": "wrong"}
		_, err := readSpot(t, markets(), c, feedtest.World(t, wrong, fetch.Options{}))
		if p := problem.All(err); len(p) != 1 || p[0].Code != fetch.CodeDenied {
			t.Errorf("%v", err)
		}
	}
	m := markets()
	m.refuse = map[string]string{"us-west-2": "UnauthorizedOperation"}
	got, err := readSpot(t, m, feed.Config{}, feedtest.World(t, keys, fetch.Options{}))
	if p := problem.All(got.Losses[0].Why)[0]; err != nil || p.Code != fetch.CodeDenied || p.Args["Text"] != "UnauthorizedOperation" {
		t.Errorf("%v, lost %v", err, got.Losses)
	}
}

func TestSpotAnswersThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ answer, code, says string }{
		"leads on without end": {`<DescribeSpotPriceHistoryResponse><spotPriceHistorySet/><nextToken>x</nextToken></DescribeSpotPriceHistoryResponse>`, fetch.CodeMalformed, "without end"},
		"nothing":              {`<DescribeSpotPriceHistoryResponse><spotPriceHistorySet/></DescribeSpotPriceHistoryResponse>`, "feed.empty", "us-east-1"},
		"another answer":       {`<DescribeRegionsResponse/>`, fetch.CodeMalformed, "DescribeSpotPriceHistoryResponse"},
	} {
		var asked atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			_, _ = io.WriteString(w, c.answer)
		}))
		var got feedtest.Sink
		err := feedtest.Open(aws.Spot, feed.Config{Endpoint: server.URL, Regions: []string{"us-east-1"}}, feedtest.World(t, keys, fetch.Options{})).Fetch(t.Context(), &got)
		server.Close()
		if p := problem.All(err); len(p) != 1 || p[0].Code != c.code || !strings.Contains(p[0].Error(), c.says) || len(got.Covered) > 0 || asked.Load() > 2 {
			t.Errorf("%s: %v after %d requests", name, err, asked.Load())
		}
	}
}

// The name of a region becomes part of an address that a signature is sent to, so it may hold nothing else.
func TestRegionNames(t *testing.T) {
	for _, name := range []string{"evil.example/x", "us-east-1.evil.example", "US-EAST-1", "", "us-east-1#", "us-west-2-lax-1"} {
		m := markets()
		m.items = map[string][]string{name: m.items["us-east-1"]}
		if _, err := readSpot(t, m, feed.Config{}, feedtest.World(t, keys, fetch.Options{})); err == nil || problem.All(err)[0].Code != fetch.CodeMalformed {
			t.Errorf("%q: %v", name, err)
		}
		_, err := aws.Spot.New(feed.Config{Name: "s", Kind: "aws-spot", Regions: []string{name}}, feedtest.World(t, keys, fetch.Options{}))
		if p := problem.All(err); len(p) != 1 || p[0].Code != "feed.bad_setting" {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSpotInChina(t *testing.T) {
	m := &market{items: map[string][]string{"cn-north-1": {spotItem("g4dn.xlarge", "cn-north-1a", "1.5", "2026-05-28T01:40:10Z", "Linux/UNIX")}}}
	got, err := readSpot(t, m, feed.Config{Options: map[string]string{"partition": "aws-cn"}}, feedtest.World(t, keys, fetch.Options{}))
	if err != nil || !slices.Equal(got.Lines(), []string{"aws g4dn.xlarge cn-north-1/cn-north-1a 0 x - spot 1.50 CNY"}) {
		t.Errorf("%v, %v", got.Lines(), err)
	}
	if m.asked[0] != "cn-north-1 DescribeRegions" {
		t.Errorf("asked %v", m.asked)
	}
}

func TestSpotSettings(t *testing.T) {
	_, err := aws.Spot.New(feed.Config{
		Name: "s", Kind: "aws-spot", File: "s.yaml", Line: 4, Currency: "USD", Options: map[string]string{"partition": "mars", "imds": "yes", "profil": "x"},
	}, feedtest.World(t, keys, fetch.Options{}))
	var codes []string
	for _, p := range problem.All(err) {
		if codes = append(codes, p.Code); p.Line != 4 {
			t.Errorf("%v is not at its place", p)
		}
	}
	if !slices.Equal(codes, []string{"feed.not_taken", "feed.unknown_option", "feed.bad_setting", "feed.bad_setting"}) {
		t.Errorf("%v", err)
	}
}

// TestKeys looks for keys where AWS's own tools keep them. The variables of this process must not count: only World's do.
func TestKeys(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(home, ".aws", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	static := "aws_access_key_id = " + keyID + "\naws_secret_access_key = " + secret + "\n"
	write("credentials", "[default]\n"+static+"[work]\n"+static)
	write("config", "[profile made]\ncredential_process = echo '{\"Version\":1,\"AccessKeyId\":\""+keyID+"\",\"SecretAccessKey\":\""+secret+"\"}'\n"+
		"[profile ended]\ncredential_process = sh -c 'echo "+secret+"; exit 1'\n[profile idle]\nregion = us-east-1\n")
	elsewhere := write("elsewhere", "[work]\n"+static)
	for name, c := range map[string]struct {
		env     map[string]string
		home    string
		profile string
		code    string // of the fault; empty where there are keys
	}{
		"environment":                 {keys, "", "", ""},
		"default profile":             {nil, home, "", ""},
		"profile of the environment":  {map[string]string{"AWS_PROFILE": "work"}, home, "", ""},
		"profile of the settings":     {map[string]string{"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y"}, home, "work", ""},
		"a program":                   {map[string]string{"AWS_PROFILE": "made"}, home, "", ""},
		"another file":                {map[string]string{"AWS_SHARED_CREDENTIALS_FILE": elsewhere, "AWS_PROFILE": "work"}, "", "", ""},
		"half":                        {map[string]string{"AWS_ACCESS_KEY_ID": keyID}, "", "", feed.CodeNoCredentials},
		"none":                        {nil, "", "", feed.CodeNoCredentials},
		"none at home":                {nil, t.TempDir(), "", feed.CodeNoCredentials},
		"a profile that is not":       {map[string]string{"AWS_PROFILE": "idle2"}, home, "", feed.CodeNoCredentials},
		"a profile without keys":      {map[string]string{"AWS_PROFILE": "idle"}, home, "", feed.CodeNoCredentials},
		"a named profile that is not": {nil, home, "wrok", "feed.bad_setting"},
		"a program that fails":        {map[string]string{"AWS_PROFILE": "ended"}, home, "", "feed.aws_keys"},
		"a file that is a folder":     {map[string]string{"AWS_SHARED_CREDENTIALS_FILE": home, "AWS_PROFILE": "work"}, "", "", "feed.aws_keys"},
	} {
		t.Run(name, func(t *testing.T) {
			w := feedtest.World(t, c.env, fetch.Options{})
			w.Home = c.home
			options := map[string]string{}
			if c.profile != "" {
				options["profile"] = c.profile
			}
			got, err := readSpot(t, markets(), feed.Config{Regions: []string{"us-west-2"}, Options: options}, w)
			if c.code == "" {
				if err != nil || len(got.Listings) != 2 {
					t.Errorf("%v, %v", got.Lines(), err)
				}
				return
			}
			if p := problem.All(err); len(p) != 1 || p[0].Code != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
			if strings.Contains(fmt.Sprintf("%v %+v", err, problem.All(err)), secret) {
				t.Errorf("an error has the secret: %v", err)
			}
		})
	}
}

const advice = `{"global_rate":"<10%","instance_types":{"p5.48xlarge":{"emr":true,"cores":192,"ram_gb":2048.0}},
	"ranges":[{"index":0,"label":"<5%","dots":0,"max":5},{"index":1,"label":"5-10%","dots":1,"max":11},{"index":2,"label":"10-15%","dots":2,"max":16},
		{"index":3,"label":"15-20%","dots":3,"max":22},{"index":4,"label":">20%","dots":4,"max":100}],
	"spot_advisor":{"us-east-1":{"Linux":{"p5.48xlarge":{"s":67,"r":4},"m5.large":{"s":50,"r":0},"g4dn.xlarge":{"s":-3,"r":1},"p9.48xlarge":{"r":0,"s":-300}},
			"Windows":{"p5.48xlarge":{"s":40,"r":0}}},
		"eu-west-1":{"Linux":{"inf2.xlarge":{"s":70,"r":3}}}}}`

func TestAdvisorKeepsTheContract(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(aws.Advisor, feed.Config{Endpoint: address}, w)
		},
		Server: func(*testing.T, func() string) http.Handler {
			return serve(map[string]string{"/spot-advisor-data.json": advice})
		},
	})
}

func TestAdvisor(t *testing.T) {
	for _, c := range []struct {
		regions []string
		bands   []string
		passed  int
		lost    int
	}{
		{nil, []string{
			"aws eu-west-1 inf2.xlarge 15-20 70 2026-06-01", "aws us-east-1 g4dn.xlarge 5-10 -3 2026-06-01",
			"aws us-east-1 p5.48xlarge >20 67 2026-06-01", "aws us-east-1 p9.48xlarge <5 ? 2026-06-01",
		}, 2, 0},
		{[]string{"eu-west-1", "eu-west-9"}, []string{"aws eu-west-1 inf2.xlarge 15-20 70 2026-06-01"}, 5, 1},
	} {
		got, err := read(t, aws.Advisor, map[string]string{"/spot-advisor-data.json": advice}, feed.Config{Regions: c.regions})
		if err != nil {
			t.Fatal(err)
		}
		var bands []string
		for _, b := range got.Bands {
			savings := "?"
			if v, ok := b.Savings.Get(); ok {
				savings = fmt.Sprint(v)
			}
			bands = append(bands, strings.Join([]string{b.Provider, b.Region, b.InstanceType, b.Range, savings, b.AsOf}, " "))
			if b.Source != "aws-advisor" {
				t.Errorf("%+v", b)
			}
		}
		if !slices.Equal(bands, c.bands) || got.Passed != c.passed || len(got.Losses) != c.lost || len(got.Listings)+len(got.Covered) > 0 {
			t.Errorf("%q, %d passed, lost %v", bands, got.Passed, got.Losses)
		}
	}
}

func TestAdviceThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		old, new string
		code     string
	}{
		"another range":  {"5-10%", "5-12%", fetch.CodeMalformed},
		"no ranges":      {`"ranges":[`, `"other":[`, fetch.CodeMalformed},
		"beyond ranges":  {`"r":4`, `"r":5`, fetch.CodeMalformed},
		"without ranges": {`"r":4`, `"q":4`, fetch.CodeMalformed},
		"no regions":     {"spot_advisor", "advisor", "feed.empty"},
		"no Linux":       {"Linux", "Plan9", "feed.empty"},
	} {
		got, err := read(t, aws.Advisor, map[string]string{"/spot-advisor-data.json": strings.ReplaceAll(advice, c.old, c.new)}, feed.Config{})
		if p := problem.All(err); len(p) != 1 || p[0].Code != c.code || len(got.Bands) > 0 {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	_, err := read(t, aws.Advisor, map[string]string{"/spot-advisor-data.json": advice}, feed.Config{Regions: []string{"us-esat-1"}})
	if p := problem.All(err); len(p) != 1 || p[0].Code != "feed.no_region" || !slices.Contains(p[0].Suggest, "us-east-1") {
		t.Errorf("%v", err)
	}
}

func TestMakers(t *testing.T) {
	for _, m := range []feed.Maker{aws.Maker, aws.China, aws.Spot, aws.Advisor} {
		if m.Kind == "" || m.Title == "" || !strings.HasPrefix(m.Reference, "https://") || m.Licence == "" || m.Layer != catalog.Vendor || m.Keyless == (m.Kind == "aws-spot") {
			t.Errorf("%+v", m)
		}
	}
}
