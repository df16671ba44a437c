package adapter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
)

// Candidate is the implementation of every imported case. Only the caller knows
// which side of a comparison a file is.
const Candidate = "candidate"

// ErrPawlRecord means that the source is not another tool's file but pawl's own
// record, plain, compressed or a journal. Use measure.Load to read it.
var ErrPawlRecord = errors.New("this is a pawl record, not another tool's file")

// ErrUnknownFormat means that a source matches no format this package reads, or
// that the requested format does not exist.
var ErrUnknownFormat = errors.New("unknown format")

// Format describes a format, to help users choose one.
type Format struct {
	Name string // as --format and Header.Format spell it
	Doc  string // one line: the tool, and which part of its output is read
}

// format is one adapter: how to recognize a source, and how to read it.
type format struct {
	Format
	detect func(outline) bool
	read   func(*input, *builder) error
}

// formats is the table of adapters, in the order in which they are listed.
var formats = []format{nvbench, googleBenchmark, pytestBenchmark, hyperfine, criterion, goBench, triton, sdpa, vllm, sglang, tritonBench, asv, bencher, nccl, sampleLines, timeLines}

// Formats lists the formats that Read supports.
func Formats() []Format {
	list := make([]Format, len(formats))
	for i, f := range formats {
		list[i] = f.Format
	}
	return list
}

// Source is another tool's file, or the output of a program.
type Source struct {
	Name  string    // name for messages, as the user gave it; empty means Path
	Path  string    // slash-separated path in Files where the file is, or would be
	Files fs.FS     // holds the file itself and files it names; may be nil with Data
	Data  io.Reader // the content; nil means the file at Path
}

// Options describe how to read a source.
type Options struct {
	Format string // empty means: detect it
	// Timer selects one of the clocks of a format that has several (Google
	// Benchmark: wall or cpu). Empty means the one the tool lists first.
	Timer measure.Timer
	// Pattern says where the lines of format lines have their time. Empty means the first number with a unit of time.
	Pattern string
}

// ReadFile reads the file or folder at path. Files that it names must be below
// root. An empty root means the folder that contains the file.
func ReadFile(ctx context.Context, path, root string, opt Options) (*measure.Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	// The path from the user may be a link or a pipe. Paths inside a file must not
	// leave the root. If path is a link, the files beside it are beside its target.
	place := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		place = target
	}
	if root == "" {
		root = filepath.Dir(place)
	}
	inside, err := relative(root, place)
	if err != nil {
		return nil, fmt.Errorf("%s: read: %w", path, err)
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("%s: read: %w", path, err)
	}
	defer dir.Close()
	src := Source{Name: path, Path: inside, Files: dir.FS()}
	if !info.IsDir() {
		src.Data = f
	}
	return Read(ctx, src, opt)
}

// relative returns path relative to root, slash-separated.
func relative(root, path string) (string, error) {
	if target, err := filepath.EvalSymlinks(root); err == nil {
		root = target
	}
	root, rootErr := filepath.Abs(root)
	path, pathErr := filepath.Abs(path)
	if err := errors.Join(rootErr, pathErr); err != nil {
		return "", err
	}
	inside, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(inside) {
		return "", fmt.Errorf("the file is not below the root %s: choose a root that contains it", root)
	}
	return filepath.ToSlash(inside), nil
}

// Read reads a source into a run of one round. The run has no ID, and a creation
// time only if the source contains one. The caller must set both.
func Read(ctx context.Context, src Source, opt Options) (*measure.Run, error) {
	return readWithin(ctx, src, opt, standard)
}

func readWithin(ctx context.Context, src Source, opt Options, lim limits) (*measure.Run, error) {
	name := src.Name
	if name == "" {
		name = src.Path
	}
	if name == "" {
		name = "input"
	}
	in, err := openInput(ctx, src, opt.Timer, lim)
	if err != nil {
		return nil, fmt.Errorf("%s: read: %w", name, err)
	}
	defer in.Close()
	f, err := choose(in, opt.Format)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if opt.Timer != "" && f.Name != googleBenchmark.Name {
		return nil, fmt.Errorf("%s: %s: this format has only one timer: remove the timer %q", name, f.Name, opt.Timer)
	}
	if opt.Pattern != "" {
		if f.Name != timeLines.Name {
			return nil, fmt.Errorf("%s: %s: only the format lines has a pattern", name, f.Name)
		}
		if in.pattern, err = compilePattern(opt.Pattern); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	b := newBuilder(f.Name, lim)
	if err := f.read(in, b); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", name, f.Name, err)
	}
	run, err := b.run()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", name, f.Name, err)
	}
	return run, nil
}

// choose returns the adapter with the requested name, or detects it from the source.
func choose(in *input, name string) (format, error) {
	if !in.dir && isPawlRecord(in.head) {
		return format{}, ErrPawlRecord
	}
	if name != "" {
		i := slices.IndexFunc(formats, func(f format) bool { return f.Name == name })
		if i < 0 {
			return format{}, fmt.Errorf("%w %q (known: %s)", ErrUnknownFormat, name, formatNames())
		}
		if in.dir && name != criterion.Name {
			return format{}, fmt.Errorf("%s: the path is a folder: give the path of a file in it", name)
		}
		return formats[i], nil
	}
	if in.dir {
		return criterion, nil // the only tool whose result is a folder
	}
	if len(bytes.TrimSpace(in.head)) == 0 {
		return format{}, fmt.Errorf("%w: the file is empty: did the benchmark fail before it wrote its results?", ErrUnknownFormat)
	}
	f, ok := recognise(in.head)
	if !ok {
		return format{}, fmt.Errorf("%w: the content matches none of %s: set the format, or see docs/reference/import-formats.md for the options that each tool needs",
			ErrUnknownFormat, formatNames())
	}
	return f, nil
}

func formatNames() string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}
