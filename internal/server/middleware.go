package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// requestInfo holds the state of one request while it is answered.
type requestInfo struct {
	id      string
	route   string // the pattern that took it; "none" before
	from    netip.Addr
	viewer  *Viewer // nil until the caller is identified
	unknown error   // why the caller cannot be identified
	sender  *sender // on a Send route, once it is authenticated
	problem *Problem
	began   time.Time
	begun   time.Duration // time until a stream started; 0 for other responses
	endTurn func()        // returns the slot of the request; does nothing the second time
}

// wrap applies to every request, from the outside in: a request id, a log line, security headers, the
// rate limit of its address, and protection against cross-site requests.
func (s *Server) wrap(inner http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, problem(http.StatusForbidden, "cross-origin", "the request comes from a page of another site"))
	}))
	inner = crossOrigin.Handler(inner)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &requestInfo{id: rand.Text()[:16], route: "none", from: s.addressOf(r), began: s.now(), endTurn: func() {}}
		r = r.WithContext(context.WithValue(r.Context(), contextKey{}, v))
		seen := &responseRecorder{ResponseWriter: w, pace: s.pacer(), info: v}
		defer func() { s.logRequest(r, v, seen, cmp.Or(v.begun, s.now().Sub(v.began))) }() // also for a response that is cut off
		defer func() {
			if hit := recover(); hit != nil {
				s.recovered(seen, r, hit)
			}
		}()
		secureHeaders(w.Header(), v.id, s.url.Scheme == "https")
		if wait, ok := s.buckets.take("ip "+v.from.String(), s.limits.PerAddress); !ok {
			s.refuse(seen, r, problem(http.StatusTooManyRequests, "rate", "too many requests from %s", v.from).after(wait))
			return
		}
		if !writable(r.URL) {
			s.refuse(seen, r, badRequest("the URL is not valid text"))
			return
		}
		inner.ServeHTTP(seen, r)
	})
}

// writable reports whether a URL is valid text throughout. The database cannot search for anything else.
func writable(u *url.URL) bool {
	query, err := url.QueryUnescape(u.RawQuery)
	return err == nil && isText(u.Path) && isText(query)
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// recovered keeps a panic in one request from ending the others. Details go to the log, never to the client.
func (s *Server) recovered(w *responseRecorder, r *http.Request, hit any) {
	if err, ok := hit.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(hit) // net/http's own way to cut a connection
	}
	err := fmt.Errorf("panic: %v\n%s", hit, debug.Stack())
	if w.status != 0 { // the client must notice a partial response
		s.log.ErrorContext(r.Context(), "request failed", "request", requestInfoOf(r).id, "error", err)
		panic(http.ErrAbortHandler)
	}
	s.refuse(w, r, err)
}

// logRequest writes the log line of a request. It omits path and query: both may contain untrusted text, or a
// secret by mistake.
func (s *Server) logRequest(r *http.Request, v *requestInfo, w *responseRecorder, took time.Duration) {
	status := w.status
	if status == 0 {
		status = http.StatusOK
	}
	method := r.Method
	if !slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}, method) {
		method = "other"
	}
	s.metrics.Request(r.Context(), v.route, method, status, took)
	attributes := []any{
		"request", v.id, "method", method, "route", v.route, "status", status,
		"bytes", w.written, "ms", float64(took.Microseconds()) / 1000, "from", v.from.String(),
	}
	if v.viewer != nil {
		attributes = append(attributes, "actor", v.viewer.Name())
	}
	if v.problem != nil {
		attributes = append(attributes, "problem", v.problem.word())
	}
	s.log.InfoContext(r.Context(), "request", attributes...)
}

// secureHeaders tells browsers to run only the server's own scripts and styles.
func secureHeaders(h http.Header, id string, https bool) {
	h.Set("X-Request-Id", id)
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store") // a handler may override it
	h.Add("Vary", "Cookie, Authorization")
	if https {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// addressOf returns the client's address: the peer, or the address that a trusted proxy reports. What a
// client writes into the header is to the left of what trusted proxies append.
func (s *Server) addressOf(r *http.Request) netip.Addr {
	peer := netip.Addr{}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		peer = at.Addr().Unmap()
	}
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(said) {
		if !s.proxy(peer) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break
		}
		peer = next.Unmap()
	}
	return network(peer)
}

func (s *Server) proxy(ip netip.Addr) bool {
	return slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// network returns the network from which one client can choose addresses: for IPv6, the upper 64 bits.
func network(ip netip.Addr) netip.Addr {
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return ip
}

// responseRecorder records the status and size of a response. A client that reads too slowly is cut off, and
// the request gives its slot to the next one before the first byte is written.
type responseRecorder struct {
	http.ResponseWriter
	status  int
	written int64
	pace    pacer
	info    *requestInfo
}

func (w *responseRecorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
		w.info.endTurn()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseRecorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
		w.info.endTurn()
	}
	n, err := w.pace.write(w.ResponseWriter, b)
	w.written += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *responseRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
