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
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody is the largest request.
const maxBody = 1 << 20

// HTTPOptions say who may speak to a server over HTTP.
type HTTPOptions struct {
	Token string   // every request has to bring it
	Hosts []string // names besides localhost by which the server may be addressed
}

// NewToken makes a token that nobody can guess.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// ReadToken reads a token from a file that only its owner can read.
func ReadToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("others can read %s: chmod 600 it, then make a new token", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 32 || len(token) > 512 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s holds no token: take 32 to 512 printable letters without spaces", path)
	}
	return token, nil
}

// Handler answers over HTTP. Requests that bring no token, come from a page of another
// origin or name another host are turned away before anything reads them.
func (s *Server) Handler(o HTTPOptions) http.Handler {
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, &mcp.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // wrong hosts are turned away here, also on other addresses
	})
	want := sha256.Sum256([]byte("Bearer " + o.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !ownHost(r.Host, o.Hosts):
			http.Error(w, "this server is not addressed by that name", http.StatusForbidden)
			return
		case !ownOrigin(r, o.Hosts):
			http.Error(w, "pages of other origins may not call this server", http.StatusForbidden)
			return
		}
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if o.Token == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="pawl"`)
			http.Error(w, "a token is needed: Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// ownHost tells whether a request names this server by an address, by localhost, or by a
// name that it was given: a name that somebody points here is another one.
func ownHost(host string, names []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(strings.ToLower(name), "[]")
	if name == "localhost" || slices.Contains(names, name) {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}

// ownOrigin tells whether a request comes from no page at all, or from one of this server.
func ownOrigin(r *http.Request, names []string) bool {
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	rest, ok := strings.CutPrefix(origin, "http://")
	if !ok {
		rest, ok = strings.CutPrefix(origin, "https://")
	}
	return ok && ownHost(rest, names) && strings.EqualFold(rest, r.Host)
}

// ServeHTTP serves on a listener until the context ends.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, o HTTPOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	web := &http.Server{
		Handler: s.Handler(o), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	go func() { done <- web.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	cancel() // what runs is ended, and answers
	stop, release := context.WithTimeout(context.Background(), 3*time.Second)
	defer release()
	if err := web.Shutdown(stop); err != nil {
		_ = web.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// invalid is an error of the protocol for a wrong input.
func invalid(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}
