package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// answer writes a JSON document.
func answer(w http.ResponseWriter, status int, document any) error {
	text, err := encode(document)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
	return nil
}

// show answers with a document, or with 304 if the client already has it.
func show(w http.ResponseWriter, r *http.Request, document any) error {
	text, err := encode(document)
	if err != nil {
		return err
	}
	if unchanged(w, r, tag(text)) {
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
	return nil
}

func encode(document any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(true) // a browser that treats it as HTML finds no tag in it
	if err := e.Encode(document); err != nil {
		return nil, fmt.Errorf("cannot encode the response: %w", err)
	}
	return b.Bytes(), nil
}

// tag returns the ETag of a document, computed from its content.
func tag(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
}

// unchanged sets the ETag and answers 304 to a client that has it.
func unchanged(w http.ResponseWriter, r *http.Request, etag string) bool {
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", "private, no-cache") // store it, but revalidate before use
	if !matches(r.Header.Get("If-None-Match"), etag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// matches reports whether a list of ETags, as in If-Match and If-None-Match, contains etag. Weak tags
// match too: here, equal tags mean equal bytes.
func matches(header, etag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == etag || one == "*" {
			return true
		}
	}
	return false
}

// deadlineWriter writes a response of any length. The time limit applies to each part, so that only a client
// that stopped reading is cut off.
type deadlineWriter struct {
	w     http.ResponseWriter
	every time.Duration
}

func (s *Server) patient(w http.ResponseWriter) deadlineWriter {
	s.deadline(w, 0)
	return deadlineWriter{w, s.limits.Body}
}

// extendWriteDeadline extends the write deadline for a client that waited longer than the connection's own limit.
func (s *Server) extendWriteDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.limits.Body)) // fails in tests without a connection
}

func (p deadlineWriter) Write(b []byte) (int, error) {
	_ = http.NewResponseController(p.w).SetWriteDeadline(time.Now().Add(p.every)) // fails in tests without a connection
	return p.w.Write(b)
}

// deadline sets the read deadline for one body, whatever the connection's limits are: a client that sends
// a byte a minute must not hold a slot for hours. 0 removes it: a deadline that passes during processing
// would look as if the client had disconnected.
func (s *Server) deadline(w http.ResponseWriter, d time.Duration) {
	until := time.Time{}
	if d > 0 {
		until = time.Now().Add(d)
	}
	_ = http.NewResponseController(w).SetReadDeadline(until) // fails in tests without a connection
}
