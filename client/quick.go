package client

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	strict "github.com/go-json-experiment/json"
)

// decodeFast decodes a body in exactly the format of Encode: no spaces, no escapes in the points. Decoding was
// half of a server's cost for a report, nearly all of it for the points. So the points are decoded here,
// and the rest by the strict decoder. Anything unusual is left to [decodeStrict], which alone reports errors.
// Whatever it accepts, decodeStrict accepts with the same result.
func decodeFast(body []byte) (*Report, bool) {
	mark := []byte(`,"points":[`)
	// A quote within a string is escaped, so this is the name of a member. It belongs to the report itself,
	// because the strict decoder accepts no other member of that name.
	start := bytes.Index(body, mark) + len(mark)
	if start < len(mark) {
		return nil, false
	}
	q := &quickReader{in: body, at: start}
	points, ok := q.points()
	if !ok {
		return nil, false
	}
	head := slices.Concat(body[:start], []byte("]"), body[q.at:])
	if objects, err := scan(head); err != nil || objects+len(points) > maxObjects {
		return nil, false
	}
	r := &Report{}
	if strict.Unmarshal(head, r, strict.RejectUnknownMembers(true)) != nil {
		return nil, false
	}
	r.Points = points
	return r, true
}

// quickReader decodes the points. Its methods return false for anything unusual.
type quickReader struct {
	in []byte
	at int

	ownersText []byte // JSON of the owners of the previous point
	owners     []string
}

// points reads up to and including the closing bracket.
func (q *quickReader) points() ([]Point, bool) {
	// Limit the allocation to what the bytes can hold: a point has about 60 at least.
	rest := q.in[q.at:]
	list := make([]Point, 0, min(bytes.Count(rest, []byte("},{"))+1, len(rest)/60+1, MaxPoints))
	last := &Point{}
	for len(list) < MaxPoints {
		list = append(list, Point{})
		p := &list[len(list)-1]
		if !q.point(p, last) {
			return nil, false
		}
		last = p
		switch q.next() {
		case ',':
		case ']':
			return list, true
		default:
			return nil, false
		}
	}
	return nil, false
}

// point reads an object in which each member occurs at most once.
func (q *quickReader) point(p, last *Point) bool {
	if q.next() != '{' {
		return false
	}
	for seen := uint32(0); ; {
		name, ok := q.raw()
		if !ok || q.next() != ':' {
			return false
		}
		bit, ok := q.member(string(name), p, last)
		if !ok || seen&bit != 0 {
			return false
		}
		seen |= bit
		switch q.next() {
		case ',':
		case '}':
			return true
		default:
			return false
		}
	}
}

// member reads a value, and returns a distinct bit for each name.
func (q *quickReader) member(name string, p, last *Point) (bit uint32, ok bool) {
	switch name {
	case "benchmark":
		return 1 << 0, text(q, &p.Benchmark, last.Benchmark)
	case "config":
		return 1 << 1, text(q, &p.Config, last.Config)
	case "cache":
		return 1 << 2, text(q, &p.Cache, last.Cache)
	case "metric":
		return 1 << 3, text(q, &p.Metric, last.Metric)
	case "implementation":
		return 1 << 4, text(q, &p.Implementation, last.Implementation)
	case "unit":
		return 1 << 5, text(q, &p.Unit, last.Unit)
	case "better":
		return 1 << 6, text(q, &p.Better, last.Better)
	case "timer":
		return 1 << 7, text(q, &p.Timer, last.Timer)
	case "value":
		return 1 << 8, q.number(&p.Value)
	case "low":
		return 1 << 9, q.number(&p.Low)
	case "high":
		return 1 << 10, q.number(&p.High)
	case "spread":
		return 1 << 11, q.number(&p.Spread)
	case "rounds":
		return 1 << 12, q.count(&p.Rounds)
	case "samples":
		return 1 << 13, q.count(&p.Samples)
	case "verdict":
		return 1 << 14, text(q, &p.Verdict, last.Verdict)
	case "baseline":
		return 1 << 15, q.number(&p.Baseline)
	case "moved":
		p.Moved = true
		return 1 << 16, q.word("true") // false is omitted
	case "path":
		return 1 << 17, text(q, &p.Path, last.Path)
	case "owners":
		return 1 << 18, q.list(&p.Owners)
	default:
		return 0, false
	}
}

