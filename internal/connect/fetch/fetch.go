// Package fetch is how anything here asks a server on the network: with a limit on what it reads, retries of what may pass,
// a pace, and care for credentials.
//
// Invariants: nothing but TLS, loopback aside; credentials never go to another host than the one they were given for, and
// never into an error; no answer is read past the limit its request states; every wait ends with the context. Imported by
// connect and front/app.
package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/time/rate"
)

// Request is one question. It may be asked again until it is answered, so it must change nothing at the server.
type Request struct {
	Method string // GET where empty
	URL    string
	Header http.Header
	Body   []byte
	// Sign is called for every attempt, so that a signature's time is the attempt's; it may set headers and the query.
	Sign func(*http.Request) error
	// Secret says that the request carries credentials in its URL, header, body or signature: a redirect to another host is refused.
	Secret bool
	// MaxBytes is the most that is read of an answer, unpacked; 0 is DefaultMaxBytes.
	MaxBytes int64
}

// DefaultMaxBytes is the most that is read of an answer where its request says nothing.
const DefaultMaxBytes = 64 << 20

// Options set up a Client; the zero value serves.
type Options struct {
	// Attempts is how often a request is made at most; 0 is 5.
	Attempts uint
	// Delay is the wait before the second attempt, which doubles with each; 0 is half a second.
	Delay time.Duration
	// Stall is how long a server may send nothing; 0 is a minute.
	Stall time.Duration
	// Cap bounds what any request may read, whatever it states; 0 is no further bound.
	Cap int64
	// Agent names the program to servers.
	Agent string
	// TLS is for servers with certificates of their own; nil trusts what the system does.
	TLS *tls.Config
}

// Client asks servers. It is safe for use by several goroutines.
type Client struct {
	http *http.Client
	opts Options
	pace *rate.Limiter
}

// New makes a client.
func New(o Options) *Client {
	if o.Attempts == 0 {
		o.Attempts = 5
	}
	if o.Delay == 0 {
		o.Delay = 500 * time.Millisecond
	}
	if o.Stall == 0 {
		o.Stall = time.Minute
	}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: o.TLS, ForceAttemptHTTP2: true,
		DialContext:         (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout: 15 * time.Second, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second,
	}
	return &Client{http: &http.Client{Transport: t, CheckRedirect: checkRedirect}, opts: o}
}

// Paced gives a client that makes at most so many requests a second, with bursts of one second's worth.
func (c *Client) Paced(perSecond float64) *Client {
	p := *c
	p.pace = rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))
	return &p
}

// Close lets go of the connections that are kept for further requests.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get gives an answer whole.
func (c *Client) Get(ctx context.Context, r Request) ([]byte, error) {
	var body []byte
	err := c.Stream(ctx, r, func(in io.Reader) error {
		var err error
		body, err = io.ReadAll(in)
		return err
	})
	return body, err
}

// Stream hands an answer to read as it comes. Where the answer breaks off, read is called again with a new answer from its
// start, so it must begin anew each time; an error of its own ends the request.
func (c *Client) Stream(ctx context.Context, r Request, read func(io.Reader) error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval = c.opts.Delay
	wait.MaxInterval = time.Minute
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		return struct{}{}, c.attempt(ctx, r, read)
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(c.opts.Attempts), backoff.WithMaxElapsedTime(0))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var permanent *backoff.PermanentError
	if errors.As(err, &permanent) {
		err = permanent.Unwrap()
	}
	if after, ok := errors.AsType[*retryAfter](err); ok {
		err = after.error
	}
	return err
}

// attempt makes one request. What may pass comes back as it is; what will not, as a permanent error.
func (c *Client) attempt(ctx context.Context, r Request, read func(io.Reader) error) error {
	if c.pace != nil {
		if err := c.pace.Wait(ctx); err != nil {
			return backoff.Permanent(err)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := c.request(ctx, r)
	if err != nil {
		return backoff.Permanent(err)
	}
	stall := time.AfterFunc(c.opts.Stall, func() { cancel(errStalled) })
	defer stall.Stop()
	res, err := c.http.Do(req)
	if err != nil {
		return unanswered(ctx, req, err)
	}
	defer func() { _ = res.Body.Close() }() // what was read stands, however the connection ends
	body := &answer{in: res.Body, req: req, ctx: ctx, left: r.MaxBytes, alive: func() { stall.Reset(c.opts.Stall) }}
	if body.left == 0 {
		body.left = DefaultMaxBytes
	}
	if c.opts.Cap > 0 {
		body.left = min(body.left, c.opts.Cap)
	}
	body.limit = body.left
	if res.StatusCode < 200 || res.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(body, 4<<10)) // a server's own words help; without them its status serves
		err := refused(req, res, text)
		if permanent, ok := errors.AsType[*backoff.PermanentError](err); ok && body.failed != nil {
			return permanent.Unwrap() // its words broke off, and callers may know them
		}
		return err
	}
	err = read(body)
	switch {
	case body.failed != nil: // whatever read made of a broken answer, the answer is the cause
		return body.failed
	case err != nil:
		return backoff.Permanent(err)
	}
	return nil
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, badURL(r.URL)
	}
	if err := Secure(req.URL); err != nil {
		return nil, err
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	if c.opts.Agent != "" {
		req.Header.Set("User-Agent", c.opts.Agent)
	}
	if r.Sign != nil {
		if err := r.Sign(req); err != nil {
			return nil, err
		}
	}
	if r.Secret || r.Sign != nil {
		req = req.WithContext(context.WithValue(ctx, secretKey{}, true))
	}
	return req, nil
}

// Secure says whether an address may be asked: by TLS, or on this machine.
func Secure(u *url.URL) error {
	switch {
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return badURL(u.String())
	case u.User != nil:
		return badURL(u.String())
	case u.Scheme == "https" || loopback(u.Hostname()):
		return nil
	}
	return insecure(u)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback() // a name beneath localhost may be asked of a name server
}

type secretKey struct{}

func secret(req *http.Request) bool {
	is, _ := req.Context().Value(secretKey{}).(bool)
	return is
}

// checkRedirect follows a redirect on the same host, and to another one only by TLS and where the request carries nothing secret.
func checkRedirect(req *http.Request, via []*http.Request) error {
	from, to := via[len(via)-1], req.URL
	if secret(req) { // its path may repeat what was sent
		to = &url.URL{Scheme: to.Scheme, Host: to.Host, User: to.User}
	}
	if len(via) >= 5 {
		return redirected(from.URL, to)
	}
	if err := Secure(to); err != nil {
		return err
	}
	same := strings.EqualFold(req.URL.Host, from.URL.Host) && (req.URL.Scheme == from.URL.Scheme || req.URL.Scheme == "https")
	if secret(req) && !same || loopback(req.URL.Hostname()) && !loopback(from.URL.Hostname()) {
		return redirected(from.URL, to)
	}
	return nil
}

// answer reads a body up to its limit and tells what broke it.
type answer struct {
	in          io.Reader
	req         *http.Request
	ctx         context.Context
	left, limit int64
	alive       func()
	failed      error
}

func (a *answer) Read(p []byte) (int, error) {
	if a.failed != nil {
		return 0, a.failed
	}
	n, err := a.in.Read(p)
	if n > 0 {
		a.alive()
	}
	if a.left -= int64(n); a.left < 0 {
		a.failed = backoff.Permanent(tooLarge(a.req, a.limit))
		return 0, a.failed
	}
	if err != nil && err != io.EOF {
		a.failed = broken(a.ctx, a.req, err)
		err = a.failed
	}
	return n, err
}
