package adapter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// sidecarReader reads the binary files that an NVBench JSON names, up to a total
// number of bytes: a JSON may name one file a hundred thousand times.
type sidecarReader struct {
	in   *input
	left int64
}

// read returns the numbers of the file that a summary names: float32, little-endian,
// in the order of measurement. Their count must match the one in the summary.
func (r *sidecarReader) read(s *nvSummary) (numbers, error) {
	name := s.data("filename")
	count, err := strconv.ParseInt(s.data("size"), 10, 64)
	if name == "" || err != nil || count < 0 {
		return nil, fmt.Errorf("%s has no valid file name and size", label(s.Tag))
	}
	if count > r.left/4 {
		return nil, fmt.Errorf("%s: %d samples exceed the limit of %s for all sample files: import fewer states at a time", label(name), count, size(r.in.limits.sidecars))
	}
	f, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label(name), err)
	}
	if info.Size() != 4*count {
		return nil, fmt.Errorf("%s has %d bytes, but %d samples need %d: it belongs to a different run, or is truncated", label(name), info.Size(), count, 4*count)
	}
	r.left -= 4 * count
	raw := make([]byte, 4*count)
	if _, err := io.ReadFull(&limitedReader{ctx: r.in.ctx, r: f, left: 4 * count}, raw); err != nil {
		return nil, fmt.Errorf("%s: %w", label(name), err)
	}
	values := make(numbers, count)
	for i := range values {
		values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
	}
	return values, nil
}

// open looks for the file where different versions of NVBench put it. Since July
// 2026 the name is relative to the JSON. Before that it was absolute, or relative to
// the folder in which the benchmark was started. In all versions the last two parts,
// "<json>-bin/<n>.bin", are in the JSON's own folder.
func (r *sidecarReader) open(name string) (fs.File, error) {
	if r.in.files == nil {
		return nil, fmt.Errorf("cannot find %s: the results came as a stream, write them to a file", label(name))
	}
	for _, place := range r.places(name) {
		f, err := r.in.open(place)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", label(name), err)
		case f != nil:
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s is neither next to the JSON nor below the root: copy its folder along with the JSON", label(name))
}

func (r *sidecarReader) places(name string) []string {
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	folder := path.Dir(r.in.path)
	places := []string{
		path.Join(folder, name),
		path.Join(folder, path.Base(path.Dir(name)), path.Base(name)),
		name,
	}
	if path.IsAbs(name) {
		places = places[1:2]
	}
	inside := places[:0]
	for _, p := range places {
		if fs.ValidPath(p) {
			inside = append(inside, p)
		}
	}
	return inside
}
