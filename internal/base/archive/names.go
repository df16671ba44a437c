package archive

import (
	"archive/zip"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// names holds the entries of an archive seen so far.
type names struct {
	seen map[string]bool
	want map[string]string // keyed by lower-case name, because some file systems ignore case
}

func newNames(wanted []WantedFile) *names {
	n := &names{seen: map[string]bool{}, want: map[string]string{}}
	for _, w := range wanted {
		n.want[strings.ToLower(w.Name)] = w.Name
	}
	return n
}

// add rejects a name that leads outside, hides something, or is a duplicate.
func (n *names) add(name string, mode fs.FileMode) error {
	short := name[:min(len(name), 80)]
	if problem := badName(name); problem != "" {
		return reject("an entry has a name that %s: %.120q", problem, short)
	}
	path, folder := strings.CutSuffix(name, "/")
	switch kind := mode.Type(); {
	case kind != 0 && kind != fs.ModeDir:
		return reject("%q is not a regular file (%s)", short, kind)
	case folder != (kind == fs.ModeDir):
		return reject("%q is a folder by its name or by its type, but not by both", short)
	case n.seen[path]:
		return reject("%q is in it twice", short)
	}
	n.seen[path] = true
	first, _, deeper := strings.Cut(path, "/")
	wanted, ok := n.want[strings.ToLower(first)]
	switch {
	case !ok:
	case first != wanted:
		return reject("%q differs from %s only in letter case", short, wanted)
	case folder || deeper:
		return reject("%s is a folder", wanted)
	}
	return nil
}

// badName says what is wrong with a name; empty if nothing is.
func badName(name string) string {
	path := strings.TrimSuffix(name, "/")
	switch {
	case path == "":
		return "is empty"
	case len(name) > maxName:
		return "is too long"
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "has unprintable characters"
	case strings.Contains(name, "\\"):
		return "has a backslash"
	case !fs.ValidPath(path) || path == ".":
		return "is not a valid relative path"
	case len(path) >= 2 && path[1] == ':':
		return "starts with a drive letter"
	case strings.Count(path, "/") >= maxDepth:
		return "is nested too deeply"
	}
	return ""
}

// checkEntry rejects entries that only a zip bomb or another program needs.
func checkEntry(f *zip.File) error {
	name := f.Name[:min(len(f.Name), 80)]
	switch {
	case f.Flags&1 != 0:
		return reject("%q is encrypted", name)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return reject("%q is compressed with method %d, which is not supported", name, f.Method)
	case f.UncompressedSize64 > ratioFrom && f.UncompressedSize64/maxRatio > f.CompressedSize64:
		return reject("%q claims to unpack to %d bytes from %d", name, f.UncompressedSize64, f.CompressedSize64)
	}
	return nil
}

// checkOverlap rejects entries that share bytes, such as one small piece unpacked a thousand
// times.
func checkOverlap(files []*zip.File, size int64) error {
	type span struct {
		from, to int64
		name     string
	}
	var spans []span
	for _, f := range files {
		from, err := f.DataOffset()
		if err != nil {
			return reject("cannot find the start of %.80q: %w", f.Name, err)
		}
		if f.CompressedSize64 > uint64(size) || from > size-int64(f.CompressedSize64) {
			return reject("%.80q ends after the end of the archive", f.Name)
		}
		spans = append(spans, span{from, from + int64(f.CompressedSize64), f.Name})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to || spans[i].from == spans[i-1].from {
			return reject("%.80q and %.80q overlap", spans[i-1].name, spans[i].name)
		}
	}
	return nil
}

// endOfArchive is how many bytes may be read to find the start of an archive's directory.
// Its end record can be anywhere in the last 64 KiB, and is searched for twice.
const endOfArchive = 192 << 10

// limitedReaderAt stops reading after a number of bytes. The size of an archive's directory is
// untrusted, it is read completely, and each name uses ten times its bytes in memory.
type limitedReaderAt struct {
	from io.ReaderAt
	left int64 // negative means no limit
}

var errDirectoryTooLong = errors.New("it is too long for a list of results")

func (f *limitedReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if f.left < 0 {
		return f.from.ReadAt(p, at)
	}
	n, err := f.from.ReadAt(p, at)
	if int64(n) > f.left {
		f.left = 0
		return 0, errDirectoryTooLong
	}
	f.left -= int64(n)
	return n, err
}
