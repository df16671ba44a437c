package server

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// maxDocument limits bodies that are written by hand; reports have their own limit.
const maxDocument = 64 << 10

// Limits on entries per page of a list.
const (
	listDefault = 100
	listMost    = 500
)

// readDocument reads a small JSON body strictly: a misspelled name must not pass for an omitted one.
func readDocument(w http.ResponseWriter, r *http.Request, into any) error {
	if err := wantJSON(r); err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDocument))
	if err != nil {
		return unreadable(err)
	}
	if bytes.Contains(body, []byte(`\u0000`)) {
		return badRequest("the document: a string contains a zero byte, which cannot be stored")
	}
	if err := json.Unmarshal(body, into, json.RejectUnknownMembers(true)); err != nil {
		said := err.Error()
		if e, ok := errors.AsType[*json.SemanticError](err); ok {
			said = string(e.JSONPointer) + " is invalid"
			if e.Err != nil {
				said += ": " + e.Err.Error()
			}
		}
		return badRequest("the document: %s", words.Sanitize(said))
	}
	return nil
}

// idOf returns the number in a path. Anything else is not found.
func idOf(r *http.Request, name string) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || n <= 0 {
		return 0, problem(http.StatusNotFound, "not-found", "there is no such %s: expected a number", name)
	}
	return n, nil
}

// queryReader reads the query of a request and keeps the first error. Unknown parameters are errors too: a
// misspelled filter must not act as no filter.
type queryReader struct {
	values url.Values
	err    error
}

func ask(r *http.Request, known ...string) *queryReader {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &queryReader{values: values}
	if err != nil {
		q.err = badRequest("the query cannot be parsed")
		return q
	}
	for name, list := range values {
		switch {
		case !slices.Contains(known, name):
			q.fail(name, "is unknown (known: %s)", strings.Join(known, ", "))
		case len(list) > 1:
			q.fail(name, "is given twice")
		case len(list[0]) > 1024:
			q.fail(name, "is longer than 1024 bytes")
		}
	}
	return q
}

func (q *queryReader) fail(name, format string, args ...any) {
	if q.err == nil {
		q.err = badRequest("query "+words.Sanitize(name)+": "+format, args...)
	}
}

func (q *queryReader) text(name string) string { return q.values.Get(name) }

// number returns an integer within a range, or the default if the parameter is absent.
func (q *queryReader) number(name string, low, high, otherwise int) int {
	text := q.values.Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		q.fail(name, "must be a number from %d to %d", low, high)
		return otherwise
	}
	return n
}

func (q *queryReader) id(name string) int64 {
	text := q.values.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		q.fail(name, "must be a positive number")
	}
	return n
}

// limit returns the number of entries per page.
func (q *queryReader) limit() int { return q.number("limit", 1, listMost, listDefault) }

// time parses a time as in RFC 3339, or a day.
func (q *queryReader) time(name string) time.Time {
	text := q.values.Get(name)
	if text == "" {
		return time.Time{}
	}
	for _, form := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil && t.Year() >= 1970 && t.Year() < 3000 {
			return t
		}
	}
	q.fail(name, "must be a time such as 2026-11-15T12:00:00Z, or a day")
	return time.Time{}
}

// oneOf returns one of the words, or an empty string.
func (q *queryReader) oneOf(name string, words ...string) string {
	text := q.values.Get(name)
	if text != "" && !slices.Contains(words, text) {
		q.fail(name, "must be one of %s", strings.Join(words, ", "))
	}
	return text
}

// cursor returns where the next page starts. It is opaque to clients and grants no access: a cursor of
// another project only selects a position in this one. It contains the name of the list, so that a cursor
// of another list is refused.
func (q *queryReader) cursor(list string) int64 {
	text := q.values.Get("cursor")
	if text == "" {
		return 0
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	name, number, _ := strings.Cut(string(raw), ":")
	n, nerr := strconv.ParseInt(number, 10, 64)
	if err != nil || nerr != nil || name != list || n <= 0 {
		q.fail("cursor", "is not from this list: start without one")
		return 0
	}
	return n
}

func cursorAt(list string, n int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(list + ":" + strconv.FormatInt(n, 10)))
}

// page is a part of a list, with the cursor of the next part.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // cursor of the next page; empty on the last
}

// pageOf cuts a list that was queried with one entry more than the page holds.
func pageOf[T any](list string, items []T, limit int, place func(T) int64) page[T] {
	p := page[T]{Items: items}
	if len(items) > limit {
		p.Items = items[:limit]
		p.Next = cursorAt(list, place(items[limit-1]))
	}
	if p.Items == nil {
		p.Items = []T{}
	}
	return p
}
