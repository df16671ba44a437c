package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// TunedFile is the name of the file that says which values were tuned, and for what. It is in the folder of the suite and
// belongs into the repository. A kernel may read its values from it.
const TunedFile = "pawl.tuned.json"

const (
	tunedSchema   = "pawl.tuned/v1"
	maxTunedBytes = 1 << 20
	maxCompilers  = 20
)

// Target is what values were tuned for. For anything else they may not be the best.
type Target struct {
	Device   string   `json:"device"`
	Driver   string   `json:"driver,omitempty"`
	Compiler []string `json:"compiler,omitempty"` // names and versions
	Kernel   string   `json:"kernel,omitempty"`   // digest of the sources; empty if unknown
	Commit   string   `json:"commit,omitempty"`
}

// Tuned is the content of TunedFile.
type Tuned struct {
	Schema     string                 `json:"schema"`
	Benchmarks map[string]TunedValues `json:"benchmarks"`
}

// TunedValues are the values of all tunables of a benchmark.
type TunedValues struct {
	Case   string         `json:"case"` // the case that was tuned
	Values map[string]any `json:"values"`
	For    Target         `json:"for"`
}

// LoadTuned reads TunedFile in a folder. A file that does not exist has no benchmarks.
func LoadTuned(dir string) (Tuned, error) {
	t := Tuned{Schema: tunedSchema}
	path := filepath.Join(dir, TunedFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err == nil && (!info.Mode().IsRegular() || info.Size() > maxTunedBytes):
		err = fmt.Errorf("not a file of at most %d bytes", maxTunedBytes)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		return t, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if t.Schema != tunedSchema {
		return t, fmt.Errorf("cannot read %s: its schema is %.40q, expected %q", path, t.Schema, tunedSchema)
	}
	return t, nil
}

// With returns the content of the file with the values of one benchmark replaced.
func (t Tuned) With(benchmark string, v TunedValues) ([]byte, error) {
	t.Benchmarks = maps.Clone(t.Benchmarks)
	if t.Benchmarks == nil {
		t.Benchmarks = map[string]TunedValues{}
	}
	t.Benchmarks[benchmark] = v
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(t); err != nil {
		return nil, fmt.Errorf("cannot write the tuned values of %s: %w", benchmark, err)
	}
	return b.Bytes(), nil
}

// Differs returns, in words, how now differs from the target. What is unknown on either side does not differ.
func (t Target) Differs(now Target) []string {
	var list []string
	if t.Device != "" && now.Device != "" && t.Device != now.Device {
		return append(list, fmt.Sprintf("for %s, and this is %s", words.Sanitize(t.Device), words.Sanitize(now.Device)))
	}
	if t.Driver != "" && now.Driver != "" && t.Driver != now.Driver {
		list = append(list, fmt.Sprintf("with driver %s, which is now %s", words.Sanitize(t.Driver), words.Sanitize(now.Driver)))
	}
	if len(t.Compiler) > 0 && len(now.Compiler) > 0 && !slices.Equal(t.Compiler, now.Compiler) {
		list = append(list, fmt.Sprintf("with %s, now %s", compilers(t.Compiler), compilers(now.Compiler)))
	}
	if t.Kernel != "" && now.Kernel != "" && t.Kernel != now.Kernel {
		list = append(list, "for other sources")
	}
	return list
}

func compilers(list []string) string { return words.Sanitize(strings.Join(list, ", ")) }

// Sanitized returns a target that may come from another machine without anything that does not belong into a file that
// people review.
func (t Target) Sanitized() Target {
	for _, s := range []*string{&t.Device, &t.Driver, &t.Kernel, &t.Commit} {
		*s = words.SanitizeTo(*s, words.NameLength)
	}
	t.Compiler = words.SanitizeAll(t.Compiler[:min(len(t.Compiler), maxCompilers)], words.NameLength)
	return t
}
