package headertest_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever stands in a file of inputs, pawl.h answers or refuses, under the eyes of
// the sanitizers.
func FuzzTensors(f *testing.F) {
	program := build(f, "gcc", "../conformance.c", sanitized...)
	file := func(header string, data int) []byte {
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
		return append(append(b, header...), make([]byte, data)...)
	}
	f.Add(file(`{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}`, 24))
	f.Add(file(`{"__metadata__":{"x.shape":"2,3","x.strides":"4,1","x.offset":"0"},"x":{"dtype":"F32","shape":[7],"data_offsets":[0,28]}}`, 28))
	f.Add(file(`{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,18446744073709551615]}}`, 24))
	f.Add(file(`{"x":{"dtype":"F8_E4M3FNUZ","shape":[],"data_offsets":[1,0]},"x":{}}`, 0))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		in := filepath.Join(t.TempDir(), "in.safetensors")
		if err := os.WriteFile(in, b, 0o600); err != nil {
			t.Fatal(err)
		}
		text := `{"id":1,"op":"prepare","benchmark":"double","params":{"N":3}}` + "\n" +
			fmt.Sprintf(`{"id":2,"op":"check","inputs":%q,"outputs":%q,"poison":"7"}`, in, filepath.Join(filepath.Dir(in), "out.safetensors")) + "\n"
		status, stderr := feed(t, program, text)
		if status != 0 && status != 1 || strings.Contains(stderr, "Sanitizer") || strings.Contains(stderr, "runtime error") {
			t.Errorf("status %d\n%s", status, stderr)
		}
	})
}
