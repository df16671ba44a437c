package adapter

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

var goBench = format{
	Format: Format{"go", "Go benchmark output (go test -bench, or any program that prints it): one sample per line"},
	detect: func(o outline) bool { return o.goLines },
	read:   readGo,
}

const (
	goTime      = "sec/op"
	maxGoLine   = 32 << 10
	maxGoConfig = 1000 // "key: value" lines in force at once
)

// goSeries holds the results of one benchmark in one package, by unit.
type goSeries struct {
	pkg, name string
	batch     int
	units     []string
	values    map[string][]float64
}

type goReader struct {
	b       *builder
	units   benchfmt.UnitMetadataMap
	series  map[[2]string]*goSeries
	order   []*goSeries
	cases   int
	config  map[string]string // values when first seen
	changed map[string]bool
}

func readGo(in *input, b *builder) error {
	r := &goReader{b: b, series: map[[2]string]*goSeries{}, config: map[string]string{}, changed: map[string]bool{}}
	lines := &goLines{r: bufio.NewReaderSize(in, maxGoLine), b: b}
	reader := benchfmt.NewReader(lines, in.path)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			if err := r.add(record); err != nil {
				return err
			}
		case *benchfmt.SyntaxError:
			b.warn(warnIgnored, "", "line %d is not a benchmark result: %s", record.Line, label(record.Msg))
		}
	}
	if err := reader.Err(); err != nil {
		return err
	}
	r.units = reader.Units()
	r.describe()
	for _, s := range r.order {
		if err := r.emit(s); err != nil {
			return err
		}
	}
	return nil
}

func (r *goReader) add(res *benchfmt.Result) error {
	_, line := res.Pos()
	if err := r.conditions(res, line); err != nil {
		return err
	}
	key := [2]string{res.GetConfig("pkg"), res.Name.String()}
	s := r.series[key]
	if s == nil {
		s = &goSeries{pkg: key[0], name: key[1], batch: res.Iters, values: map[string][]float64{}}
		r.series[key] = s
		r.order = append(r.order, s)
	}
	s.batch = min(s.batch, res.Iters)
	for _, v := range res.Values {
		// The reader keeps the unit as written if tidying does not change the
		// number, which is the case for zero.
		_, unit := benchunit.Tidy(1, v.Unit)
		value := v.Value
		if unit == goTime {
			value *= 1e9
			if v.OrigUnit == "ns/op" {
				value = v.OrigValue // exact; converting through seconds is not
			}
		}
		if _, ok := s.values[unit]; !ok {
			s.units = append(s.units, unit)
			if r.cases++; r.cases > r.b.limits.cases {
				return fmt.Errorf("line %d: more than %d cases: import fewer benchmarks at a time", line, r.b.limits.cases)
			}
		}
		s.values[unit] = append(s.values[unit], value)
	}
	return nil
}

// conditions checks the "key: value" lines. A change of machine within a file is an
// error. Any other change is a warning: the samples go into the same case.
func (r *goReader) conditions(res *benchfmt.Result, line int) error {
	if len(res.Config) > maxGoConfig {
		return fmt.Errorf("line %d: more than %d \"key: value\" lines: is this benchmark output?", line, maxGoConfig)
	}
	for _, c := range res.Config {
		if c.Key == "pkg" {
			continue
		}
		first, ok := r.config[c.Key]
		switch value := string(c.Value); {
		case !ok:
			r.config[c.Key] = value
		case first == value || r.changed[c.Key]:
		case slices.Contains([]string{"goos", "goarch", "cpu"}, c.Key):
			return fmt.Errorf("line %d: %s changes from %q to %q: one side cannot mix results of two machines, split the file", line, c.Key, label(first), label(value))
		default:
			r.changed[c.Key] = true
			r.b.warn(warnMixed, "", "line %d: %s changes from %q to %q; the samples before and after are combined", line, label(c.Key), label(first), label(value))
		}
	}
	return nil
}

func (r *goReader) describe() {
	cpu := label(r.config["cpu"])
	r.b.header.Device = gpu.Identity{Kind: gpu.CPU, Name: cpu}
	r.b.header.Environment = measure.Environment{OS: label(r.config["goos"]), Arch: label(r.config["goarch"]), CPU: cpu}
	if version := r.config["toolchain"]; version != "" {
		r.b.tool("go", version)
	}
	r.b.created(r.config["date"])
}

// emit adds the time of a benchmark as its case and every other unit as a watched
// case. The last element of the package path precedes the name, as in Go source.
func (r *goReader) emit(s *goSeries) error {
	var key measure.CaseKey
	key.Benchmark, key.Config = split(s.name)
	var params map[string]any
	if s.pkg != "" {
		key.Benchmark = path.Base(s.pkg) + "." + key.Benchmark
		params = map[string]any{"pkg": label(s.pkg)}
	}
	if samples, ok := s.values[goTime]; ok {
		c := measure.Case{CaseKey: key, Params: params, Timer: measure.TimerWall}
		if err := r.b.time(c, measure.CaseRound{Samples: samples, Batch: max(0, s.batch)}); err != nil {
			return err
		}
	}
	for _, unit := range s.units {
		if unit == goTime {
			continue
		}
		c := measure.Case{CaseKey: key, Params: params, Unit: label(unit), Better: r.better(unit)}
		c.Metric = unit
		if err := r.b.metric(c, s.values[unit]); err != nil {
			return err
		}
	}
	return nil
}

// better returns the direction from a Unit line or from Go's definition, else from the name.
func (r *goReader) better(unit string) measure.Better {
	switch r.units.GetBetter(unit) {
	case 1:
		return measure.Higher
	case -1:
		return measure.Lower
	}
	return guessBetter(unit)
}

// goLines passes the output on line by line, without lines that are too long to be
// a result. It also records benchmarks and packages that failed, which the format
// cannot express.
type goLines struct {
	r    *bufio.Reader
	b    *builder
	line int
	rest []byte
}

func (l *goLines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.r.ReadSlice('\n')
		l.line++
		if errors.Is(err, bufio.ErrBufferFull) {
			l.b.warn(warnIgnored, "", "line %d is longer than %d KiB", l.line, maxGoLine>>10)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = l.r.ReadSlice('\n')
			}
			line = []byte("\n") // keeps line numbers correct
		}
		if len(line) == 0 {
			return 0, err
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		l.watch(line)
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *goLines) watch(line []byte) {
	for _, prefix := range []string{"--- FAIL: ", "FAIL\t", "panic: "} {
		if bytes.HasPrefix(line, []byte(prefix)) {
			l.b.warn(warnSkipped, "", "line %d: %s", l.line, label(string(line)))
		}
	}
}
