package archive_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/archive"
)

var limits = archive.Limits{
	Want:    []archive.WantedFile{{Name: "current.json", Most: 3 << 19}, {Name: "exit-code", Most: 16}, {Name: "verdict.json", Most: 3 << 19}},
	Entries: 100, Directory: 64 << 10, Total: 2 << 20,
}

// entry is a file of an archive that a test makes.
type entry struct {
	name, body string
	mode       fs.FileMode
	change     func(*zip.FileHeader)
}

func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		if e.change != nil {
			e.change(h)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(e.body))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t testing.TB, packed []byte) (archive.Manifest, string, error) {
	t.Helper()
	outer := t.TempDir()
	dir := filepath.Join(outer, "in")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	m, err := archive.Unpack(bytes.NewReader(packed), int64(len(packed)), root, limits)
	if left := list(t, outer); !slices.Equal(left, []string{"in"}) {
		t.Errorf("outside of the folder there is %q", left)
	}
	return m, dir, err
}

func list(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestUnpackTakesWhatIsWanted(t *testing.T) {
	m, dir, err := unpack(t, pack(
		t,
		entry{name: "current.json", body: "{}"}, entry{name: "exit-code", body: "1\n"},
		entry{name: "report.html", body: "<p>"}, entry{name: "profiles/", mode: fs.ModeDir | 0o755}, entry{name: "profiles/Softmax.png", body: "x"},
	))
	if err != nil {
		t.Fatal(err)
	}
	want := archive.Manifest{Files: map[string]int64{"current.json": 2, "exit-code": 2}, Ignored: 3}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if got := list(t, dir); !slices.Equal(got, []string{"current.json", "exit-code"}) {
		t.Errorf("unpacked %q", got)
	}
}

// hostile archives: none of them is made by a job that packs its results.
func hostile(t testing.TB) map[string][]byte {
	t.Helper()
	good := entry{name: "current.json", body: "{}"}
	long := strings.Repeat("a", 60)
	many := make([]entry, 101)
	huge := make([]entry, 700)
	for i := range huge {
		huge[i] = entry{name: fmt.Sprintf("%s-%d", long, i)}
	}
	for i := range many {
		many[i] = entry{name: fmt.Sprint(i)}
	}
	return map[string][]byte{
		"no archive":        []byte("PK\x03\x04 and nothing else"),
		"empty":             nil,
		"parent":            pack(t, good, entry{name: "../evil", body: "x"}),
		"parent inside":     pack(t, good, entry{name: "a/../../evil", body: "x"}),
		"absolute":          pack(t, good, entry{name: "/etc/passwd", body: "x"}),
		"drive":             pack(t, good, entry{name: "C:/evil", body: "x"}),
		"backslash":         pack(t, good, entry{name: `..\evil`, body: "x"}),
		"dot":               pack(t, good, entry{name: "./current.json", body: "x"}),
		"empty part":        pack(t, good, entry{name: "a//b", body: "x"}),
		"NUL":               pack(t, good, entry{name: "exit-code\x00.png", body: "x"}),
		"escape":            pack(t, good, entry{name: "\x1b[2Jx", body: "x"}),
		"bidi":              pack(t, good, entry{name: "a\u202eb", body: "x"}),
		"not UTF-8":         pack(t, good, entry{name: "a\xffb", body: "x"}),
		"long name":         pack(t, good, entry{name: strings.Repeat("a", 513), body: "x"}),
		"deep name":         pack(t, good, entry{name: strings.Repeat("a/", 20) + "a", body: "x"}),
		"twice":             pack(t, good, good),
		"other letters":     pack(t, good, entry{name: "Current.JSON", body: "x"}),
		"symlink":           pack(t, entry{name: "current.json", body: "/etc/passwd", mode: fs.ModeSymlink | 0o777}),
		"symlink elsewhere": pack(t, good, entry{name: "logs", body: "/etc", mode: fs.ModeSymlink | 0o777}),
		"device":            pack(t, entry{name: "current.json", mode: fs.ModeDevice | 0o666}),
		"pipe":              pack(t, entry{name: "current.json", mode: fs.ModeNamedPipe | 0o666}),
		"folder":            pack(t, entry{name: "current.json/", mode: fs.ModeDir | 0o755}),
		"folder below":      pack(t, entry{name: "current.json/x", body: "x"}),
		"too large":         pack(t, entry{name: "exit-code", body: strings.Repeat("1", 17)}),
		"all too large":     pack(t, entry{name: "current.json", body: noise(3 << 19)}, entry{name: "verdict.json", body: noise(3 << 19)}),
		"bomb":              pack(t, entry{name: "current.json", body: strings.Repeat("1", 3<<19)}),
		"bomb nobody wants": pack(t, good, entry{name: "report.html", body: strings.Repeat("1", 2<<20)}),
		"many entries":      pack(t, many...),
		"long list":         pack(t, huge...),
		"encrypted":         pack(t, entry{name: "current.json", body: "{}", change: func(h *zip.FileHeader) { h.Flags |= 1 }}),
		"checksum":          broken(pack(t, entry{name: "current.json", body: "{}", change: func(h *zip.FileHeader) { h.Method = zip.Store }})),
		"short by its list": lie(pack(t, entry{name: "current.json", body: noise(1 << 16)}), 24, 3),
		"long by its list":  lie(pack(t, good), 24, 1<<30),
		"behind the end":    lie(pack(t, good), 20, 1<<30),
		"overlap":           overlap(pack(t, entry{name: "current.json", body: "{}"}, entry{name: "verdict.json", body: "{}"})),
		"zip64 that lies":   lie(pack(t, good), 24, 0xffffffff),
		"count that lies":   count(pack(t, good), 9),
	}
}

// noise does not shrink.
func noise(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}

// directory is where the list of an archive begins.
func directory(b []byte) int { return int(binary.LittleEndian.Uint32(b[len(b)-22+16:])) }

// lie changes a number in the first entry of the list.
func lie(b []byte, at int, value uint32) []byte {
	binary.LittleEndian.PutUint32(b[directory(b)+at:], value)
	return b
}

// overlap lets the second entry begin where the first does.
func overlap(b []byte) []byte {
	second := directory(b) + bytes.Index(b[directory(b)+4:], []byte("PK\x01\x02")) + 4
	binary.LittleEndian.PutUint32(b[second+42:], 0)
	return b
}

func count(b []byte, n uint16) []byte {
	binary.LittleEndian.PutUint16(b[len(b)-22+10:], n)
	return b
}

// broken changes a stored byte of the content.
func broken(b []byte) []byte {
	i := bytes.Index(b, []byte("{}"))
	b[i] = '['
	return b
}

func TestUnpackRefuses(t *testing.T) {
	for name, packed := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			_, dir, err := unpack(t, packed)
			if !errors.Is(err, archive.ErrRejected) {
				t.Fatalf("it is let through, error %v", err)
			}
			if text := err.Error(); len(text) > 400 || strings.ContainsAny(text, "\x1b\x00\n") {
				t.Errorf("the message is not fit for a log: %q", text)
			}
			for _, left := range list(t, dir) {
				if info, _ := os.Lstat(filepath.Join(dir, left)); !info.Mode().IsRegular() || info.Size() > 3<<19+1 {
					t.Errorf("%s is left: %s of %d bytes", left, info.Mode(), info.Size())
				}
			}
		})
	}
}

