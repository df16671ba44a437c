package tensor

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

const (
	maxHeader  = 16 << 20 // bytes; the format allows 100 MB, which no kernel's arguments need
	maxTensors = 10_000
	maxEntries = 3*maxTensors + 64 // max entries of the metadata
)

// typeNames maps element types to their names in the format. TF32 is stored as F32. The
// names of types of six and four bits are pawl's own: the format has none for a value in
// a byte, and counts packed values, not bytes.
var typeNames = map[DType]string{
	F64: "F64", F32: "F32", TF32: "F32", F16: "F16", BF16: "BF16", E4M3: "F8_E4M3", E5M2: "F8_E5M2",
	E4M3FNUZ: "F8_E4M3FNUZ", E5M2FNUZ: "F8_E5M2FNUZ", E8M0: "F8_E8M0",
	E3M2: "E3M2", E2M3: "E2M3", E2M1: "E2M1", E2M1x2: "E2M1X2",
	I64: "I64", I32: "I32", I16: "I16", I8: "I8", U8: "U8", Bool: "BOOL",
}

func typeOf(name string) (DType, error) {
	for _, d := range DTypes() {
		if d != TF32 && typeNames[d] == name {
			return d, nil
		}
	}
	return "", fmt.Errorf("type %.20q is not supported", name)
}

// entry is a tensor in the header of a file.
type entry struct {
	name    string
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets []int  `json:"data_offsets"`
}

// Load reads a safetensors file of up to limit bytes. The tensors are views of one buffer
// that is never larger than the file. Load follows no links and does not block on a pipe,
// because untrusted processes write such files.
func Load(path string, limit int64) ([]Tensor, error) {
	data, err := read(path, limit)
	if err != nil {
		return nil, fmt.Errorf("cannot read tensors from %s: %w", path, err)
	}
	list, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("cannot read tensors from %s: %w", path, err)
	}
	return list, nil
}

// Parse returns the tensors of a safetensors file as views of it, in the order of their
// data. It rejects anything that two readers could interpret differently: duplicate
// names, and data that overlaps, has gaps or is left over.
func Parse(file []byte) ([]Tensor, error) {
	if len(file) < 8 {
		return nil, fmt.Errorf("safetensors: the file has %d bytes, the length of the header alone takes 8", len(file))
	}
	n := binary.LittleEndian.Uint64(file)
	switch {
	case n > maxHeader:
		return nil, fmt.Errorf("safetensors: the header has %d bytes, the limit is %d; is it a safetensors file?", n, maxHeader)
	case n > uint64(len(file)-8):
		return nil, fmt.Errorf("safetensors: the header has %d bytes, but only %d bytes follow its length", n, len(file)-8)
	}
	header, data := file[8:8+n], file[8+n:]
	if len(header) == 0 || header[0] != '{' {
		return nil, errors.New("safetensors: the header does not start with {")
	}
	entries, metadata, err := parseHeader(header)
	if err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]))
	})
	list := make([]Tensor, 0, len(entries))
	at := 0
	for _, e := range entries {
		begin, end := e.Offsets[0], e.Offsets[1]
		if begin != at || end < begin || end > len(data) {
			return nil, fmt.Errorf("safetensors: tensor %.80q: its data spans %d to %d, but the previous tensor ends at %d and all data ends at %d", e.name, begin, end, at, len(data))
		}
		t, err := e.tensor(data[begin:end:end], metadata)
		if err != nil {
			return nil, fmt.Errorf("safetensors: tensor %.80q: %w", e.name, err)
		}
		list = append(list, t)
		at = end
	}
	if at != len(data) {
		return nil, fmt.Errorf("safetensors: %s after the data of the last tensor", words.Plural(len(data)-at, "byte"))
	}
	return list, nil
}

// parseHeader reads token by token, so that a header with a million tensors is
// rejected before it is held in memory. The decoder itself rejects duplicate names.
func parseHeader(header []byte) (list []entry, metadata map[string]string, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(header))
	if _, err := d.ReadToken(); err != nil {
		return nil, nil, err
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, nil, err
		}
		name := token.String()
		if name == "__metadata__" {
			if err := json.UnmarshalDecode(d, &metadata); err != nil {
				return nil, nil, err
			}
			if len(metadata) > maxEntries {
				return nil, nil, fmt.Errorf("the metadata has %d entries, the limit is %d", len(metadata), maxEntries)
			}
			continue
		}
		if len(list) == maxTensors {
			return nil, nil, fmt.Errorf("more than %d tensors", maxTensors)
		}
		e := entry{name: name}
		if err := json.UnmarshalDecode(d, &e, json.RejectUnknownMembers(true)); err != nil {
			return nil, nil, fmt.Errorf("tensor %.80q: %w", name, err)
		}
		if len(e.Offsets) != 2 || e.Shape == nil {
			return nil, nil, fmt.Errorf("tensor %.80q: dtype, shape and two data_offsets are required", name)
		}
		list = append(list, e)
	}
	if _, err := d.ReadToken(); err != nil { // the closing brace
		return nil, nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("unexpected data after it")
	}
	return list, metadata, nil
}

// tensor returns the view, with the strides from the metadata.
func (e entry) tensor(data []byte, metadata map[string]string) (Tensor, error) {
	d, err := typeOf(e.DType)
	if err != nil {
		return Tensor{}, err
	}
	t := Tensor{Name: e.name, DType: d, Shape: e.Shape, Data: data}
	need, err := t.Span()
	if err != nil {
		return Tensor{}, err
	}
	if bytes, over := mulChecked(need, d.Size()); over || bytes != len(data) {
		return Tensor{}, fmt.Errorf("%d bytes of data do not match shape %v of type %s", len(data), e.Shape, e.DType)
	}
	shape, strided := metadata[e.name+".shape"]
	if !strided {
		return t, nil
	}
	if len(e.Shape) != 1 {
		return Tensor{}, fmt.Errorf("the shape of a tensor with strides must be the length of the storage, not %v", e.Shape)
	}
	if t.Shape, err = numbers(shape); err == nil {
		t.Strides, err = numbers(metadata[e.name+".strides"])
	}
	if offset, ok := metadata[e.name+".offset"]; ok && err == nil {
		t.Offset, err = strconv.Atoi(offset)
	}
	if err != nil {
		return Tensor{}, fmt.Errorf("metadata: %w", err)
	}
	return t, t.checkStorage()
}

// numbers parses "8,64"; an empty string is an empty list.
func numbers(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var list []int
	for field := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 0 || len(list) == maxDims {
			return nil, fmt.Errorf("%.40q is not a list of at most %d sizes", s, maxDims)
		}
		list = append(list, n)
	}
	return list, nil
}
