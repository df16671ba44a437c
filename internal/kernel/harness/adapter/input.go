package adapter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/goatnote-inc/pawl/measure"
)

const headBytes = 64 << 10 // the part of a source that Detect may use

// input is an open source: its head for detection, the rest as a stream, and
// access to the files beside it.
type input struct {
	*bufio.Reader
	head    []byte
	dir     bool // the source is a folder: there is no stream
	path    string
	files   fs.FS
	timer   measure.Timer
	pattern *timePattern // of format lines; nil means the usual one
	limits  limits
	ctx     context.Context // for the files beside it, which are opened later
	file    io.Closer
}

func openInput(ctx context.Context, src Source, timer measure.Timer, lim limits) (*input, error) {
	in := &input{path: path.Clean(src.Path), files: src.Files, timer: timer, limits: lim, ctx: ctx}
	data := src.Data
	if data == nil {
		if src.Files == nil {
			return nil, errors.New("the source has neither data nor files")
		}
		f, err := in.open(in.path)
		if err != nil {
			return nil, err
		}
		if f == nil {
			in.dir = true
			return in, nil
		}
		in.file, data = f, f
	}
	in.Reader = bufio.NewReaderSize(&limitedReader{ctx: ctx, r: data, left: lim.stream}, headBytes)
	head, err := in.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, in.Close())
	}
	if isBOM(head) {
		head = head[3:]
		_, _ = in.Discard(3) // peeked above, so it cannot fail
	}
	// Copied, because the buffer is reused while adapters read.
	in.head = append([]byte(nil), head...)
	return in, nil
}

func isBOM(b []byte) bool { return len(b) >= 3 && string(b[:3]) == "\ufeff" }

// open opens a regular file. A folder is neither a file nor an error. It checks the
// type before opening, because opening a pipe would block until there is a writer.
func (in *input) open(name string) (fs.File, error) {
	info, err := fs.Stat(in.files, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, nil
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot open %s: its mode is %s, not that of a regular file", name, info.Mode().Type())
	}
	return in.files.Open(name)
}

// readBeside reads a small file next to the source. It returns nil if the file or the
// folder does not exist.
func (in *input) readBeside(name string, limit int64) ([]byte, error) {
	if in.files == nil {
		return nil, nil
	}
	return in.small(path.Join(path.Dir(in.path), name), limit)
}

func (in *input) small(name string, limit int64) ([]byte, error) {
	f, err := in.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || f == nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(&limitedReader{ctx: in.ctx, r: f, left: limit})
}

func (in *input) Close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

// limitedReader fails, instead of silently truncating, if there is more input than
// allowed. It also stops when the context is canceled.
type limitedReader struct {
	ctx  context.Context
	r    io.Reader
	left int64
	read int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	if l.left <= 0 {
		var one [1]byte
		if n, err := l.r.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("the file is larger than the limit of %s: import fewer benchmarks at a time", size(l.read))
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	l.read += int64(n)
	return n, err
}

// readRecords reads lines that are objects or lists of objects. between is the warning about other lines.
func readRecords[T any](in *input, b *builder, between string, read func(record *T, b *builder, line int) error) error {
	other := 0
	for rec, err := range in.records(&other) {
		if err != nil {
			return err
		}
		list := make([]T, 1)
		if rec.data[0] == '[' {
			err = unmarshal(rec.data, &list)
		} else {
			err = unmarshal(rec.data, &list[0])
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", rec.line, err)
		}
		for i := range list {
			if err := read(&list[i], b, rec.line); err != nil {
				return fmt.Errorf("line %d: %w", rec.line, err)
			}
		}
	}
	if other > 0 {
		b.warn(warnIgnored, "", between, other)
	}
	return nil
}
