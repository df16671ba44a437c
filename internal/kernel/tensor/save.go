package tensor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Save writes tensors to a new file. It replaces an existing file of that name.
func Save(path string, list []Tensor) error {
	f, err := create(path)
	if err != nil {
		return fmt.Errorf("cannot write tensors: %w", err)
	}
	if err := errors.Join(Format(f, list), f.Close()); err != nil {
		return fmt.Errorf("cannot write tensors to %s: %w", path, err)
	}
	return nil
}

// Format writes tensors in the safetensors format, in the given order. The header is
// padded with spaces, so that the data starts at a multiple of 8.
func Format(w io.Writer, list []Tensor) error {
	header := []byte{'{'}
	metadata := map[string]string{}
	at := 0
	for i, t := range list {
		if err := t.Check(); err != nil {
			return err
		}
		if slices.ContainsFunc(list[:i], func(o Tensor) bool { return o.Name == t.Name }) || t.Name == "__metadata__" {
			return fmt.Errorf("tensor %q: the name is already used or reserved", t.Name)
		}
		shape := t.Shape
		if !t.IsContiguous() {
			shape = []int{len(t.Data) / t.DType.Size()}
			metadata[t.Name+".shape"] = join(t.Shape)
			metadata[t.Name+".strides"] = join(t.Strides)
			metadata[t.Name+".offset"] = strconv.Itoa(t.Offset)
		}
		if shape == nil {
			shape = []int{}
		}
		if len(t.Data) > math.MaxInt-at {
			return errTooLarge
		}
		if i > 0 {
			header = append(header, ',')
		}
		var err error
		header, err = appendEntry(header, t.Name, entry{DType: typeNames[t.DType], Shape: shape, Offsets: []int{at, at + len(t.Data)}})
		if err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		at += len(t.Data)
	}
	if len(metadata) > 0 {
		if len(list) > 0 {
			header = append(header, ',')
		}
		var err error
		if header, err = appendEntry(header, "__metadata__", metadata); err != nil {
			return fmt.Errorf("metadata: %w", err)
		}
	}
	header = append(header, '}')
	for len(header)%8 != 0 {
		header = append(header, ' ')
	}
	if len(header) > maxHeader {
		return fmt.Errorf("the header has %d bytes, the limit is %d", len(header), maxHeader)
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)); err != nil {
		return err
	}
	for _, t := range list {
		if _, err := w.Write(t.Data); err != nil {
			return err
		}
	}
	return nil
}

func appendEntry(header []byte, name string, value any) ([]byte, error) {
	header, err := jsontext.AppendQuote(header, name)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(value, json.Deterministic(true))
	return append(append(header, ':'), b...), err
}

func join(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}
