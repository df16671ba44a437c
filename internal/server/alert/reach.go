package alert

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// ErrRefused means that a message will never be sent, however often it is tried.
var ErrRefused = errors.New("refused")

// privatePrefixes lists addresses that a server can reach and the internet cannot. A user who may add a hook must
// not reach them through the server.
var privatePrefixes = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "127.0.0.0/8", "::1/128")

// reservedPrefixes lists addresses that no hook may have: this network, link-local ones (which include cloud
// metadata), tests, documentation, encodings of other addresses, and unassigned ones.
var reservedPrefixes = prefixes("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		list[i] = netip.MustParsePrefix(t)
	}
	return list
}

// reachable returns an error for an address that messages must not be sent to.
func reachable(addr netip.Addr, private bool) error {
	addr = addr.Unmap()
	contains := func(list []netip.Prefix) bool {
		return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
	}
	switch {
	case contains(privatePrefixes):
		if private {
			return nil
		}
		return fmt.Errorf("%w: %s is a private address; the operator of the server can allow these (hooks.allow_private)", ErrRefused, addr)
	case addr.Zone() != "", contains(reservedPrefixes), addr.Is6() && !netip.MustParsePrefix("2000::/3").Contains(addr):
		return fmt.Errorf("%w: sending to %s is not allowed", ErrRefused, addr)
	}
	return nil
}

// newHTTP returns a client that connects only to public addresses. It checks the address when it dials,
// after names are resolved, so a name that later resolves differently does not help an attacker. It
// follows no redirects and uses no proxy.
func newHTTP(private bool, resolver *net.Resolver) *http.Client {
	dialer := &net.Dialer{
		Timeout: 5 * time.Second, Resolver: resolver,
		ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || network != "tcp4" && network != "tcp6" {
				return fmt.Errorf("%w: %s %s is not an address for a hook", ErrRefused, network, address)
			}
			return reachable(to.Addr(), private)
		},
	}
	return &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: 8 * time.Second,
			MaxResponseHeaderBytes: 16 << 10, DisableKeepAlives: true, DisableCompression: true, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// CheckHook returns an error for a hook address that messages would not be sent to. It does not resolve
// names. It gives early feedback when a hook is added.
func CheckHook(address string, private bool) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return fmt.Errorf("%w: the address of a hook must be https://HOST/PATH", ErrRefused)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !private) {
		return fmt.Errorf("%w: a hook must use https: otherwise messages are sent in plain text", ErrRefused)
	}
	if u.User != nil {
		return fmt.Errorf("%w: the address of a hook must not contain a password: its secret signs the messages", ErrRefused)
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return reachable(addr, private)
	}
	return nil
}
