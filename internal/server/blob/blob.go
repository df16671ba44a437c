// Package blob stores files by the digest of their content, in a folder or in S3. A key consists of a
// project's number and a SHA-256, and of nothing that a sender can choose. A file's name is not part of
// it.
//
// The package must not know what the bytes mean, nor any access rights.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
)

var (
	// ErrNotFound means that there is no such blob.
	ErrNotFound = errors.New("there is no such blob")
	// ErrMismatch means that the bytes do not match their digest or size. None of them are stored.
	ErrMismatch = errors.New("the bytes do not match their digest or size")
	// ErrName means that a project or a digest is invalid.
	ErrName = errors.New("the project must be above zero and the digest a SHA-256 of 64 lowercase hexadecimal digits")
	// ErrDamaged means that a blob has changed since it was stored.
	ErrDamaged = errors.New("the blob is damaged: its bytes do not match its digest; restore it from a backup")
)

// Bucket stores blobs.
type Bucket struct {
	kept *blob.Bucket
	backend
}

// backend is what a folder and S3 do differently.
type backend interface {
	// place writes a blob atomically and durably. It calls fill with the writer for the bytes. The blob exists
	// afterwards if fill returned nil, and does not if it returned an error.
	place(ctx context.Context, key string, size int64, fill func(io.Writer) error) error
	// all lists the blobs of a project. It stops at the first error.
	all(ctx context.Context, project int64) iter.Seq2[Object, error]
}

// Object describes a stored blob.
type Object struct {
	Project  int64
	Digest   string
	Size     int64
	Modified time.Time
}

// Open opens the bucket at a URL. file:///dir is a folder, which is created if missing.
// s3://bucket?region=R is S3, with &endpoint=https://HOST&use_path_style=true for servers other than
// Amazon's, and &prefix=PATH/ for a part of a bucket. S3 credentials are found in the usual places:
// AWS_ACCESS_KEY_ID, a profile, the role of the machine.
func Open(ctx context.Context, address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("cannot open the blob storage: %w", err)
	}
	switch u.Scheme {
	case fileblob.Scheme:
		return openFolder(u)
	case s3blob.Scheme:
		kept, err := blob.OpenBucket(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("cannot open the blob storage: %w", err)
		}
		return &Bucket{kept, remote{kept}}, nil
	default:
		return nil, fmt.Errorf("cannot open the blob storage: %q is neither file:///DIR nor s3://BUCKET", address)
	}
}

func openFolder(u *url.URL) (*Bucket, error) {
	if u.Host != "" || u.RawQuery != "" || !filepath.IsAbs(u.Path) {
		return nil, fmt.Errorf("cannot open the blob storage: %s: must be file:///DIR, with three slashes and nothing after DIR", u.Redacted())
	}
	dir := filepath.Clean(u.Path)
	if err := os.MkdirAll(filepath.Join(dir, incomingDir), 0o700); err != nil { //nolint:gosec // the operator names the folder
		return nil, fmt.Errorf("cannot open the blob storage: %w", err)
	}
	if err := sweep(filepath.Join(dir, incomingDir), time.Now()); err != nil {
		return nil, fmt.Errorf("cannot open the blob storage: %w", err)
	}
	kept, err := fileblob.OpenBucket(dir, &fileblob.Options{Metadata: fileblob.MetadataDontWrite, NoTempDir: true})
	if err != nil {
		return nil, fmt.Errorf("cannot open the blob storage: %w", err)
	}
	return &Bucket{kept, folder(dir)}, nil
}

// Close closes the bucket.
func (b *Bucket) Close() error { return b.kept.Close() }

// Put stores the content of r if it matches the digest and the size. Otherwise it stores nothing and
// returns ErrMismatch. When it returns nil, the blob survives a crash. An existing blob is written
// again, which repairs a damaged one.
func (b *Bucket) Put(ctx context.Context, project int64, digest string, r io.Reader, size int64) error {
	key, err := keyOf(project, digest)
	if err != nil {
		return err
	}
	if size < 0 {
		return fmt.Errorf("cannot store blob %.12s: %w: size %d", digest, ErrMismatch, size)
	}
	err = b.place(ctx, key, size, func(w io.Writer) error {
		return copyExactly(w, r, digest, size)
	})
	if err != nil {
		return fmt.Errorf("cannot store blob %.12s: %w", digest, err)
	}
	failpoint.At("blob.kept")
	return nil
}

// Get opens a blob, or returns ErrNotFound. Reading ends with ErrDamaged if the bytes no longer match
// the digest.
func (b *Bucket) Get(ctx context.Context, project int64, digest string) (io.ReadCloser, error) {
	key, err := keyOf(project, digest)
	if err != nil {
		return nil, err
	}
	r, err := b.kept.NewReader(ctx, key, nil)
	if err != nil {
		return nil, said("read", digest, err)
	}
	return &checkedReader{r: r, digest: digest}, nil
}

// Has reports whether a blob exists.
func (b *Bucket) Has(ctx context.Context, project int64, digest string) (bool, error) {
	key, err := keyOf(project, digest)
	if err != nil {
		return false, err
	}
	ok, err := b.kept.Exists(ctx, key)
	if err != nil {
		return false, said("look for", digest, err)
	}
	return ok, nil
}

// Delete removes a blob. A missing blob is not an error.
func (b *Bucket) Delete(ctx context.Context, project int64, digest string) error {
	key, err := keyOf(project, digest)
	if err != nil {
		return err
	}
	if err := b.kept.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return said("remove", digest, err)
	}
	return nil
}

// All lists the blobs of a project. It stops at the first error.
func (b *Bucket) All(ctx context.Context, project int64) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for o, err := range b.all(ctx, project) {
			if err != nil {
				err = fmt.Errorf("cannot list the blobs of project %d: %w", project, err)
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// Projects lists the projects that have blobs. It stops at the first error.
func (b *Bucket) Projects(ctx context.Context) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		for o, err := range list(ctx, b.kept, &blob.ListOptions{Delimiter: "/"}) {
			if err != nil {
				yield(0, fmt.Errorf("cannot list the projects that have blobs: %w", err))
				return
			}
			name := strings.TrimSuffix(o.Key, "/")
			project, err := strconv.ParseInt(name, 10, 64)
			if !o.IsDir || err != nil || project <= 0 || strconv.FormatInt(project, 10) != name {
				continue // not a project
			}
			if !yield(project, nil) {
				return
			}
		}
	}
}

// list lists objects up to the first error.
func list(ctx context.Context, kept *blob.Bucket, o *blob.ListOptions) iter.Seq2[*blob.ListObject, error] {
	return func(yield func(*blob.ListObject, error) bool) {
		for list := kept.List(o); ; {
			object, err := list.Next(ctx)
			if errors.Is(err, io.EOF) || !yield(object, err) || err != nil {
				return
			}
		}
	}
}

// keyOf returns the key of a blob. The middle part keeps folders small.
func keyOf(project int64, digest string) (string, error) {
	if project <= 0 || len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return "", ErrName
	}
	return fmt.Sprintf("%d/%s/%s", project, digest[:2], digest), nil
}

func said(what, digest string, err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		err = ErrNotFound
	}
	return fmt.Errorf("cannot %s blob %.12s: %w", what, digest, err)
}
