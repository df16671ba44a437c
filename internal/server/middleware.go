package server

import (
	"cmp"
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

// visit is what is known of one request while it is answered.
type visit struct {
	id      string
	route   string // the pattern that took it; "none" before
	from    netip.Addr
	viewer  *Viewer // nil until somebody asked who it is
	unknown error   // why that cannot be said
	problem *Problem
	began   time.Time
	begun   time.Duration // how long a stream took to begin; 0 for other answers
}

// wrap is what every request goes through, from the outside in: a number, a line in the
// log, headers that tell the browser what to refuse, the limit of its address, and no
// requests that other sites' pages make in a visitor's name.
func (s *Server) wrap(inner http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, problem(http.StatusForbidden, "cross-origin", "the request comes from a page of another site"))
	}))
	inner = crossOrigin.Handler(inner)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{id: rand.Text()[:16], route: "none", from: s.addressOf(r), began: s.now()}
		r = r.WithContext(withVisit(r.Context(), v))
		seen := &watched{ResponseWriter: w}
		defer func() { s.tell(r, v, seen, cmp.Or(v.begun, s.now().Sub(v.began))) }() // also of an answer that is cut off
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
			s.refuse(seen, r, badRequest("the address is no text that can be looked for"))
			return
		}
		inner.ServeHTTP(seen, r)
	})
}

// writable tells whether an address is text throughout: no database can look for what
// is none.
func writable(u *url.URL) bool {
	query, err := url.QueryUnescape(u.RawQuery)
	return err == nil && isText(u.Path) && isText(query)
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// recovered keeps one broken request from ending the others. What was hit goes to the
// log, never to the client.
func (s *Server) recovered(w *watched, r *http.Request, hit any) {
	if err, ok := hit.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(hit) //nolint:forbidigo // net/http's own way to cut a connection
	}
	err := fmt.Errorf("panic: %v\n%s", hit, debug.Stack())
	if w.status != 0 { // half an answer is none: the client must notice
		s.log.ErrorContext(r.Context(), "request failed", "request", visitOf(r).id, "error", err)
		panic(http.ErrAbortHandler)
	}
	s.refuse(w, r, err)
}

// tell writes the line of a request. No path and no query: both may hold what a
// stranger chose, and a secret by mistake.
func (s *Server) tell(r *http.Request, v *visit, w *watched, took time.Duration) {
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

// secureHeaders say that nothing of ours runs script or style that is not ours.
func secureHeaders(h http.Header, id string, https bool) {
	h.Set("X-Request-Id", id)
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store") // unless a handler knows better
	h.Add("Vary", "Cookie, Authorization")
	if https {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// addressOf is who asks: the peer, or whom a proxy of ours says it asks for. What a
// stranger writes into the header stands left of what our own proxies add.
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

// network is what one sender can choose addresses from: the last 64 bits of IPv6 are
// theirs.
func network(ip netip.Addr) netip.Addr {
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return ip
}

// watched notes what was answered.
type watched struct {
	http.ResponseWriter
	status  int
	written int64
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.written += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
