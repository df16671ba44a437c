package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// copyExactly copies bytes that must have this size and digest. It returns an error if they do not, so
// that the caller can discard the copy.
func copyExactly(w io.Writer, r io.Reader, digest string, size int64) error {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(r, size))
	if err != nil {
		return err
	}
	if n == size { // nothing may follow
		var more [1]byte
		switch m, err := io.ReadFull(r, more[:]); {
		case m > 0:
			return fmt.Errorf("%w: there are more than %d bytes", ErrMismatch, size)
		case !errors.Is(err, io.EOF):
			return err
		}
	}
	if n < size {
		return fmt.Errorf("%w: got %d bytes of %d", ErrMismatch, n, size)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return fmt.Errorf("%w: their digest is %.12s", ErrMismatch, got)
	}
	return nil
}

// checkedReader returns an error at the end if the bytes do not match the digest.
type checkedReader struct {
	r      io.ReadCloser
	sum    hash.Hash
	digest string
}

func (c *checkedReader) Read(p []byte) (int, error) {
	if c.sum == nil {
		c.sum = sha256.New()
	}
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	if errors.Is(err, io.EOF) && hex.EncodeToString(c.sum.Sum(nil)) != c.digest {
		return n, fmt.Errorf("cannot read blob %.12s: %w", c.digest, ErrDamaged)
	}
	return n, err
}

func (c *checkedReader) Close() error { return c.r.Close() }
