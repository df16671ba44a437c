package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// Limits of what is read of a kernel's source. Larger files are known by their size only.
const (
	maxSource = 8 << 20 // bytes
	maxDiff   = 4 << 10 // bytes of a recorded patch
)

// Sources is the state of a kernel's source at one moment.
type Sources struct {
	Files      map[string]string `json:"files"`                // digest by path from the top of the repository
	Parameters map[string]string `json:"parameters,omitempty"` // defaults of what can be tuned
	Flags      map[string]string `json:"flags,omitempty"`      // of the build

	top   string
	texts map[string][]byte // by digest
}

// TakeSources reads the source files of a kernel, paths relative to top. It leaves out what does
// not exist, devices and pipes.
func TakeSources(top string, paths []string) (Sources, error) {
	s := Sources{Files: map[string]string{}, top: top, texts: map[string][]byte{}}
	for _, path := range paths {
		file, err := filepath.EvalSymlinks(filepath.Join(top, filepath.FromSlash(path)))
		var text []byte
		if err == nil {
			text, err = disk.ReadRegular(file, maxSource)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, disk.ErrNotRegular):
			continue
		case errors.Is(err, disk.ErrTooLarge):
			s.Files[path] = Digest([]byte(err.Error()))
			continue
		case err != nil:
			return s, fmt.Errorf("read %s: %w", path, err)
		}
		s.Files[path] = Digest(text)
		s.texts[s.Files[path]] = text
	}
	return s, nil
}

// Digest returns one digest for all of it. Sources that build the same kernel have the same.
func (s Sources) Digest() string {
	if len(s.Files)+len(s.Parameters)+len(s.Flags) == 0 {
		return ""
	}
	h := sha256.New()
	for i, set := range []map[string]string{s.Files, s.Parameters, s.Flags} {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			fmt.Fprintf(h, "%d %q %q\n", i, name, set[name])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Digest returns the digest of a text as journals write it.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

const measuredFile = "measured.json"

// Keep stores the sources of a measurement beside the open journal, for Kept.
func (w *Writer) Keep(s Sources) error {
	dir := w.copies()
	list, err := json.Marshal(s)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for digest, text := range s.texts {
		if _, there := os.Stat(filepath.Join(dir, digest)); err == nil && there != nil {
			err = os.WriteFile(filepath.Join(dir, digest), text, 0o644)
		}
	}
	if err == nil {
		err = disk.WriteAtomic(filepath.Join(dir, measuredFile), list)
	}
	if err != nil {
		return fmt.Errorf("keep the sources of session %s: %w", w.session.ID, err)
	}
	return nil
}

// Kept returns the sources of the last measurement; false if there is none.
func (w *Writer) Kept() (Sources, bool) {
	var s Sources
	text, err := disk.ReadRegular(filepath.Join(w.copies(), measuredFile), maxSource)
	return s, err == nil && json.Unmarshal(text, &s) == nil
}

// Changes returns how the source differs from what was kept: parameters and flags by name, files
// by their added and removed lines as git counts them without white space.
func (w *Writer) Changes(ctx context.Context, kept, now Sources) []Change {
	var list []Change
	for _, path := range differing(kept.Files, now.Files) {
		c := Change{What: File, Name: path}
		if line, err := w.diff(ctx, kept, now, path, "--numstat", "-w", "--ignore-blank-lines"); err == nil {
			fields := strings.Fields(line)
			if len(fields) < 2 || fields[0] == "0" && fields[1] == "0" {
				continue // only white space
			}
			c.Added, _ = strconv.Atoi(fields[0]) // "-" for a binary file
			c.Gone, _ = strconv.Atoi(fields[1])
		}
		list = append(list, c)
	}
	for _, name := range differing(kept.Parameters, now.Parameters) {
		list = append(list, Change{What: Parameter, Name: name, Before: kept.Parameters[name], After: now.Parameters[name]})
	}
	for _, name := range differing(kept.Flags, now.Flags) {
		list = append(list, Change{What: Flag, Name: name, Before: kept.Flags[name], After: now.Flags[name]})
	}
	return list
}

// Diff returns the files that differ from what was kept as one patch of bounded length.
func (w *Writer) Diff(ctx context.Context, kept, now Sources) string {
	var b strings.Builder
	for _, path := range differing(kept.Files, now.Files) {
		text, err := w.diff(ctx, kept, now, path, "-U2")
		at := strings.Index(text, "\n@@")
		if err != nil || at < 0 {
			continue
		}
		fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n%s", path, path, text[at+1:])
		if b.Len() > maxDiff {
			return b.String()[:maxDiff]
		}
	}
	return b.String()
}

// diff runs git diff on the kept and the present text of a file.
func (w *Writer) diff(ctx context.Context, kept, now Sources, path string, options ...string) (string, error) {
	before, after := os.DevNull, os.DevNull
	if digest := kept.Files[path]; digest != "" {
		before = filepath.Join(w.copies(), filepath.Base(digest))
	}
	if now.Files[path] != "" {
		after = filepath.Join(now.top, filepath.FromSlash(path))
	}
	args := append([]string{"diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color"}, options...)
	cmd := exec.CommandContext(ctx, "git", append(args, "--", before, after)...)
	cmd.Env = append(shell.Environ(), "LC_ALL=C")
	cmd.WaitDelay = shell.Grace
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 { // they differ
		err = nil
	}
	return out.String(), err
}

// differing returns the keys whose values differ, sorted.
func differing(a, b map[string]string) []string {
	var keys []string
	for k := range a {
		if a[k] != b[k] {
			keys = append(keys, k)
		}
	}
	for k := range b {
		if _, there := a[k]; !there {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}