// next returns the next byte, or 0, which is not valid JSON, at the end.
func (q *quickReader) next() byte {
	if q.at >= len(q.in) {
		return 0
	}
	q.at++
	return q.in[q.at-1]
}

func (q *quickReader) word(w string) bool {
	ok := len(q.in)-q.at >= len(w) && string(q.in[q.at:q.at+len(w)]) == w
	if ok {
		q.at += len(w)
	}
	return ok
}

// raw returns the text between two quotes, or false for escapes, control characters and invalid UTF-8.
func (q *quickReader) raw() ([]byte, bool) {
	if q.next() != '"' {
		return nil, false
	}
	wide := false
	for i, c := range q.in[q.at:min(len(q.in), q.at+MaxText+1)] {
		switch {
		case c == '"':
			s := q.in[q.at : q.at+i]
			q.at += i + 1
			return s, !wide || utf8.Valid(s)
		case c < 0x20, c == '\\':
			return nil, false
		case c >= utf8.RuneSelf:
			wide = true
		}
	}
	return nil, false
}

// text reads a string. It reuses that of the previous point if they are equal, which is common.
func text[T ~string](q *quickReader, to *T, last T) bool {
	raw, ok := q.raw()
	if string(raw) == string(last) {
		*to = last
	} else {
		*to = T(raw)
	}
	return ok
}

// list reads a list of strings, which is usually that of the previous point.
func (q *quickReader) list(to *[]string) bool {
	if len(q.ownersText) > 0 && bytes.HasPrefix(q.in[q.at:], q.ownersText) {
		q.at += len(q.ownersText)
		*to = q.owners
		return true
	}
	start := q.at
	if q.next() != '[' {
		return false
	}
	var list []string
	for len(list) < maxList {
		raw, ok := q.raw()
		if !ok {
			return false
		}
		list = append(list, string(raw))
		switch q.next() {
		case ',':
		case ']':
			list = slices.Clip(list)
			q.ownersText, q.owners, *to = q.in[start:q.at], list, list
			return true
		default:
			return false
		}
	}
	return false
}

// count reads a number of few digits.
func (q *quickReader) count(to *int) bool {
	first := q.at
	for q.at < len(q.in) && q.in[q.at]-'0' <= 9 {
		*to = *to*10 + int(q.in[q.at]-'0')
		if q.at++; q.at-first > 9 {
			return false
		}
	}
	return q.at > first && (q.in[first] != '0' || q.at == first+1)
}

// tens holds the powers of ten that a float64 represents exactly.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// number reads a decimal fraction in JSON syntax.
func (q *quickReader) number(to *float64) bool {
	start := q.at
	minus := q.at < len(q.in) && q.in[q.at] == '-'
	if minus {
		q.at++
	}
	first := q.at
	whole := q.digits(0)
	n := q.at - first
	if n == 0 || n > 1 && q.in[first] == '0' {
		return false
	}
	fraction := 0
	if q.at < len(q.in) && q.in[q.at] == '.' {
		q.at++
		from := q.at
		whole = q.digits(whole)
		if fraction = q.at - from; fraction == 0 {
			return false
		}
	}
	if q.at < len(q.in) && q.in[q.at]|0x20 == 'e' {
		return false // exponents are rare
	}
	if n+fraction <= 15 { // both are exact, so the quotient is rounded only once
		if *to = float64(whole) / tens[fraction]; minus {
			*to = -*to
		}
		return true
	}
	v, err := strconv.ParseFloat(string(q.in[start:q.at]), 64)
	*to = v
	return err == nil
}

// digits reads digits and appends them to a number. If they overflow, the result is wrong, and is not used.
func (q *quickReader) digits(n uint64) uint64 {
	for q.at < len(q.in) && q.in[q.at]-'0' <= 9 {
		n = n*10 + uint64(q.in[q.at]-'0')
		q.at++
	}
	return n
}
