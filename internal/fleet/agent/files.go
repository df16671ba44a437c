package agent

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// newHTTP returns a client that follows no redirect: the key is for one server.
func newHTTP() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	transport.ResponseHeaderTimeout = time.Minute
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// statusError returns the error of an answer. A refusal stays; anything else may pass.
func statusError(res *http.Response) error {
	if res.StatusCode < 300 {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, 300))
	err := fmt.Errorf("%s: %s", res.Status, strings.ToValidUTF8(strings.TrimSpace(string(text)), "?"))
	switch res.StatusCode {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return permanent(err)
	}
	return err
}

func (a *Agent) request(ctx context.Context, d *leaseDir, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.id.Server+path, body)
	if err != nil {
		return nil, permanent(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.id.Key)
	req.Header.Set(job.LeaseHeader, base64.StdEncoding.EncodeToString(d.token))
	return req, nil
}

// fetch gets a file of a lease by its digest.
func (a *Agent) fetch(ctx context.Context, d *leaseDir, digest, to string) error {
	return a.repeat(ctx, "fetch a bundle", func() error {
		req, err := a.request(ctx, d, http.MethodGet, job.BundlePath+digest, nil)
		if err != nil {
			return err
		}
		res, err := a.http.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if err := statusError(res); err != nil {
			return err
		}
		return disk.Replace(to, 0o600, func(w io.Writer) error { return copyDigest(w, res.Body, digest) })
	})
}

// copyDigest copies a file that must have this digest.
func copyDigest(w io.Writer, r io.Reader, digest string) error {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(r, job.MaxBundle+1))
	switch {
	case err != nil:
		return fmt.Errorf("cannot read a bundle: %w", err)
	case n > job.MaxBundle:
		return permanent(fmt.Errorf("the bundle has more than %d bytes", int64(job.MaxBundle)))
	case hex.EncodeToString(sum.Sum(nil)) != digest:
		return errors.New("the bundle arrived incomplete: its digest is another")
	}
	return nil
}

// pack writes the archive with the documents of a run, and returns its digest; none if the run left no document. The same documents make
// the same archive.
func pack(d *leaseDir) (string, error) {
	sum, packed := sha256.New(), 0
	err := disk.Replace(d.file("documents.zip"), 0o600, func(w io.Writer) error {
		z := zip.NewWriter(io.MultiWriter(w, sum))
		for _, name := range job.Documents {
			content, err := disk.ReadRegular(d.file("out/"+name), job.MaxDocuments)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			f, err := z.Create(name)
			if err != nil {
				return err
			}
			if _, err := f.Write(content); err != nil {
				return err
			}
			packed++
		}
		return z.Close()
	})
	if err != nil {
		return "", fmt.Errorf("cannot pack the documents of a run: %w", err)
	}
	if packed == 0 {
		return "", nil
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// upload delivers the documents or the builds. A server that refuses them gets the result without them, with the reason.
func (a *Agent) upload(ctx context.Context, d *leaseDir) error {
	file, digest := d.file("documents.zip"), d.result.Record
	if d.result.Builds != "" {
		file, digest = d.file("builds.tar.gz"), d.result.Builds
	}
	if digest == "" {
		return nil
	}
	err := a.repeat(ctx, "deliver documents", func() error { return a.put(ctx, d, file, digest) })
	if _, final := errors.AsType[*permanentError](err); final {
		r := *d.result
		r.Record, r.Builds, r.Error = "", "", clip("cannot deliver the documents: "+err.Error(), maxReason)
		return d.save(r)
	}
	return err
}

func (a *Agent) put(ctx context.Context, d *leaseDir, file, digest string) error {
	f, err := os.Open(file)
	if err != nil {
		return permanent(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return permanent(err)
	}
	req, err := a.request(ctx, d, http.MethodPut, job.DocumentPath+digest, f)
	if err != nil {
		return err
	}
	req.ContentLength = info.Size()
	res, err := a.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return statusError(res)
}
