// Package loopback tells addresses of this machine from those that others can reach.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// Is reports whether a host, with or without a port, is reachable from this machine only. Names other than localhost
// are not, because they may resolve to anything.
func Is(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
