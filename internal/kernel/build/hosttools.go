package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/parallel"
)

// HostTools is everything of a machine that a build in the sandbox can read: programs, libraries, headers and the processor.
// What Python compiled of its modules is left out, because it follows from them.
// Two machines on which it is equal build the same from the same sources.
type HostTools struct {
	Roots   []string // files and folders
	Private []string // folders below them that builds do not see
	File    string   // keeps the latest digest, so that contents are read only after a change; empty for none
}

// FindHostTools returns what builds of the folder dir in the sandbox can read on this machine, beside their sources.
func FindHostTools(ctx context.Context, dir string) (HostTools, error) {
	cache, err := CacheDir()
	if err != nil {
		return HostTools{}, err
	}
	python, _ := filepath.Glob("/etc/python3.*")
	roots := slices.Concat(systemFolders, systemLinks, systemFiles, python, toolRoots(os.Environ()))
	slices.Sort(roots)
	return HostTools{Roots: slices.Compact(roots), Private: masks(privateFolders(ctx, dir), roots), File: filepath.Join(cache, "host-tools.json")}, nil
}

// keptTools is a digest and what it was computed from: the processor, and the sizes and times of files.
type keptTools struct {
	Stamp  string `json:"stamp"`
	Digest string `json:"digest"`
}

// ErrToolsUnread says that the tools of this machine were not read since they changed.
var ErrToolsUnread = errors.New("the tools of this machine have changed or were not read yet: run `pawl build --tools`")

// Kept returns the SHA-256 of the tools if they were read before, and [ErrToolsUnread] otherwise. It takes a second, not a minute.
func (t HostTools) Kept(ctx context.Context) (string, error) {
	files, err := t.list(ctx)
	if err != nil {
		return "", err
	}
	return t.kept(stampOf(files))
}

func (t HostTools) kept(stamp string) (string, error) {
	var kept keptTools
	text, err := disk.ReadRegular(t.File, 1<<10)
	if err != nil || json.Unmarshal(text, &kept) != nil || kept.Stamp != stamp {
		return "", ErrToolsUnread
	}
	return kept.Digest, nil
}

// Digest returns the SHA-256 of the tools. It reads all of them the first time, and after a file has changed.
func (t HostTools) Digest(ctx context.Context) (string, error) {
	files, err := t.list(ctx)
	if err != nil {
		return "", err
	}
	stamp := stampOf(files)
	if digest, err := t.kept(stamp); err == nil {
		return digest, nil
	}
	contents, failed := make([]string, len(files)), make([]error, len(files))
	if err := parallel.Each(ctx, len(files), func(i int) { contents[i], failed[i] = files[i].content() }); err != nil {
		return "", err
	}
	sum := sha256.New()
	writeHost(sum)
	for i, f := range files {
		if failed[i] != nil {
			return "", fmt.Errorf("cannot read the tools of this machine: %w", failed[i])
		}
		writeField(sum, f.path, f.info.Mode().String(), contents[i])
	}
	after, err := t.list(ctx)
	if err != nil {
		return "", err
	}
	if stampOf(after) != stamp {
		return "", errors.New("the tools of this machine changed while they were read: try again")
	}
	kept := keptTools{stamp, hex.EncodeToString(sum.Sum(nil))}
	if text, err := json.Marshal(kept); err == nil && t.File != "" {
		_ = os.MkdirAll(filepath.Dir(t.File), 0o700)
		_ = disk.WriteAtomic(t.File, text) // otherwise the next one takes longer
	}
	return kept.Digest, nil
}

// writeHost writes what is not in files.
func writeHost(sum hash.Hash) {
	writeField(sum, "pawl host tools, version 1", runtime.GOOS, runtime.GOARCH, processor())
}

// toolFile is a file, a link or a folder that builds see.
type toolFile struct {
	path string
	info fs.FileInfo
}

// list returns the files below the roots by path. A root that is a link stands for its target, as in the sandbox.
func (t HostTools) list(ctx context.Context) (files []toolFile, err error) {
	roots := slices.Clone(t.Roots)
	for _, root := range t.Roots {
		if target, err := filepath.EvalSymlinks(root); err == nil {
			roots = append(roots, target)
		}
	}
	slices.Sort(roots)
	roots = slices.Compact(roots)
	for _, root := range roots {
		if slices.ContainsFunc(roots, func(outer string) bool { return outer != root && within(outer, root) }) {
			continue
		}
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)): // builds cannot read it either
				return nil
			case err != nil:
				return err
			case slices.Contains(t.Private, path), e.IsDir() && e.Name() == "__pycache__": // which Python fills whenever it wants
				return filepath.SkipDir
			}
			if info, err := e.Info(); err == nil { // otherwise it was just removed, which the next list shows
				files = append(files, toolFile{path, info})
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("cannot list the tools of this machine: %w", err)
		}
	}
	slices.SortFunc(files, func(a, b toolFile) int { return strings.Compare(a.path, b.path) })
	return files, nil
}

// content returns the digest of a file or the target of a link. Other kinds have none.
func (f toolFile) content() (string, error) {
	switch mode := f.info.Mode(); {
	case mode.IsRegular():
		root, err := os.OpenRoot(filepath.Dir(f.path))
		if err != nil {
			return "", err
		}
		defer root.Close()
		digest, err := fileDigest(root, filepath.Base(f.path))
		if errors.Is(err, fs.ErrPermission) {
			return "unreadable", nil
		}
		return digest, err
	case mode.Type() == fs.ModeSymlink:
		return os.Readlink(f.path)
	}
	return "", nil
}

// stampOf returns a digest of the processor and of the names, sizes and times of files.
func stampOf(files []toolFile) string {
	sum := sha256.New()
	writeHost(sum)
	for _, f := range files {
		writeStamp(sum, f)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func writeStamp(sum hash.Hash, f toolFile) {
	changed := int64(0) // a program can set the time of a file's content, but not this one
	if s, ok := f.info.Sys().(*syscall.Stat_t); ok {
		changed = s.Ctim.Nano()
	}
	fmt.Fprintf(sum, "%q %v %d %d %d\n", f.path, f.info.Mode(), f.info.Size(), f.info.ModTime().UnixNano(), changed)
}
