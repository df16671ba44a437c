package client

import (
	"bytes"
	"io"
	"os"
)

// File is a blob with where its bytes are: in memory, or in a file.
type File struct {
	Blob
	Data []byte
	Path string // where Data is nil
}

// Open gives the bytes.
func (f File) Open() (io.ReadCloser, error) {
	if f.Path == "" {
		return io.NopCloser(bytes.NewReader(f.Data)), nil
	}
	return os.Open(f.Path)
}
