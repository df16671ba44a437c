package tensor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/base/mutate"
)

// file makes a safetensors file from a header as it is written and some data.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func TestParseRefuses(t *testing.T) {
	long := strings.Repeat("9", 18)
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "0 bytes"},
		{"a header longer than the file", binary.LittleEndian.AppendUint64(nil, 100), "the header has 100 bytes, but only 0 bytes follow its length"},
		{"a huge header", binary.LittleEndian.AppendUint64(nil, 1<<40), "the limit is 16777216"},
		{"no object", file(`[]`, 0), "does not start with {"},
		{"a space first", file(` {}`, 0), "does not start with {"},
		{"broken JSON", file(`{"a":`, 0), "header"},
		{"two documents", file(`{}{}`, 0), "unexpected data after it"},
		{"trailing bytes", file(`{}`, 1), "1 byte after the data"},
		{"a name twice", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), "duplicate"},
		{"a key twice", file(`{"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}}`, 1), "duplicate"},
		{"an unknown key", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}}`, 1), "unknown"},
		{"no shape", file(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, 1), "dtype, shape and two data_offsets are required"},
		{"one offset", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}}`, 1), "two data_offsets"},
		{"a gap", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), "its data spans 1 to 2"},
		{"an overlap", file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3), `"b": its data spans 1 to 3`},
		{"the same data twice", file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2), `"b": its data spans 0 to 2`},
		{"backwards", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,-1]}}`, 0), "spans 0 to -1"},
		{"past the end", file(`{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}`, 1), "spans 0 to 9"},
		{"too little data", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 4), "4 bytes of data do not match shape [2] of type F32"},
		{"a shape that overflows", file(`{"a":{"dtype":"F64","shape":[`+long+`,`+long+`],"data_offsets":[0,0]}}`, 0), "overflows"},
		{"a product that overflows to 0", file(`{"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0), "overflows"},
		{"bytes that overflow", file(`{"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}}`, 0), "0 bytes of data"},
		{"a negative size", file(`{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}}`, 0), "size -1"},
		{"half a size", file(`{"a":{"dtype":"U8","shape":[0.5],"data_offsets":[0,0]}}`, 0), "header"},
		{"many dimensions", file(`{"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}}`, 1), "17 dimensions"},
		{"another type", file(`{"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}`, 8), `"C64" is not supported`},
		{"metadata that is no text", file(`{"__metadata__":{"a":1}}`, 0), "header"},
		{"strides past the storage", strided("2,2", "9,1", "0"), "4 bytes of data, but needs 11 elements"},
		{"an offset past the storage", strided("2,2", "2,1", "1"), "4 bytes of data, but needs 5 elements"},
		{"a negative stride", strided("2,2", "-1,1", "0"), "is not a list"},
		{"a negative offset", strided("2,2", "2,1", "-1"), "the offset -1 is negative"},
		{"strides for another shape", strided("2,2", "2", "0"), "2 sizes and 1 strides"},
		{"strides that overflow", strided("2,2", "9223372036854775807,9223372036854775807", "0"), "overflows"},
		{"a stride that overflows", strided("3,1", "9223372036854775807,1", "0"), "overflows"},
		{"an offset that overflows", strided("4", "", "9223372036854775807"), "overflows"},
		{"strides over another shape", file(`{"__metadata__":{"a.shape":"4"},"a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}`, 4), "must be the length of the storage"},
		{"too many tensors", tooMany(), "more than 10000 tensors"},
	} {
		_, err := Parse(tt.file)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

func strided(shape, strides, offset string) []byte {
	return file(fmt.Sprintf(`{"__metadata__":{"a.shape":%q,"a.strides":%q,"a.offset":%q},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, shape, strides, offset), 4)
}

func tooMany() []byte {
	var b strings.Builder
	for i := range maxTensors + 1 {
		fmt.Fprintf(&b, `,"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, i)
	}
	return file("{"+b.String()[1:]+"}", 0)
}

// Python that knows nothing of pawl writes a file, and reads one.
func TestPythonAgrees(t *testing.T) {
	const python = "/usr/bin/python3"
	dir := t.TempDir()
	written := filepath.Join(dir, "from-python.safetensors")
	run(t, python, fmt.Sprintf(`
import json, struct
data = struct.pack('<6e', 1, 2, 3, 4, 5, -0.5) + struct.pack('<2d', 1e300, float('inf')) + struct.pack('<3q', 1, -2, 3)
header = {
    '__metadata__': {'h.shape': '2,2', 'h.strides': '3,1', 'h.offset': '1'},
    'h': {'dtype': 'F16', 'shape': [6], 'data_offsets': [0, 12]},
    'd': {'dtype': 'F64', 'shape': [2], 'data_offsets': [12, 28]},
    'i': {'dtype': 'I64', 'shape': [3, 1], 'data_offsets': [28, 52]},
}
text = json.dumps(header).encode()
open(%q, 'wb').write(struct.pack('<Q', len(text)) + text + data)
`, written), nil)
	list, err := Load(written, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]float64{}
	for _, x := range list {
		values := make([]float64, x.Len())
		x.Read(values, 0)
		got[x.Name+fmt.Sprint(x.Shape)] = values
	}
	want := map[string][]float64{"h[2 2]": {2, 3, 5, -0.5}, "d[2]": {1e300, got["d[2]"][1]}, "i[3 1]": {1, -2, 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("from Python (-want +got):\n%s", diff)
	}

	ours := filepath.Join(dir, "from-pawl.safetensors")
	if err := Save(ours, list); err != nil {
		t.Fatal(err)
	}
	out := run(t, python, fmt.Sprintf(`
import json, struct
b = open(%q, 'rb').read()
n, = struct.unpack('<Q', b[:8])
assert (8 + n) %% 8 == 0, 'not aligned'
header = json.loads(b[8:8 + n])
assert list(header)[:3] == ['h', 'd', 'i'], list(header)
begin, end = header['h']['data_offsets']
print(struct.unpack('<6e', b[8 + n + begin:8 + n + end]), header['h'], header['__metadata__'], len(b) - 8 - n)
`, ours), nil)
	const shown = "(1.0, 2.0, 3.0, 4.0, 5.0, -0.5) {'dtype': 'F16', 'shape': [6], 'data_offsets': [0, 12]} {'h.offset': '1', 'h.shape': '2,2', 'h.strides': '3,1'} 52\n"
	if string(out) != shown {
		t.Errorf("Python reads\n%swant\n%s", out, shown)
	}
}

func TestLoadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := os.WriteFile(path, file(`{}`, 0), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, 10); err != nil {
		t.Errorf("a file of the limit's size: %v", err)
	}
	if _, err := Load(path, 9); err == nil || !strings.Contains(err.Error(), "10 bytes, the limit is 9") {
		t.Errorf("a file above the limit: %v", err)
	}
	if _, err := Load(filepath.Dir(path), 1<<20); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

func TestNamesAreTaken(t *testing.T) {
	x := Tensor{Name: "x", DType: U8, Shape: []int{1}, Data: []byte{1}}
	reserved := x
	reserved.Name = "__metadata__"
	for _, list := range [][]Tensor{{x, x}, {reserved}} {
		if err := Format(&bytes.Buffer{}, list); err == nil || !strings.Contains(err.Error(), "the name is already used or reserved") {
			t.Errorf("%v: %v", list, err)
		}
	}
	if err := Format(&bytes.Buffer{}, []Tensor{{Name: "y", DType: F32, Shape: []int{2}, Data: []byte{1}}}); err == nil {
		t.Error("a tensor that is not whole was written")
	}
}

// A few bytes of header cannot make pawl allocate what they claim.
func TestClaimsAllocateNothing(t *testing.T) {
	b := file(`{"a":{"dtype":"U8","shape":[1000000000000],"data_offsets":[0,1000000000000]}}`, 0)
	if n := testing.AllocsPerRun(10, func() { _, _ = Parse(b) }); n > 200 {
		t.Errorf("%v allocations", n)
	}
	if _, err := New(Argument{Name: "x", DType: F64, Shape: []int{1 << 62}}); err == nil {
		t.Error("a tensor larger than any memory was made")
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Tensor
		for i := range rapid.IntRange(0, 4).Draw(t, "tensors") {
			x := drawTensor(t, fmt.Sprintf("%s%d", rapid.String().Draw(t, "name"), i))
			if x.DType == TF32 {
				x.DType = F32 // as it travels
			}
			list = append(list, x)
		}
		var b bytes.Buffer
		if err := Format(&b, list); err != nil {
			t.Fatal(err)
		}
		got, err := Parse(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(list) {
			t.Fatalf("%d tensors, want %d", len(got), len(list))
		}
		for i := range list {
			same := got[i].Name == list[i].Name && got[i].DType == list[i].DType && cmp.Equal(append([]int{}, got[i].Shape...), append([]int{}, list[i].Shape...))
			if !same || !bytes.Equal(got[i].Elements(), list[i].Elements()) {
				t.Fatalf("wrote %+v, read %+v", list[i], got[i])
			}
		}
	})
}

func parseSeeds() [][]byte {
	return [][]byte{
		file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
		strided("2,2", "2,1", "0"),
		file(`{"__metadata__":{},"s":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}`, 8),
	}
}

func TestHammerParse(t *testing.T) { mutate.Run(t, parseSeeds(), parseAnything) }

func FuzzParse(f *testing.F) {
	for _, seed := range parseSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) { parseAnything(t, b) })
}

func parseAnything(t testing.TB, b []byte) {
	t.Helper()
	list, err := Parse(b)
	if err != nil {
		return
	}
	total := 0
	for _, x := range list {
		if err := x.Check(); err != nil {
			t.Fatalf("accepted what is not whole: %v", err)
		}
		total += len(x.Data)
		if n := x.Len(); n > 0 && n < 1<<16 {
			x.Read(make([]float64, n), 0)
			if at := x.Place(n - 1); at >= len(x.Data)/x.DType.Size() {
				t.Fatalf("the last element of %+v stands at %d", x, at)
			}
		}
	}
	if total > len(b) {
		t.Fatalf("%d bytes of data in a file of %d", total, len(b))
	}
	var again bytes.Buffer
	if err := Format(&again, list); err != nil {
		t.Fatalf("cannot write what was read: %v", err)
	}
	if _, err := Parse(again.Bytes()); err != nil {
		t.Fatalf("cannot read what was written: %v", err)
	}
}
