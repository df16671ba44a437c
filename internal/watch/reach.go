package watch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// ErrRefused says that something will not be sent, however often it is tried.
var ErrRefused = errors.New("refused")

// within are addresses that a server can reach and the world cannot. Whoever may name a
// hook must not be able to reach them through us.
var within = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "127.0.0.0/8", "::1/128")

// nowhere are addresses that no hook has: this network, links (metadata of clouds is
// there), tests, documentation, ways to say another address, and what is not assigned.
var nowhere = prefixes("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		list[i] = netip.MustParsePrefix(t)
	}
	return list
}

// reachable refuses an address that nothing is sent to.
func reachable(addr netip.Addr, private bool) error {
	addr = addr.Unmap()
	contains := func(list []netip.Prefix) bool {
		for _, p := range list {
			if p.Contains(addr) {
				return true
			}
		}
		return false
	}
	switch {
	case contains(within):
		if private {
			return nil
		}
		return fmt.Errorf("%w: %s is a private address; the operator of the server can allow those (hooks.allow_private)", ErrRefused, addr)
	case addr.Zone() != "", contains(nowhere), addr.Is6() && !netip.MustParsePrefix("2000::/3").Contains(addr):
		return fmt.Errorf("%w: nothing is sent to %s", ErrRefused, addr)
	}
	return nil
}

// newHTTP is a client that goes where the world could go and nowhere else. The address is
// looked at when it is dialled, after all names are resolved: a name that means
// something else the second time changes nothing. It follows no redirect and asks no
// proxy.
func newHTTP(private bool, resolver *net.Resolver) *http.Client {
	dialer := &net.Dialer{
		Timeout: 5 * time.Second, Resolver: resolver,
		ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || network != "tcp4" && network != "tcp6" {
				return fmt.Errorf("%w: %s %s is no address for a hook", ErrRefused, network, address)
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

// CheckHook refuses the address of a hook that nothing would be sent to, as far as that
// can be told without asking for names: for who adds one.
func CheckHook(address string, private bool) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return fmt.Errorf("%w: the address of a hook is https://HOST/PATH", ErrRefused)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !private) {
		return fmt.Errorf("%w: a hook needs https: what is sent would be readable on the way", ErrRefused)
	}
	if u.User != nil {
		return fmt.Errorf("%w: a hook's address holds no password: its secret signs what is sent", ErrRefused)
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return reachable(addr, private)
	}
	return nil
}