func TestOpenFollowsNoLink(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, lay := range map[string]func(dir string) error{
		"link out":    func(dir string) error { return os.Symlink(outside, filepath.Join(dir, "current.json")) },
		"link inside": func(dir string) error { return os.Symlink("verdict.json", filepath.Join(dir, "current.json")) },
		"folder":      func(dir string) error { return os.Mkdir(filepath.Join(dir, "current.json"), 0o700) },
		"too large":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "exit-code"), make([]byte, 17), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, into := t.TempDir(), t.TempDir()
			if err := errors.Join(os.WriteFile(filepath.Join(dir, "verdict.json"), []byte("{}"), 0o600), lay(dir)); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(into)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			if _, err := archive.Open(dir, root, limits); !errors.Is(err, archive.ErrRejected) {
				t.Errorf("it is let through, error %v", err)
			}
		})
	}
}

func TestOpenCopies(t *testing.T) {
	dir, into := t.TempDir(), t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "exit-code"), []byte("1\n\x1b[31m"), 0o600), os.WriteFile(filepath.Join(dir, "other"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	m, err := archive.Open(dir, root, limits)
	if err != nil || !m.Has("exit-code") || m.Has("current.json") {
		t.Fatalf("have %+v, error %v", m, err)
	}
	if got := archive.Text(root, "exit-code", 16); got != "1[31m" {
		t.Errorf("text %q", got)
	}
	if got := list(t, into); !slices.Equal(got, []string{"exit-code"}) {
		t.Errorf("copied %q", got)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(pack(f, entry{name: "../evil", body: "x"}, entry{name: "current.json", body: "/etc/passwd", mode: fs.ModeSymlink | 0o777}))
	f.Add(lie(pack(f, entry{name: "current.json", body: "{}"}), 24, 0xffffffff))
	f.Add(overlap(pack(f, entry{name: "current.json", body: "{}"}, entry{name: "verdict.json", body: "{}"})))
	f.Add(pack(f, entry{name: "current.json", body: "{}"}, entry{name: "x/y", body: "z"}))
	f.Fuzz(func(t *testing.T, packed []byte) {
		m, dir, err := unpack(t, packed)
		if err != nil {
			return
		}
		for name, size := range m.Files {
			info, err := os.Lstat(filepath.Join(dir, name))
			if err != nil || !info.Mode().IsRegular() || info.Size() != size {
				t.Errorf("%s: %v, error %v, want %d bytes", name, info, err, size)
			}
		}
		if got := list(t, dir); len(got) != len(m.Files) {
			t.Errorf("unpacked %q, told of %v", got, m.Files)
		}
	})
}
