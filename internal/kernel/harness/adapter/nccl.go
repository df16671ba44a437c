package adapter

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

var nccl = format{
	Format: Format{"nccl-tests", "nccl-tests, the printed table or -J FILE: time and bus bandwidth of every size, in place and out of place"},
	detect: func(o outline) bool { return o.ncclTable || o.has("nccl_version", "args") },
	read: func(in *input, b *builder) error {
		if text := bytes.TrimSpace(in.head); len(text) > 0 && text[0] == '{' {
			return readNCCLFile(in, b)
		}
		return readNCCLTable(in, b)
	},
}

var (
	ncclHeader = lazyregexp.New(`(?m)^(?:\[\d+,\d+\]<stdout>:)?#\s+size\s+count\s+type\s`)
	ncclMPI    = lazyregexp.New(`^\[\d+,\d+\]<stdout>:`) // in front of every line that mpirun tags
	ncclRank   = lazyregexp.New(`^#\s+Rank\s+\d+ .*\sdevice\s+\d+ \[[^\]]*\] (.+)$`)
	ncclIters  = lazyregexp.New(`^# nThread .* iters: (\d+) agg iters: (\d+) `)
)

const ncclName = "# Collective test starting:"

// ncclRun is what is known of a whole run.
type ncclRun struct {
	b       *builder
	name    string // of the collective; older releases do not print it
	ranks   int
	batch   int // iterations averaged in a time
	columns []string
	unit    float64 // of the times, in nanoseconds; 0 before it was read
	rows    int
}

// ncclRow is one size, and ncclResult its measurement in one of the two ways.
type ncclRow struct {
	size                float64
	dtype, redop, root  string
	outOfPlace, inPlace *ncclResult
}

type ncclResult struct {
	samples  []float64 // nanoseconds
	quantum  float64   // nanoseconds: the last digit printed
	cpu      bool      // the host's part only (-C)
	bus      float64   // GB/s; NaN if unknown
	wrong    float64   // elements that are wrong; NaN if unchecked
	averaged int       // iterations averaged in a sample
}

// readNCCLTable reads the printed table. Everything else is skipped: lines of NCCL itself stand between its rows.
func readNCCLTable(in *input, b *builder) error {
	r := &ncclRun{b: b}
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLineBytes)
	for number := 1; scanner.Scan(); number++ {
		line := strings.ToValidUTF8(scanner.Text(), "\ufffd")
		line = line[len(ncclMPI.FindString(line)):]
		if strings.HasPrefix(line, "#") {
			r.comment(line)
			continue
		}
		if err := r.line(strings.Fields(line)); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %s", size(maxLineBytes))
	} else if err != nil {
		return err
	}
	if r.rows == 0 {
		return errors.New("no row of results: did the test fail?")
	}
	return nil
}

// comment reads a line that starts with #: the description of the run, and the head of the table.
func (r *ncclRun) comment(line string) {
	if m := ncclRank.FindStringSubmatch(line); m != nil {
		r.device(m[1])
		return
	}
	if m := ncclIters.FindStringSubmatch(line); m != nil {
		iterations, _ := strconv.ParseFloat(m[1], 64)
		aggregated, _ := strconv.ParseFloat(m[2], 64)
		r.batch = count(iterations * max(aggregated, 1))
		return
	}
	if name, ok := strings.CutPrefix(line, ncclName); ok {
		r.name = strings.TrimSpace(name)
		return
	}
	fields := strings.Fields(line[1:])
	switch {
	case len(fields) > 3 && slices.Equal(fields[:3], []string{"size", "count", "type"}):
		r.columns, r.unit = fields, 0
	case r.columns != nil && r.unit == 0 && len(fields) > 0 && fields[0] == "(B)":
		for _, f := range slices.Backward(fields) {
			if factor, ok := nanoseconds(strings.Trim(f, "()")); ok {
				r.unit = factor
			}
		}
	}
}

// device notes a rank. Ranks of several models are one testbed only by name.
func (r *ncclRun) device(name string) {
	r.ranks++
	if d := &r.b.header.Device; d.Name == "" {
		*d = gpu.Identity{Kind: kindOf(name), Name: label(name)}
	}
}

// lead is the number of columns before the first time: size, count, type, and what the collective has.
func (r *ncclRun) lead() int {
	return slices.IndexFunc(r.columns, func(c string) bool { return c == "time" || c == "cputime" })
}

