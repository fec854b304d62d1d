package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cenkalti/backoff/v5"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// The codes of what goes wrong; each has a message in front. Their addresses are without query, which may hold a key.
const (
	CodeBadURL      = "fetch.bad_url"     // {URL}
	CodeInsecure    = "fetch.insecure"    // {URL}: neither TLS nor this machine
	CodeRedirect    = "fetch.redirect"    // {URL, To}: to another host with credentials, to an insecure one, or without end
	CodeUnreachable = "fetch.unreachable" // {URL, Error}
	CodeStalled     = "fetch.stalled"     // {URL}: nothing came for too long
	CodeTruncated   = "fetch.truncated"   // {URL, Error}: the answer broke off
	CodeDenied      = "fetch.denied"      // {URL, Status, Text}: the credentials were refused, or are missing
	CodeNotFound    = "fetch.not_found"   // {URL}
	CodeBusy        = "fetch.busy"        // {URL, Status, Text}: too many requests, or the server cannot cope
	CodeStatus      = "fetch.status"      // {URL, Status, Text}: any other answer that is none
	CodeTooLarge    = "fetch.too_large"   // {URL, MaxBytes}
	CodeMalformed   = "fetch.malformed"   // {URL, Error}: an answer of another shape than documented
)

var errStalled = errors.New("nothing came for too long")

// Plain is an address without what may be secret.
func Plain(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func fault(code string, u *url.URL, args problem.Args) *problem.Error {
	all := problem.Args{"URL": Plain(u)}
	for k, v := range args {
		all[k] = v
	}
	return problem.New(problem.Internal, code, all)
}

// Malformed is the problem of an answer that is not of the documented shape.
func Malformed(address string, err error) error {
	u, bad := url.Parse(address)
	if bad != nil {
		return badURL(address)
	}
	return fault(CodeMalformed, u, problem.Args{"Error": err.Error()})
}

func badURL(text string) error {
	if u, err := url.Parse(text); err == nil && u.User == nil {
		text = Plain(u)
	}
	return problem.New(problem.Input, CodeBadURL, problem.Args{"URL": text})
}

func insecure(u *url.URL) error {
	return problem.New(problem.Input, CodeInsecure, problem.Args{"URL": Plain(u)})
}

func redirected(from, to *url.URL) error {
	return fault(CodeRedirect, from, problem.Args{"To": Plain(to)})
}

func tooLarge(req *http.Request, limit int64) error {
	return fault(CodeTooLarge, req.URL, problem.Args{"MaxBytes": unit.Bytes(limit)})
}

// inner is what net/http wraps in an error that holds the whole address, its query included.
func inner(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// unanswered is a request that got no answer. A refused redirect and the end of the context will not pass.
func unanswered(ctx context.Context, req *http.Request, err error) error {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return backoff.Permanent(p)
	}
	if cause := context.Cause(ctx); cause != nil && cause != errStalled {
		return backoff.Permanent(cause)
	} else if cause == errStalled {
		return fault(CodeStalled, req.URL, nil)
	}
	return fault(CodeUnreachable, req.URL, problem.Args{"Error": inner(err).Error()})
}

// broken is an answer that ended before its end.
func broken(ctx context.Context, req *http.Request, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == errStalled:
		return fault(CodeStalled, req.URL, nil)
	case cause != nil:
		return backoff.Permanent(cause)
	}
	return fault(CodeTruncated, req.URL, problem.Args{"Error": inner(err).Error()})
}

// StatusError is an answer that is no success, for callers who know the vendor's codes. It prints no more than the status: a
// server may repeat a key in its words.
type StatusError struct {
	Status int
	Body   []byte // its first kilobytes
}

// Error is the status.
func (e *StatusError) Error() string { return http.StatusText(e.Status) }

// retryAfter carries the wait that a server asked for along with the problem.
type retryAfter struct {
	error
	wait *backoff.RetryAfterError
}

func (r *retryAfter) Unwrap() []error { return []error{r.error, r.wait} }

// maxWait is the longest wait a server may ask for; past it the request fails at once.
const maxWait = 2 * time.Minute

// refused is an answer with a status that is no success.
func refused(req *http.Request, res *http.Response, body []byte) error {
	cause := &StatusError{res.StatusCode, body}
	args := problem.Args{"Status": res.StatusCode, "Text": ""}
	if !secret(req) {
		args["Text"] = words(body)
	}
	switch s := res.StatusCode; {
	case s == http.StatusTooManyRequests || s == http.StatusRequestTimeout || s >= 500 && s != http.StatusNotImplemented:
		err := fault(CodeBusy, req.URL, args).Wrap(cause)
		wait, asked := waitOf(res.Header.Get("Retry-After"))
		switch {
		case asked && wait > maxWait:
			return backoff.Permanent(err)
		case asked:
			return &retryAfter{err, &backoff.RetryAfterError{Duration: wait}}
		}
		return err
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return backoff.Permanent(fault(CodeDenied, req.URL, args).Wrap(cause))
	case s == http.StatusNotFound || s == http.StatusGone:
		return backoff.Permanent(fault(CodeNotFound, req.URL, nil).Wrap(cause))
	}
	return backoff.Permanent(fault(CodeStatus, req.URL, args).Wrap(cause))
}

// waitOf reads Retry-After in seconds; a date, which servers of prices do not send, counts as not asked.
func waitOf(header string) (time.Duration, bool) {
	s, err := strconv.Atoi(strings.TrimSpace(header))
	if err != nil || s < 0 {
		return 0, false
	}
	return time.Duration(s) * time.Second, true
}

// words is the start of a server's answer as one printable line.
func words(text []byte) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "")), " ")
	line = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, line)
	if r := []rune(line); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return line
}
