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

// answer writes a document.
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

// show answers a question, or says that nothing changed since it was asked last.
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
	e.SetEscapeHTML(true) // a browser that takes it for a page finds no tag in it
	if err := e.Encode(document); err != nil {
		return nil, fmt.Errorf("writing an answer: %w", err)
	}
	return b.Bytes(), nil
}

// tag is the ETag of a document: what it holds.
func tag(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
}

// unchanged sets the ETag and answers 304 to a client that has it.
func unchanged(w http.ResponseWriter, r *http.Request, etag string) bool {
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", "private, no-cache") // keep it, and ask whether it still holds
	if !matches(r.Header.Get("If-None-Match"), etag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// matches tells whether a list of ETags, as If-Match and If-None-Match have it, names
// one. Weak ones are as good here: the same tag is the same bytes.
func matches(header, etag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == etag || one == "*" {
			return true
		}
	}
	return false
}

// patient writes an answer that is as long as its content: the time limit is for each
// part of it, so that only a client that stopped reading is cut off.
type patient struct {
	w     http.ResponseWriter
	every time.Duration
}

func (s *Server) patient(w http.ResponseWriter) patient {
	s.deadline(w, 0)
	return patient{w, s.limits.Body}
}

// stillThere gives a client that waited longer than the connection's own limit the time
// to be answered.
func (s *Server) stillThere(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.limits.Body)) // not there in tests without a connection
}

func (p patient) Write(b []byte) (int, error) {
	_ = http.NewResponseController(p.w).SetWriteDeadline(time.Now().Add(p.every)) // not there in tests without a connection
	return p.w.Write(b)
}

// deadline is for one body, whatever the connection's own limits are: a client that
// sends a byte a minute must not hold a place for hours. 0 takes it away: a limit that
// passes while we work would look as if the client had hung up.
func (s *Server) deadline(w http.ResponseWriter, d time.Duration) {
	until := time.Time{}
	if d > 0 {
		until = time.Now().Add(d)
	}
	_ = http.NewResponseController(w).SetReadDeadline(until) // not there in tests without a connection
}
