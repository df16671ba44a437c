package page

import (
	"net/http"
	"net/url"

	"github.com/goatnote-inc/pawl/internal/base/loopback"
	"github.com/goatnote-inc/pawl/internal/report"
)

// guarded keeps a page for this machine. A name that leads to 127.0.0.1 does not make
// another site's page one of ours: the host must be a loopback address or localhost, and
// whoever asks must be a page of the same origin, or a person.
func guarded(next http.Handler) http.Handler {
	policy := report.ScriptedPolicy(style(), liveScript) + "; connect-src 'self'; img-src 'self'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !loopback.Is(r.Host):
			http.Error(w, "this page answers to 127.0.0.1, ::1 and localhost only", http.StatusMisdirectedRequest)
		case !ownOrigin(r):
			http.Error(w, "this page answers to no other page", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this page only shows", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// ownOrigin tells of a request that no other site's page made. Browsers say which did;
// programs that say nothing are on this machine anyway.
func ownOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		// A link that a person follows from elsewhere is no attack: it only shows a page,
		// which nobody else can read or frame.
		if r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" {
			return false
		}
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.Host == r.Host && loopback.Is(u.Host)
}
