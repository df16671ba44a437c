package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// Tensors is a safetensors file as written in a transcript. For a file that is sent, every field counts;
// for an expected file, only the fields that are set.
type Tensors struct {
	Name     string // file name in the directory of the transcript
	Metadata map[string]string
	Tensors  map[string]tensor
}

type tensor struct {
	DType  string    `json:"dtype"`
	Shape  []int     `json:"shape"`
	Values []float64 `json:"values"` // for F32, F64 and I32
	Hex    string    `json:"hex"`    // for any type; spaces are ignored
}

func (t tensor) hasData() bool { return t.Values != nil || t.Hex != "" }

func (t tensor) data() ([]byte, error) {
	if t.Hex != "" {
		return hex.DecodeString(strings.ReplaceAll(t.Hex, " ", ""))
	}
	var b []byte
	for _, v := range t.Values {
		switch t.DType {
		case "F32":
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case "F64":
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case "I32":
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
		default:
			return nil, fmt.Errorf("values of %s are not supported: use hex", t.DType)
		}
	}
	return b, nil
}

// parseTensors parses "NAME {json}".
func parseTensors(text string) (*Tensors, error) {
	name, body, _ := strings.Cut(text, " ")
	if strings.Trim(name, "./") != name || strings.Contains(name, "/") || name == "" {
		return nil, fmt.Errorf("%q is not a plain file name", name)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		return nil, fmt.Errorf("the tensors are not a JSON object: %w", err)
	}
	f := &Tensors{Name: name, Tensors: map[string]tensor{}}
	for member, raw := range members {
		if member == "__metadata__" {
			if err := json.Unmarshal(raw, &f.Metadata); err != nil {
				return nil, err
			}
			continue
		}
		var t tensor
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&t); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", member, err)
		}
		if _, err := t.data(); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", member, err)
		}
		f.Tensors[member] = t
	}
	return f, nil
}

// stored is an entry in the header of a safetensors file.
type stored struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// encode returns the content of the file.
func (f *Tensors) encode() ([]byte, error) {
	header, data := map[string]any{}, []byte{}
	if f.Metadata != nil {
		header["__metadata__"] = f.Metadata
	}
	for name, t := range f.Tensors {
		b, err := t.data()
		if err != nil {
			return nil, err
		}
		header[name] = stored{t.DType, t.Shape, [2]int{len(data), len(data) + len(b)}}
		data = append(data, b...)
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, data), nil
}

// difference describes how a file on disk differs from the expected one, or returns "" if it does not.
func (f *Tensors) difference(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	header, data, err := decodeTensors(b)
	if err != nil {
		return err.Error()
	}
	var metadata map[string]string
	if raw, ok := header["__metadata__"]; ok {
		if err := json.Unmarshal(raw, &metadata); err != nil {
			return "invalid metadata: " + err.Error()
		}
		delete(header, "__metadata__")
	}
	for key, want := range f.Metadata {
		if metadata[key] != want {
			return fmt.Sprintf("metadata %s is %q, expected %q", key, metadata[key], want)
		}
	}
	if len(header) != len(f.Tensors) {
		return fmt.Sprintf("it has %d tensors, expected %d", len(header), len(f.Tensors))
	}
	for name, want := range f.Tensors {
		var got stored
		if err := json.Unmarshal(header[name], &got); err != nil {
			return fmt.Sprintf("tensor %s: %v", name, err)
		}
		if got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) {
			return fmt.Sprintf("tensor %s is %s %v, expected %s %v", name, got.DType, got.Shape, want.DType, want.Shape)
		}
		if got.Offsets[0] < 0 || got.Offsets[1] < got.Offsets[0] || got.Offsets[1] > len(data) {
			return fmt.Sprintf("tensor %s has offsets %v, outside the %d bytes of data", name, got.Offsets, len(data))
		}
		bytesWant, _ := want.data() // checked by parseTensors
		if bytesGot := data[got.Offsets[0]:got.Offsets[1]]; want.hasData() && !bytes.Equal(bytesGot, bytesWant) {
			return fmt.Sprintf("tensor %s holds %.200x, expected %.200x", name, bytesGot, bytesWant)
		}
	}
	return ""
}

func decodeTensors(b []byte) (map[string]json.RawMessage, []byte, error) {
	if len(b) < 8 {
		return nil, nil, errors.New("too short for a safetensors file")
	}
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(len(b)-8) || n%8 != 0 {
		return nil, nil, fmt.Errorf("its header has %d bytes of %d: expected a multiple of 8", n, len(b)-8)
	}
	var header map[string]json.RawMessage
	err := json.Unmarshal(b[8:8+n], &header)
	return header, b[8+n:], err
}
