package server

import (
	"io"
	"net/http"
	"time"
)

// pacer limits how slowly a client may move bytes. It counts only the time spent waiting for the client, and
// allows one pause of the length of stall beyond the minimum rate.
type pacer struct {
	stall time.Duration
	rate  int64 // bytes per second
	moved int64
	spent time.Duration
}

func (s *Server) pacer() pacer { return pacer{stall: s.limits.Stall, rate: s.limits.MinRate} }

// limit returns how long moving n more bytes may take. Bytes that moved fast earn no longer pause.
func (p *pacer) limit(n int) time.Duration {
	return p.stall + min(p.needs(int64(n)), p.needs(p.moved+int64(n))-p.spent)
}

func (p *pacer) needs(n int64) time.Duration {
	return time.Duration(float64(n) / float64(p.rate) * float64(time.Second))
}

func (p *pacer) count(n int, since time.Time) {
	p.moved += int64(n)
	p.spent += time.Since(since)
}

// writeChunk is the number of bytes that are written before the time is checked again.
const writeChunk = 64 << 10

// write writes b to a client that reads at the minimum rate or faster.
func (p *pacer) write(w http.ResponseWriter, b []byte) (n int, err error) {
	control := http.NewResponseController(w)
	for {
		part := b[n:min(len(b), n+writeChunk)]
		began := time.Now()
		_ = control.SetWriteDeadline(began.Add(p.limit(len(part)))) // fails in tests without a connection
		k, err := w.Write(part)
		p.count(k, began)
		if n += k; err != nil || n == len(b) {
			return n, err
		}
	}
}

// pacedReader reads a body that arrives at the minimum rate or faster.
type pacedReader struct {
	pacer
	control *http.ResponseController
	from    io.Reader
}

func (s *Server) paced(w http.ResponseWriter, body io.Reader) *pacedReader {
	return &pacedReader{s.pacer(), http.NewResponseController(w), body}
}

func (r *pacedReader) Read(b []byte) (int, error) {
	began := time.Now()
	_ = r.control.SetReadDeadline(began.Add(r.limit(0))) // fails in tests without a connection
	n, err := r.from.Read(b)
	r.count(n, began)
	return n, err
}

// readAnyTime removes the read deadline of a request: one that passes while the request is processed would
// look as if the client had disconnected.
func readAnyTime(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // fails in tests without a connection
}
