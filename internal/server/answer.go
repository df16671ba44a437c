package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
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
