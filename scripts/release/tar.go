package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive, a wheel or an image.
type file struct {
	name    string // with slashes; a folder ends with one
	data    []byte
	program bool // can be executed
	owner   int  // user and group, in an image
}

// modified is the time of every file.
var modified = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// tarGz packs files in the order of their names.
func tarGz(files []file) ([]byte, error) {
	plain, err := tarFiles(files)
	if err != nil {
		return nil, err
	}
	return compress(plain)
}

// tarFiles is tarGz without the compression.
func tarFiles(files []file) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) }) {
		header := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.data)), ModTime: modified, Uid: f.owner, Gid: f.owner}
		if f.program {
			header.Mode = 0o755
		}
		if strings.HasSuffix(f.name, "/") {
			header.Typeflag, header.Mode = tar.TypeDir, 0o755
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.name, err)
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// compress returns data in the format of gzip, without a name and a time.
func compress(data []byte) ([]byte, error) {
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
