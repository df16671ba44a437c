package artifact

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// Written holds the location of an artifact.
type Written struct {
	Dir           string `json:"dir"`
	Archive       string `json:"archive"`
	ArchiveSHA256 string `json:"archive_sha256"`
}

// Write adds files and their digests to dir, which already contains the record, and packs
// everything into dir.tar.gz. It writes the manifest last: a folder with a manifest is
// complete. Name is the folder's name in the archive and created the time of its files, so
// that the archive is reproducible.
func Write(dir, record, name string, created time.Time, list []File) (Written, error) {
	sums := map[string]string{} // by path
	for _, f := range list {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(f.Path)), f.Body); err != nil {
			return Written{}, err
		}
		sums[f.Path] = fmt.Sprintf("%x", sha256.Sum256(f.Body))
	}
	var err error
	if sums[record], err = fileSum(filepath.Join(dir, record)); err != nil {
		return Written{}, err
	}
	manifest := File{Path: Manifest}
	for _, p := range slices.Sorted(maps.Keys(sums)) {
		manifest.Body = fmt.Appendf(manifest.Body, "%s  %s\n", sums[p], p)
	}
	if err := writeFile(filepath.Join(dir, Manifest), manifest.Body); err != nil {
		return Written{}, err
	}
	w := Written{Dir: dir, Archive: ArchiveOf(dir)}
	w.ArchiveSHA256, err = archive(w.Archive, dir, record, name, created, append(list, manifest))
	return w, err
}

func writeFile(path string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot create the folder of the artifact: %w", err)
	}
	if err := os.WriteFile(path, body, 0o644); err != nil {
		return fmt.Errorf("cannot write the artifact: %w", err)
	}
	return nil
}

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the record for the artifact: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("cannot read the record for the artifact: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// archive writes everything to one file atomically and returns its digest.
func archive(path, dir, record, name string, created time.Time, list []File) (string, error) {
	sum := sha256.New()
	err := disk.Replace(path, 0o644, func(w io.Writer) error {
		return pack(io.MultiWriter(w, sum), dir, record, name, created, list)
	})
	if err != nil {
		return "", fmt.Errorf("cannot write the archive %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// lastTime is the largest time that a tar header can hold.
const lastTime = 1<<33 - 1

// pack writes a compressed tar that does not depend on the machine or the current time.
func pack(w io.Writer, dir, record, name string, created time.Time, list []File) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	head := func(file string, size int64) error {
		return t.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: name + "/" + file, Size: size, Mode: 0o644,
			ModTime: time.Unix(min(max(created.Unix(), 0), lastTime), 0).UTC(), Format: tar.FormatUSTAR,
		})
	}
	for _, f := range list {
		if err := head(f.Path, int64(len(f.Body))); err != nil {
			return err
		}
		if _, err := t.Write(f.Body); err != nil {
			return err
		}
	}
	f, err := os.Open(filepath.Join(dir, record))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := head(record, info.Size()); err != nil {
		return err
	}
	if _, err := io.CopyN(t, f, info.Size()); err != nil {
		return err
	}
	return errors.Join(t.Close(), z.Close())
}
