package correctness

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Corpus is a folder of known failures, one file each, so that branches merge without
// conflict: .pawl/corpus/BENCHMARK/DIGEST.json. Its contents come from a repository and
// are untrusted.
type Corpus struct{ Dir string }

// Failure is a point that has failed before.
type Failure struct {
	Point
	Benchmark string    `json:"benchmark"`
	Rule      RuleName  `json:"rule,omitempty"` // empty if no comparison took place
	Message   string    `json:"message"`
	Found     time.Time `json:"found"`
	Pawl      string    `json:"pawl"` // the version of pawl that found it
}

const (
	maxFailures   = 256 // per benchmark
	maxFileBytes  = 64 << 10
	maxFolderRead = 4096
)

// name returns the file name of a failure: the same point always has the same name.
func (f Failure) name() string {
	sum := sha256.Sum256([]byte(f.Benchmark + "\x00" + f.key()))
	return hex.EncodeToString(sum[:8]) + ".json"
}

// Add stores a failure and returns the path of its file. An existing file is left
// unchanged.
func (c Corpus) Add(f Failure) (string, error) {
	path := filepath.Join(c.Dir, f.Benchmark, f.name())
	if err := c.add(f); err != nil {
		return "", fmt.Errorf("cannot save a failure to %s: %w", path, err)
	}
	return path, nil
}

func (c Corpus) add(f Failure) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	folder, err := c.open(f.Benchmark, true)
	if err != nil {
		return err
	}
	defer folder.Close()
	if _, err := folder.Lstat(f.name()); err == nil {
		return nil
	}
	names, err := jsonFiles(folder)
	if err != nil {
		return err
	}
	if len(names) >= maxFailures {
		return fmt.Errorf("the corpus already has %d failures: delete those that are fixed", len(names))
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	fresh := f.name() + ".tmp"
	if err := folder.WriteFile(fresh, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return folder.Rename(fresh, f.name())
}

// Load reads the failures of a benchmark, oldest first. Files that cannot be read are
// left out and returned as errors: a broken file must not block the others.
func (c Corpus) Load(benchmark string) ([]Failure, []error) {
	folder, err := c.open(benchmark, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{fmt.Errorf("cannot read the corpus of %q: %w", benchmark, err)}
	}
	defer folder.Close()
	names, err := jsonFiles(folder)
	if err != nil {
		return nil, []error{fmt.Errorf("cannot read the corpus of %q: %w", benchmark, err)}
	}
	var problems []error
	if len(names) > maxFailures {
		problems = append(problems, fmt.Errorf("the corpus of %q has %d files, but only %d are tried: delete those that are fixed", benchmark, len(names), maxFailures))
		names = names[:maxFailures]
	}
	var list []Failure
	for _, name := range names {
		f, err := read(folder, name)
		if err == nil && f.Benchmark != benchmark {
			err = fmt.Errorf("it belongs to benchmark %.40q", f.Benchmark)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("corpus file %s: %w", filepath.Join(c.Dir, benchmark, name), err))
			continue
		}
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b Failure) int { return a.Found.Compare(b.Found) })
	return list, problems
}

// open opens the folder of a benchmark so that no link or name in it leads out of the
// corpus.
func (c Corpus) open(benchmark string, create bool) (*os.Root, error) {
	if benchmark == "" || benchmark == "." || !filepath.IsLocal(benchmark) || strings.ContainsAny(benchmark, `/\`) {
		return nil, fmt.Errorf("%q is not a valid folder name", benchmark)
	}
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if create {
		if err := root.MkdirAll(benchmark, 0o755); err != nil {
			return nil, err
		}
	}
	return root.OpenRoot(benchmark)
}

func jsonFiles(folder *os.Root) ([]string, error) {
	d, err := folder.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(maxFolderRead)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && filepath.Ext(e.Name()) == ".json" {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, cmp.Compare)
	return names, nil
}

func read(folder *os.Root, name string) (Failure, error) {
	file, err := folder.Open(name)
	if err != nil {
		return Failure{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return Failure{}, err
	}
	return parseFailure(text)
}

// parseFailure parses one file. It ignores fields of later versions.
func parseFailure(text []byte) (Failure, error) {
	var f Failure
	if len(text) > maxFileBytes {
		return f, fmt.Errorf("it is larger than %d bytes", maxFileBytes)
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, err
	}
	if !slices.Contains(Distributions(), f.Inputs) {
		return f, fmt.Errorf("unknown inputs %.40q", f.Inputs)
	}
	for _, p := range f.Params {
		if x, number := p.Value.(float64); number && (math.IsNaN(x) || math.Abs(x) > 1<<53) {
			return f, fmt.Errorf("parameter %.40q has the invalid value %v", p.Name, x)
		}
	}
	f.Message = clean(f.Message)
	return f, nil
}

// clean makes untrusted text safe to print, and short.
func clean(s string) string { return words.SanitizeTo(s, 500) }

// sameNames reports whether two configs have the same parameters, in any order. If a
// benchmark has changed its parameters since a failure, the failure cannot be tried.
func sameNames(a, b suite.Params) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(p suite.Param) bool {
		v, ok := b.Get(p.Name)
		_, isNumber := p.Value.(float64)
		_, wasNumber := v.(float64)
		return !ok || isNumber != wasNumber
	})
}