// line reads a row. A row of another length, or that does not start with two numbers, is other output.
func (r *ncclRun) line(fields []string) error {
	lead := r.lead()
	if lead < 3 || len(fields) <= lead || !wholeWord.MatchString(fields[0]) || !wholeWord.MatchString(fields[1]) {
		return nil
	}
	if r.unit == 0 {
		return errors.New("the table does not say the unit of its times")
	}
	row := ncclRow{dtype: fields[2]}
	row.size, _ = strconv.ParseFloat(fields[0], 64)
	for i, name := range r.columns[3:lead] {
		switch name {
		case "redop":
			row.redop = fields[3+i]
		case "root":
			row.root = fields[3+i]
		}
	}
	groups := r.groups(lead)
	width := groups[1] - groups[0]
	places := []**ncclResult{&row.outOfPlace, &row.inPlace}
	switch len(fields) - lead {
	case 2 * width, 2*width + 2: // with a date and a time behind
	case width, width + 2: // only in place: the other columns are blank
		places = places[1:]
	default:
		return fmt.Errorf("a row has %d fields, and the head of the table %d columns", len(fields), len(r.columns))
	}
	for i, place := range places {
		start := lead + i*width
		result, err := r.result(r.columns[lead:lead+width], fields[start:start+width])
		if err != nil {
			return err
		}
		*place = result
	}
	r.rows++
	return r.emit(row)
}

// groups returns where the columns of the two ways start, and the end if there is one way only.
func (r *ncclRun) groups(lead int) []int {
	var starts []int
	for i, name := range r.columns {
		if name == r.columns[lead] {
			starts = append(starts, i)
		}
	}
	return append(starts, len(r.columns))
}

func (r *ncclRun) result(columns, fields []string) (*ncclResult, error) {
	out := &ncclResult{bus: math.NaN(), wrong: math.NaN(), averaged: r.batch}
	for i, column := range columns {
		v, err := strconv.ParseFloat(fields[i], 64)
		switch column {
		case "time", "cputime":
			if err != nil {
				return nil, fmt.Errorf("the time %q is not a number", label(fields[i]))
			}
			out.cpu = column == "cputime"
			out.samples, out.quantum = []float64{v * r.unit}, lastDigit(fields[i])*r.unit
		case "busbw":
			if err == nil {
				out.bus = v
			}
		case "#wrong": // older releases print "error" instead, which is a difference and not a count
			if err == nil {
				out.wrong = v
			}
		}
	}
	return out, nil
}

// lastDigit returns the step of a printed number: 0.01 for 18.46.
func lastDigit(s string) float64 {
	_, fraction, ok := strings.Cut(s, ".")
	if !ok || len(fraction) > 12 || strings.ContainsAny(s, "eE") {
		return 1
	}
	return math.Pow10(-len(fraction))
}

// emit adds both ways of a row as cases of their own: their times differ, and so do the buffers.
func (r *ncclRun) emit(row ncclRow) error {
	for _, way := range []struct {
		name   string
		result *ncclResult
	}{{"out", row.outOfPlace}, {"in", row.inPlace}} {
		if way.result == nil {
			continue
		}
		params := []param{{"size", row.size}, {"type", label(row.dtype)}}
		if row.redop != "" && row.redop != "none" {
			params = append(params, param{"redop", label(row.redop)})
		}
		if root := strings.TrimSpace(row.root); root != "" && root != "-1" {
			params = append(params, param{"root", scalar(root)})
		}
		if r.ranks > 0 {
			params = append(params, param{"ranks", float64(r.ranks)})
		}
		params = append(params, param{"place", way.name})
		name := "nccl"
		if r.name != "" {
			name = path.Base(r.name)
		}
		c := measure.Case{CaseKey: measure.CaseKey{Benchmark: name, Config: configName(params)}, Params: paramMap(params), Timer: measure.TimerWall}
		if err := way.result.emit(r.b, c); err != nil {
			return err
		}
	}
	return nil
}

func (p *ncclResult) emit(b *builder, c measure.Case) error {
	if p.cpu {
		c.Timer = measure.TimerCPU
	}
	round := measure.CaseRound{Samples: p.samples, Quantum: p.quantum, Batch: p.averaged}
	if p.wrong > 0 {
		round = measure.CaseRound{Error: fmt.Sprintf("wrong result: %v elements differ", p.wrong)}
	}
	if err := b.time(c, round); err != nil || p.wrong > 0 || math.IsNaN(p.bus) {
		return err
	}
	c.Metric, c.Unit, c.Better = "busbw", "GB/s", measure.Higher
	return b.metric(c, []float64{p.bus})
}
