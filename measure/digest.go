package measure

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// asyncSum hashes in the background: hashing takes as long as reading or writing a record, and can use
// another core.
type asyncSum struct {
	chunks    chan []byte
	result    chan asyncResult
	tailBytes int // number of trailing bytes to return unhashed at the end
}

type asyncResult struct {
	sum  [sha256.Size]byte
	last []byte
}

func newAsyncSum(hold int) *asyncSum {
	s := &asyncSum{chunks: make(chan []byte, 16), result: make(chan asyncResult, 1), tailBytes: hold}
	go s.run()
	return s
}

// add hashes a copy of the bytes.
func (s *asyncSum) add(b []byte) {
	if len(b) > 0 {
		s.chunks <- bytes.Clone(b)
	}
}

// finish ends the hashing. It must be called once, even after an error.
func (s *asyncSum) finish() asyncResult {
	close(s.chunks)
	return <-s.result
}

func (s *asyncSum) run() {
	sum := sha256.New()
	var tail []byte
	for chunk := range s.chunks {
		if s.tailBytes == 0 {
			sum.Write(chunk)
			continue
		}
		tail = append(tail, chunk...)
		if over := len(tail) - s.tailBytes; over > 0 {
			sum.Write(tail[:over])
			tail = append(tail[:0], tail[over:]...)
		}
	}
	// A document's digest covers everything up to its last line.
	begin := bytes.LastIndexByte(bytes.TrimRight(tail, "\n"), '\n') + 1
	sum.Write(tail[:begin])
	res := asyncResult{last: tail[begin:]}
	sum.Sum(res.sum[:0])
	s.result <- res
}

func (r asyncResult) String() string { return "sha256:" + hex.EncodeToString(r.sum[:]) }

// digestTail is larger than the last line of any document.
const digestTail = 256

// digestReader passes a document through and hashes everything except its last line, which contains the
// digest.
type digestReader struct {
	r   io.Reader
	sum *asyncSum
}

// newDigestReader starts the hashing. The caller must call check, even after an error.
func newDigestReader(r io.Reader) *digestReader {
	return &digestReader{r: r, sum: newAsyncSum(digestTail)}
}

func (d *digestReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.sum.add(p[:n])
	return n, err
}

// check ends the hashing and compares the stated digest of a document with that of its bytes. A file
// that was reformatted (by jq, for example) cannot be checked: ok is false.
func (d *digestReader) check(stated string) (ok bool, err error) {
	res := d.sum.finish()
	if string(res.last) != fmt.Sprintf("\"digest\":%q}\n", stated) {
		return false, nil
	}
	if have := res.String(); have != stated {
		return false, fmt.Errorf("%w: its digest is %s, but its content has %s", ErrDigest, stated, have)
	}
	return true, nil
}
