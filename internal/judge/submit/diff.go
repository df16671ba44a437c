package submit

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// fileDiff is what a diff does to one file.
type fileDiff struct {
	name   string // as written, without a/ or b/
	mode   string // new mode; empty if the diff does not set one
	create bool
	remove bool
	hunks  []hunk
}

// hunk replaces lines by others. Lines keep their newline, except a last line without one.
type hunk struct {
	at       int // line of the first old line, from 1; 0 for an empty file
	old, new []string
}

var hunkHeader = lazyregexp.New(`^@@ -(\d{1,7})(?:,(\d{1,7}))? \+\d{1,7}(?:,(\d{1,7}))? @@`)

// readDiff reads a unified diff. Text before and between files is skipped; everything but changes of
// regular text files is refused.
func readDiff(text []byte) ([]fileDiff, error) {
	if len(text) > maxBytes {
		return nil, refuse("the diff has %d bytes; the limit is %d", len(text), maxBytes)
	}
	r := diffReader{lines: strings.SplitAfter(string(text), "\n")}
	for r.at < len(r.lines) {
		if err := r.line(); err != nil {
			return nil, err
		}
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	if len(r.files) == 0 {
		return nil, refuse("the diff changes no file: it must be a unified diff, as git diff prints it")
	}
	return r.files, nil
}

type diffReader struct {
	lines []string
	at    int
	files []fileDiff
	file  *fileDiff // being read
	old   string    // its --- line
}

// line reads one header line, or one hunk.
func (r *diffReader) line() error {
	line := strings.TrimRight(r.lines[r.at], "\r\n")
	switch word, rest, _ := strings.Cut(line, " "); {
	case strings.HasPrefix(line, "diff --git "):
		if err := r.finish(); err != nil {
			return err
		}
		r.file = &fileDiff{name: gitName(line)}
	case word == "---" && r.at+1 < len(r.lines) && strings.HasPrefix(r.lines[r.at+1], "+++ "):
		return r.names(rest)
	case strings.HasPrefix(line, "@@ "):
		if r.file == nil || r.file.name == "" {
			return refuse("line %d of the diff: a hunk without the name of its file", r.at+1)
		}
		return r.hunk()
	case strings.HasPrefix(line, "Binary files ") || line == "GIT binary patch":
		return refuse("line %d of the diff: binary files are not accepted", r.at+1)
	case r.file != nil && len(r.file.hunks) == 0:
		if err := r.extended(line); err != nil {
			return err
		}
	}
	r.at++
	return nil
}

// extended reads a header line of git.
func (r *diffReader) extended(line string) error {
	for _, moved := range []string{"rename from ", "rename to ", "copy from ", "copy to "} {
		if strings.HasPrefix(line, moved) {
			return refuse("line %d of the diff: renames and copies are not accepted; use git diff --no-renames", r.at+1)
		}
	}
	for _, h := range []struct {
		prefix string
		set    func(mode string)
	}{
		{"new file mode ", func(mode string) { r.file.create, r.file.mode = true, mode }},
		{"new mode ", func(mode string) { r.file.mode = mode }},
		{"old mode ", func(string) {}},
		{"deleted file mode ", func(string) { r.file.remove = true }},
	} {
		mode, ok := strings.CutPrefix(line, h.prefix)
		if !ok {
			continue
		}
		if err := checkMode(r.file.name, mode); err != nil {
			return err
		}
		h.set(mode)
	}
	return nil
}

// names reads the --- and +++ lines, which name the file.
func (r *diffReader) names(old string) error {
	now := strings.TrimRight(strings.TrimPrefix(r.lines[r.at+1], "+++ "), "\r\n")
	if r.file == nil || len(r.file.hunks) > 0 || r.old != "" {
		if err := r.finish(); err != nil {
			return err
		}
		r.file = &fileDiff{}
	}
	r.old = old
	from, to := plainName(old, "a/"), plainName(now, "b/")
	switch {
	case from == "" && to == "":
		return refuse("line %d of the diff: it names no file", r.at+1)
	case from == "":
		r.file.create, r.file.name = true, to
	case to == "":
		r.file.remove, r.file.name = true, from
	case from != to:
		return refuse("line %d of the diff: renames are not accepted", r.at+1)
	default:
		r.file.name = to
	}
	r.at += 2
	return nil
}

// plainName returns the path of a --- or +++ line; empty for /dev/null.
func plainName(text, prefix string) string {
	text, _, _ = strings.Cut(text, "\t") // some tools add a time
	text = strings.TrimSpace(text)
	if text == "/dev/null" {
		return ""
	}
	return strings.TrimPrefix(text, prefix)
}

// gitName returns the path of a "diff --git a/x b/x" line; empty if the two differ.
func gitName(line string) string {
	names := strings.TrimPrefix(line, "diff --git ")
	half := len(names) / 2
	if len(names)%2 == 0 || names[half] != ' ' {
		return ""
	}
	a, b := names[:half], names[half+1:]
	if strings.TrimPrefix(a, "a/") != strings.TrimPrefix(b, "b/") {
		return ""
	}
	return strings.TrimPrefix(b, "b/")
}

// hunk reads a hunk.
func (r *diffReader) hunk() error {
	start := r.at + 1
	m := hunkHeader.FindStringSubmatch(r.lines[r.at])
	if m == nil {
		return refuse("line %d of the diff is not the start of a hunk", start)
	}
	count := func(text string) int {
		if text == "" {
			return 1
		}
		n, _ := strconv.Atoi(text) // at most 7 digits
		return n
	}
	h := hunk{at: count(m[1])}
	olds, news := count(m[2]), count(m[3])
	for r.at++; r.at < len(r.lines) && (len(h.old) < olds || len(h.new) < news); r.at++ {
		line := r.lines[r.at]
		switch {
		case line == "" || line == "\n" || line == "\r\n": // an empty context line whose space was stripped
			h.old, h.new = append(h.old, line), append(h.new, line)
		case line[0] == ' ':
			h.old, h.new = append(h.old, line[1:]), append(h.new, line[1:])
		case line[0] == '-':
			h.old = append(h.old, line[1:])
		case line[0] == '+':
			h.new = append(h.new, line[1:])
		case line[0] == '\\':
			h.endWithoutNewline(r.lines[r.at-1])
		default:
			return refuse("line %d of the diff: expected a line that starts with a space, - or +", r.at+1)
		}
	}
	if r.at < len(r.lines) && strings.HasPrefix(r.lines[r.at], `\`) {
		h.endWithoutNewline(r.lines[r.at-1])
		r.at++
	}
	if len(h.old) != olds || len(h.new) != news {
		return refuse("line %d of the diff: the hunk has %d old and %d new lines, its header says %d and %d", start, len(h.old), len(h.new), olds, news)
	}
	r.file.hunks = append(r.file.hunks, h)
	return nil
}

// endWithoutNewline removes the newline of the line that came last.
func (h *hunk) endWithoutNewline(last string) {
	trim := func(list []string) {
		if n := len(list); n > 0 {
			list[n-1] = strings.TrimSuffix(strings.TrimSuffix(list[n-1], "\n"), "\r")
		}
	}
	if !strings.HasPrefix(last, "+") {
		trim(h.old)
	}
	if !strings.HasPrefix(last, "-") {
		trim(h.new)
	}
}

// finish adds the file that was read.
func (r *diffReader) finish() error {
	f := r.file
	r.file, r.old = nil, ""
	switch {
	case f == nil:
		return nil
	case len(r.files) == maxFiles:
		return refuse("the diff changes more than %d files", maxFiles)
	case f.name == "":
		return refuse("the diff has a header that does not name its file")
	case strings.HasPrefix(f.name, `"`):
		return refuseName(f.name, "quoted paths are not accepted")
	case f.create && f.remove:
		return refuseName(f.name, "a file is both created and deleted")
	case len(f.hunks) == 0 && !f.create && !f.remove && f.mode == "":
		return refuseName(f.name, "the diff says nothing about a file")
	}
	r.files = append(r.files, *f)
	return checkPath(f.name)
}

// apply returns the content of a file after a diff. A hunk may have moved, but its old lines must be there.
func (f fileDiff) apply(content string) (string, error) {
	lines := strings.SplitAfter(content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out []string
	done, offset := 0, 0 // lines of content that were used; how far the last hunk had moved
	for i, h := range f.hunks {
		want := h.at - 1 + offset
		if len(h.old) == 0 {
			want++ // lines are inserted after it
		}
		at := find(lines, h.old, done, want)
		if at < 0 {
			return "", refuseName(f.name, "hunk %d of a file does not match the base", i+1)
		}
		offset += at - want
		out = append(append(out, lines[done:at]...), h.new...)
		done = at + len(h.old)
	}
	return strings.Join(append(out, lines[done:]...), ""), nil
}

// find returns where old is in lines, from index from on: the place nearest to want; -1 if nowhere.
func find(lines, old []string, from, want int) int {
	last := len(lines) - len(old)
	matches := func(at int) bool { return at >= from && at <= last && slices.Equal(lines[at:at+len(old)], old) }
	if len(old) == 0 {
		if want < from || want > last {
			return -1
		}
		return want
	}
	for d := range max(len(lines), want) + 1 {
		if matches(want - d) {
			return want - d
		}
		if matches(want + d) {
			return want + d
		}
	}
	return -1
}

// diffChanges applies a diff to the base.
func (g *Grant) diffChanges(ctx context.Context, text []byte) ([]build.FileChange, error) {
	files, err := readDiff(text)
	if err != nil {
		return nil, err
	}
	var list []build.FileChange
	for _, f := range files {
		c, err := g.applyDiff(ctx, f)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func (g *Grant) applyDiff(ctx context.Context, f fileDiff) (build.FileChange, error) {
	name := f.name
	was, known, err := g.repo.File(ctx, g.Base, name)
	if err == nil && !known && g.inside != "." && !strings.HasPrefix(name, g.inside+"/") { // a path from the suite's folder
		name = path.Join(g.inside, f.name)
		was, known, err = g.repo.File(ctx, g.Base, name)
	}
	c := build.FileChange{Path: name, Mode: f.mode}
	switch {
	case err != nil:
		return c, err
	case f.create && known:
		return c, refuseName(f.name, "a file already exists in the base")
	case !f.create && !known:
		return c, refuseName(f.name, "a file is not in the base")
	case f.remove:
		c.Mode = ""
		return c, nil
	}
	content := ""
	if known {
		if err := checkMode(name, was.Mode); err != nil {
			return c, err
		}
		if was.Size > maxFileBytes {
			return c, refuseName(name, "a file has %d bytes; the limit is %d", was.Size, maxFileBytes)
		}
		text, err := g.repo.Content(ctx, was.Object)
		if err != nil {
			return c, err
		}
		content = string(text)
	}
	if c.Mode == "" {
		c.Mode = build.ModeFile
		if known {
			c.Mode = was.Mode
		}
	}
	content, err = f.apply(content)
	c.Content = []byte(content)
	return c, err
}
