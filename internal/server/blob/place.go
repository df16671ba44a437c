package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gocloud.dev/blob"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
)

// incomingDir is the folder of incomplete files. It is not a number, so it cannot clash with a project.
const incomingDir = "incoming"

// folder writes blobs without fileblob, which renames files that may not have reached the disk. A receipt
// promises that they have.
type folder string

func (d folder) place(ctx context.Context, key string, _ int64, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Join(string(d), incomingDir), "blob-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no longer there on success
	err = fill(interruptedWriter{ctx, f})
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	failpoint.At("blob.written")
	target := filepath.Join(string(d), filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return err
	}
	failpoint.At("blob.placed")
	// Sync the parent folders too: they may be as new as the file.
	for dir := filepath.Dir(target); ; dir = filepath.Dir(dir) {
		if err := disk.SyncDir(dir); err != nil {
			return err
		}
		if dir == filepath.Clean(string(d)) {
			return nil
		}
	}
}

// all lists the files itself: fileblob reads the whole folder again for every thousand of them, and ignores what it
// cannot read.
func (d folder) all(ctx context.Context, project int64) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		root := filepath.Join(string(d), strconv.FormatInt(project, 10))
		err := filepath.WalkDir(root, func(path string, f fs.DirEntry, err error) error {
			if err == nil && f.IsDir() {
				return ctx.Err()
			}
			var info fs.FileInfo
			if err == nil {
				info, err = f.Info()
			}
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					return nil // the project has no blobs yet, or one was removed meanwhile
				}
				return err
			}
			key, wrong := keyOf(project, f.Name())
			isBlob := wrong == nil && filepath.Join(string(d), filepath.FromSlash(key)) == path
			if isBlob && !yield(Object{project, f.Name(), info.Size(), info.ModTime()}, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(Object{}, err)
		}
	}
}

// sweep removes files that killed writers left behind. No upload lasts a day.
func sweep(dir string, now time.Time) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || now.Sub(info.ModTime()) < 24*time.Hour {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, os.ErrNotExist) { //nolint:gosec // a name of the folder itself
			return err
		}
	}
	return nil
}

// interruptedWriter writes until its context ends.
type interruptedWriter struct {
	ctx context.Context
	w   io.Writer
}

func (w interruptedWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// remote uses gocloud.
type remote struct{ bucket *blob.Bucket }

func (r remote) place(ctx context.Context, key string, size int64, fill func(io.Writer) error) error {
	// Canceling its context before closing aborts an upload.
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	w, err := r.bucket.NewWriter(ctx, key, &blob.WriterOptions{
		ContentType: "application/octet-stream", DisableContentTypeDetection: true, MaxConcurrency: 1,
	})
	if err != nil {
		return err
	}
	if err := fill(w); err != nil {
		giveUp()
		_ = w.Close() // reports the abort
		return err
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("cannot send %d bytes: %w", size, err)
	}
	return nil
}

func (r remote) all(ctx context.Context, project int64) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		prefix := strconv.FormatInt(project, 10) + "/"
		for o, err := range list(ctx, r.bucket, &blob.ListOptions{Prefix: prefix}) {
			if err != nil {
				yield(Object{}, err)
				return
			}
			_, digest, _ := strings.Cut(strings.TrimPrefix(o.Key, prefix), "/")
			if key, err := keyOf(project, digest); err != nil || key != o.Key {
				continue // not a blob
			}
			if !yield(Object{project, digest, o.Size, o.ModTime}, nil) {
				return
			}
		}
	}
}
