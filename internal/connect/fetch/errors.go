package fetch

import (
	"context"
	"crypto/tls"
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

// badURL shows what it can of a text that no address may be: neither user, password nor query.
func badURL(text string) error {
	shown := text
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		shown = text[:i]
	}
	if strings.Contains(text, "@") { // where not before the query, the password may hold what looks like its start
		scheme, _, _ := strings.Cut(shown, "//")
		_, host, _ := strings.Cut(shown, "@")
		shown = scheme + "//…@" + host[strings.LastIndexByte(host, '@')+1:]
	}
	return problem.New(problem.Input, CodeBadURL, problem.Args{"URL": shown})
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

// inner says what net/http wraps in an error that holds the whole address, its query included. Where the request carries
// something secret it ends before a quotation, in which net/http repeats what the server wrote.
func inner(req *http.Request, err error) string {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	text := err.Error()
	if i := strings.IndexByte(text, '"'); i >= 0 && secret(req) {
		text = text[:i] + "…"
	}
	return text
}

// unanswered is a request that got no answer. A refused redirect, a certificate that is none and the end of the context will
// not pass.
func unanswered(ctx context.Context, req *http.Request, err error) error {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return backoff.Permanent(p)
	}
	if cause := context.Cause(ctx); cause != nil && cause != errStalled {
		return backoff.Permanent(cause)
	} else if cause == errStalled {
		return fault(CodeStalled, req.URL, nil)
	}
	failed := fault(CodeUnreachable, req.URL, problem.Args{"Error": inner(req, err)})
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return backoff.Permanent(failed)
	}
	return failed
}

// broken is an answer that ended before its end.
func broken(ctx context.Context, req *http.Request, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == errStalled:
		return fault(CodeStalled, req.URL, nil)
	case cause != nil:
		return backoff.Permanent(cause)
	}
	return fault(CodeTruncated, req.URL, problem.Args{"Error": inner(req, err)})
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
		wait, asked := waitOf(res.Header.Get("Retry-After"), time.Now())
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

// waitOf reads Retry-After, in seconds or as a date.
// Source: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
func waitOf(header string, now time.Time) (time.Duration, bool) {
	header = strings.TrimSpace(header)
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now)), true
	}
	s, err := strconv.ParseUint(header, 10, 31) // the most of 31 bits where it is more: 68 years
	if err != nil && !errors.Is(err, strconv.ErrRange) {
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
