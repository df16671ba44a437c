package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/loopback"
)

// NewToken returns a random token.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// ReadToken reads a token from a file that only its owner can read.
func ReadToken(path string) (string, error) {
	text, err := disk.ReadRegular(path, 1024)
	if err != nil {
		return "", fmt.Errorf("cannot read the token: %w", err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("others can read %s: chmod 600 it, then make a new token", path)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 32 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s holds no token: a token has at least 32 printable characters without spaces", path)
	}
	return token, nil
}

// Handler answers requests with the token that do not come from a web page of another origin and name this machine
// as their host.
func (s *Server) Handler(token string) http.Handler {
	far, near := s.session(true), s.session(false)
	inner := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && apart(tcpAccount(r.RemoteAddr, local.String())) {
			return far
		}
		return near
	}, &mcp.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxLine, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // other hosts are refused here
	})
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		switch {
		case !loopback.Is(r.Host):
			http.Error(w, "this server is not addressed by that name", http.StatusForbidden)
		case !ownOrigin(r):
			http.Error(w, "pages of other origins may not call this server", http.StatusForbidden)
		case token == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1:
			w.Header().Set("WWW-Authenticate", `Bearer realm="pawl"`)
			http.Error(w, "a token is required: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		default:
			inner.ServeHTTP(w, r)
		}
	})
}

// ownOrigin reports whether a request comes from no web page, or from one of this server.
func ownOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return false
	}
	return origin == "" || strings.EqualFold(origin, "http://"+r.Host)
}

// ServeHTTP serves on a listener until the server ends.
func (s *Server) ServeHTTP(l net.Listener, token string) error {
	web := &http.Server{
		Handler: s.Handler(token), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return s.ctx },
	}
	done := make(chan error, 1)
	go func() { done <- web.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 3*time.Second) // for calls to answer that they were canceled
	defer cancel()
	if err := web.Shutdown(stop); err != nil {
		_ = web.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
