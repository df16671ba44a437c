package measure

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// digestTail is more than the last line of a document can be long.
const digestTail = 256

// digestReader passes a document through and hashes all but its last line,
// which holds the digest itself. Hashing is as much work as parsing, so it is
// done beside it.
type digestReader struct {
	r      io.Reader
	chunks chan []byte
	result chan digestResult
}

type digestResult struct {
	sum  [sha256.Size]byte
	last []byte
}

// newDigestReader starts the hashing; result must be called, also after an error.
func newDigestReader(r io.Reader) *digestReader {
	d := &digestReader{r: r, chunks: make(chan []byte, 16), result: make(chan digestResult, 1)}
	go d.hash()
	return d
}

func (d *digestReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if n > 0 {
		d.chunks <- bytes.Clone(p[:n])
	}
	return n, err
}

func (d *digestReader) hash() {
	sum := sha256.New()
	var tail []byte // the last bytes seen, not hashed yet
	for chunk := range d.chunks {
		tail = append(tail, chunk...)
		if over := len(tail) - digestTail; over > 0 {
			sum.Write(tail[:over])
			tail = append(tail[:0], tail[over:]...)
		}
	}
	// The digest covers everything up to the last line.
	begin := bytes.LastIndexByte(bytes.TrimRight(tail, "\n"), '\n') + 1
	sum.Write(tail[:begin])
	res := digestResult{last: tail[begin:]}
	sum.Sum(res.sum[:0])
	d.result <- res
}

// check ends the hashing and compares the digest a document states with that
// of its bytes. A file that was laid out anew (by jq, say) cannot be checked: ok
// is false.
func (d *digestReader) check(stated string) (ok bool, err error) {
	close(d.chunks)
	res := <-d.result
	if string(res.last) != fmt.Sprintf("\"digest\":%q}\n", stated) {
		return false, nil
	}
	if have := "sha256:" + hex.EncodeToString(res.sum[:]); have != stated {
		return false, fmt.Errorf("%w: it says %s, its content is %s", ErrDigest, stated, have)
	}
	return true, nil
}
