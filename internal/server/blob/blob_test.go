package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/server/blob"
)

// place is where a bucket keeps its files on this machine, to look behind its back.
type place struct {
	*blob.Bucket
	dir string
}

// files are all files below the place, whatever they are called.
func (p place) files(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(p.dir, path)
			list = append(list, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestFolder(t *testing.T) {
	conform(t, func(t *testing.T) place {
		t.Helper()
		dir := t.TempDir()
		return place{open(t, "file://"+dir), dir}
	})
}

func open(t *testing.T, url string) *blob.Bucket {
	t.Helper()
	b, err := blob.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// large is more than S3 takes in one piece.
var large = bytes.Repeat([]byte("0123456789abcdef"), 12<<20/16)

// conform is what every place of blobs does.
func conform(t *testing.T, fresh func(*testing.T) place) {
	t.Helper()
	t.Run("what is put can be got", func(t *testing.T) {
		p := fresh(t)
		for name, data := range map[string][]byte{"small": []byte("hello"), "empty": {}, "large": large} {
			d := digest(data)
			if ok, err := p.Has(t.Context(), 7, d); ok || err != nil {
				t.Errorf("%s: Has = %v, %v before", name, ok, err)
			}
			for range 2 { // the second time is as good as the first
				if err := p.Put(t.Context(), 7, d, bytes.NewReader(data), int64(len(data))); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if ok, err := p.Has(t.Context(), 7, d); !ok || err != nil {
				t.Errorf("%s: Has = %v, %v after", name, ok, err)
			}
			if got := get(t, p, 7, d); !bytes.Equal(got, data) {
				t.Errorf("%s: %d bytes came back of %d", name, len(got), len(data))
			}
		}
		if list := p.files(t); len(list) != 3 {
			t.Errorf("3 blobs are in files %v", list)
		}
	})
	t.Run("what is not there", func(t *testing.T) { absent(t, fresh(t)) })
	t.Run("projects are apart", func(t *testing.T) { apart(t, fresh(t)) })
	t.Run("faults leave nothing behind", func(t *testing.T) { faults(t, fresh(t)) })
	t.Run("names are never paths", func(t *testing.T) { names(t, fresh(t)) })
	t.Run("a damaged blob is told", func(t *testing.T) { damaged(t, fresh(t)) })
	t.Run("many at once", func(t *testing.T) { together(t, fresh(t)) })
}

func get(t *testing.T, p place, project int64, d string) []byte {
	t.Helper()
	r, err := p.Get(t.Context(), project, d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func absent(t *testing.T, p place) {
	t.Helper()
	d := digest([]byte("nobody"))
	if _, err := p.Get(t.Context(), 1, d); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	if err := p.Delete(t.Context(), 1, d); err != nil {
		t.Errorf("Delete: %v", err)
	}
	for _, err := range p.All(t.Context(), 1) {
		t.Errorf("All: %v", err)
	}
	for _, err := range p.Projects(t.Context()) {
		t.Errorf("Projects: %v", err)
	}
}

func apart(t *testing.T, p place) {
	t.Helper()
	put := func(project int64, text string) string {
		d := digest([]byte(text))
		if err := p.Put(t.Context(), project, d, strings.NewReader(text), int64(len(text))); err != nil {
			t.Fatal(err)
		}
		return d
	}
	a, b := put(1, "a"), put(1, "bb")
	put(12, "a") // 1 is no prefix of 12
	if err := p.Delete(t.Context(), 1, a); err != nil {
		t.Fatal(err)
	}
	if ok, err := p.Has(t.Context(), 1, a); ok || err != nil {
		t.Errorf("it is there after it was removed: %v", err)
	}
	if string(get(t, p, 12, a)) != "a" {
		t.Error("the other project's is gone too")
	}
	var found []blob.Object
	for o, err := range p.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if time.Since(o.Modified).Abs() > time.Hour {
			t.Errorf("modified %v", o.Modified)
		}
		o.Modified = time.Time{}
		found = append(found, o)
	}
	if diff := cmp.Diff([]blob.Object{{Project: 1, Digest: b, Size: 2}}, found); diff != "" {
		t.Error(diff)
	}
	var projects []int64
	for id, err := range p.Projects(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		projects = append(projects, id)
	}
	if slices.Sort(projects); !slices.Equal(projects, []int64{1, 12}) {
		t.Errorf("projects %v", projects)
	}
}

func faults(t *testing.T, p place) {
	t.Helper()
	cut := errors.New("the line was cut")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx    context.Context
		r      io.Reader
		digest string
		size   int64
		want   error
	}{
		"cut":                  {t.Context(), io.MultiReader(bytes.NewReader(large[:8<<20]), iotest.ErrReader(cut)), digest(large), int64(len(large)), cut},
		"cut at the end":       {t.Context(), io.MultiReader(bytes.NewReader(large), iotest.ErrReader(cut)), digest(large), int64(len(large)), cut},
		"shorter":              {t.Context(), bytes.NewReader(large[1:]), digest(large), int64(len(large)), blob.ErrMismatch},
		"longer":               {t.Context(), io.MultiReader(bytes.NewReader(large), strings.NewReader("x")), digest(large), int64(len(large)), blob.ErrMismatch},
		"endless":              {t.Context(), endless{}, digest(nil), 6 << 20, blob.ErrMismatch},
		"other bytes":          {t.Context(), bytes.NewReader(large), digest([]byte("other")), int64(len(large)), blob.ErrMismatch},
		"one other bit":        {t.Context(), strings.NewReader("hellp"), digest([]byte("hello")), 5, blob.ErrMismatch},
		"must not be negative": {t.Context(), strings.NewReader(""), digest(nil), -1, blob.ErrMismatch},
		"interrupted":          {ended, bytes.NewReader(large), digest(large), int64(len(large)), context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			if err := p.Put(tc.ctx, 1, tc.digest, tc.r, tc.size); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			if list := p.files(t); len(list) > 0 {
				t.Errorf("left behind: %v", list)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// Where a blob lies is decided by its digest. Whatever a sender writes in its place is
// refused and touches nothing.
func names(t *testing.T, p place) {
	t.Helper()
	good := digest([]byte("x"))
	for _, d := range []string{
		"", ".", "..", "/", "../../../../etc/passwd", "/etc/passwd", `..\..\windows`, "C:", "CON", "NUL", "nul.txt", good[:63], good + "0",
		strings.ToUpper(good), good[:62] + "/.", good[:63] + "\x00", good[:63] + "g", "../" + good[:61], strings.Repeat("a", 4096),
		strings.Repeat(".", 64), strings.Repeat("é", 32), "incoming", good + "\n",
	} {
		if err := p.Put(t.Context(), 1, d, strings.NewReader("x"), 1); !errors.Is(err, blob.ErrName) {
			t.Errorf("Put %q: %v", d, err)
		}
		if _, err := p.Get(t.Context(), 1, d); !errors.Is(err, blob.ErrName) {
			t.Errorf("Get %q: %v", d, err)
		}
		if err := p.Delete(t.Context(), 1, d); !errors.Is(err, blob.ErrName) {
			t.Errorf("Delete %q: %v", d, err)
		}
		if _, err := p.Has(t.Context(), 1, d); !errors.Is(err, blob.ErrName) {
			t.Errorf("Has %q: %v", d, err)
		}
	}
	for _, project := range []int64{0, -1} {
		if err := p.Put(t.Context(), project, good, strings.NewReader("x"), 1); !errors.Is(err, blob.ErrName) {
			t.Errorf("project %d: %v", project, err)
		}
	}
	if list := p.files(t); len(list) > 0 {
		t.Errorf("files %v", list)
	}
}

func damaged(t *testing.T, p place) {
	t.Helper()
	d := digest([]byte("hello"))
	if err := p.Put(t.Context(), 1, d, strings.NewReader("hello"), 5); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, p.files(t)[0]), []byte("hellp"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := p.Get(t.Context(), 1, d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = io.ReadAll(r)
	if !errors.Is(err, blob.ErrDamaged) && (err == nil || !strings.Contains(err.Error(), "checksum did not match")) { // S3 has sums of its own
		t.Errorf("%v", err)
	}
	if err := p.Put(t.Context(), 1, d, strings.NewReader("hello"), 5); err != nil {
		t.Fatal(err)
	}
	if string(get(t, p, 1, d)) != "hello" {
		t.Error("it was not mended")
	}
}

// Somebody who reads while others write sees the whole blob or none.
func together(t *testing.T, p place) {
	t.Helper()
	data := large[:1<<20]
	d := digest(data)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if err := p.Put(t.Context(), 1, d, bytes.NewReader(data), int64(len(data))); err != nil {
				t.Error(err)
			}
		})
		wait.Go(func() {
			r, err := p.Get(t.Context(), 1, d)
			if errors.Is(err, blob.ErrNotFound) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			if got, err := io.ReadAll(r); err != nil || len(got) != len(data) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	wait.Wait()
	if got := get(t, p, 1, d); !bytes.Equal(got, data) {
		t.Error("another blob came back")
	}
}

func TestOpenRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"":                           "neither file:///DIR nor s3://BUCKET",
		"/var/lib/pawld":             "neither file:///DIR nor s3://BUCKET",
		"file://var/lib":             "three slashes",
		"file:///tmp/x?metadata=a":   "nothing after",
		"mem://":                     "neither",
		"gs://bucket":                "neither",
		"s3://b?use_path_style=what": "use_path_style",
		"::":                         "cannot open the blob storage",
	} {
		if _, err := blob.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
}

func TestFolder_ListsOnlyBlobs(t *testing.T) {
	dir := t.TempDir()
	b := open(t, "file://"+dir)
	d := digest([]byte("x"))
	if err := b.Put(t.Context(), 1, d, strings.NewReader("x"), 1); err != nil {
		t.Fatal(err)
	}
	for _, stray := range []string{"stray", d, d[:2] + "/stray", "zz/" + d, d[:2] + "/deeper/" + d} {
		path := filepath.Join(dir, "1", filepath.FromSlash(stray))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	for o, err := range b.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, o.Digest)
	}
	if !slices.Equal(found, []string{d}) {
		t.Errorf("found %v", found)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range b.All(ended, 1) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of its context: %v", err)
		}
	}
}

// What a killed writer left goes when the folder is opened a day later; what is under
// way stays.
func TestOpenSweeps(t *testing.T) {
	dir := t.TempDir()
	open(t, "file://"+dir)
	old, young := filepath.Join(dir, "incoming", "blob-1"), filepath.Join(dir, "incoming", "blob-2")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	open(t, "file://"+dir)
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old one: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("the young one: %v", err)
	}
}
