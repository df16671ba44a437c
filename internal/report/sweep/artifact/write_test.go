package artifact_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/internal/report/sweep/artifact"
	"github.com/goatnote-inc/pawl/measure"
)

func written(t *testing.T, dir string, run *measure.Run) artifact.Written {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := measure.Save(filepath.Join(dir, "current.json"), run); err != nil {
		t.Fatal(err)
	}
	r, err := sweep.Analyze(run)
	if err != nil {
		t.Fatal(err)
	}
	list, err := artifact.Files(run, r, "current.json", "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	w, err := artifact.Write(dir, "current.json", "sweep-x", run.Created, list)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// What the archive holds is what the folder holds, and the manifest has the digest
// of all of it.
func TestArchiveIsTheFolder(t *testing.T) {
	w := written(t, filepath.Join(t.TempDir(), "a"), attention())
	packed := unpack(t, w.Archive)
	if got := len(packed); got != 18 {
		t.Errorf("%d files in the archive", got)
	}
	var listed int
	for line := range strings.Lines(packed["sweep-x/"+artifact.Manifest]) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		listed++
		if have := fmt.Sprintf("%x", sha256.Sum256([]byte(packed["sweep-x/"+name]))); have != sum {
			t.Errorf("%s: digest %s, its content has %s", name, sum, have)
		}
		b, err := os.ReadFile(filepath.Join(w.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(packed["sweep-x/"+name], string(b)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if listed != len(packed)-1 {
		t.Errorf("the manifest lists %d of %d files", listed, len(packed))
	}
}

func TestArchiveIsTheSameAnywhere(t *testing.T) {
	first, second := written(t, filepath.Join(t.TempDir(), "a"), attention()), written(t, filepath.Join(t.TempDir(), "other"), attention())
	if first.ArchiveSHA256 != second.ArchiveSHA256 {
		t.Errorf("archives of one record differ: %s and %s", first.ArchiveSHA256, second.ArchiveSHA256)
	}
	b, err := os.ReadFile(first.Archive)
	if err != nil {
		t.Fatal(err)
	}
	if have := fmt.Sprintf("%x", sha256.Sum256(b)); have != first.ArchiveSHA256 {
		t.Errorf("digest %s, the file has %s", first.ArchiveSHA256, have)
	}
	other := attention()
	other.Cases[0].Rounds[0].Samples[0]++
	if changed := written(t, filepath.Join(t.TempDir(), "a"), other); changed.ArchiveSHA256 == first.ArchiveSHA256 {
		t.Error("another record has the same archive")
	}
}

// A record may say that it was made at any time.
func TestArchiveTimes(t *testing.T) {
	for _, created := range []time.Time{{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		run := attention()
		run.Created = created
		written(t, filepath.Join(t.TempDir(), "a"), run)
	}
}

func TestWriteNeedsTheRecord(t *testing.T) {
	if _, err := artifact.Write(t.TempDir(), "current.json", "x", time.Time{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Thousands of configs are cut into pages, and beyond those there are the tables.
func TestManyConfigs(t *testing.T) {
	run := attention()
	model := run.Cases[:3]
	run.Cases = nil
	for n := range 450 {
		for _, c := range model {
			c.Config = fmt.Sprintf("N%d", n)
			run.Cases = append(run.Cases, c)
		}
	}
	all := files(t, run)
	for _, name := range []string{"figures/speed-1.svg", "figures/speed-10.svg", "figures/speedup-10.svg"} {
		if len(all[name]) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
	if all["figures/speed-11.svg"] != "" {
		t.Error("there are more than ten pages")
	}
	if !strings.Contains(all["README.md"], "1150 rows more in [tables/ranking.csv]") {
		t.Error("the page does not say where the other rows are")
	}
	if got := strings.Count(all["tables/ranking.csv"], "\n"); got != 1351 {
		t.Errorf("%d rows in the table", got)
	}
}

func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[h.Name] = string(body)
	}
}
