package feed

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Follow reads a link to a list's next page, which must lead forward on the server that was asked; a link may be without its host.
func Follow(from *url.URL, link string) (*url.URL, error) {
	to, err := url.Parse(link)
	if err != nil {
		return nil, errors.New("the link to the next page is no address") // which the cause would repeat
	}
	to = from.ResolveReference(to)
	if to.Scheme != from.Scheme || to.User != nil || hostOf(to) != hostOf(from) {
		return nil, fmt.Errorf("the link to the next page leads to %s", to.Host)
	}
	if to.RequestURI() == from.RequestURI() {
		return nil, errors.New("the link to the next page leads back to the same page")
	}
	return to, nil
}

// hostOf is a server with its port: some services write :443 in their links.
func hostOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}
