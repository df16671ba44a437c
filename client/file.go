package client

import (
	"bytes"
	"io"
	"os"
)

// File is a blob together with its content, in memory or in a file.
type File struct {
	Blob
	Data []byte
	Path string // used if Data is nil
}

// Open returns a reader of the content.
func (f File) Open() (io.ReadCloser, error) {
	if f.Path == "" {
		return io.NopCloser(bytes.NewReader(f.Data)), nil
	}
	return os.Open(f.Path)
}
