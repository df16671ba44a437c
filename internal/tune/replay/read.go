package replay

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Limits of a file. The recorded ones have up to 17,956 rows.
const (
	maxRows     = 1_000_000
	maxColumns  = 128
	maxTimes    = 1_000
	maxUnpacked = 1 << 30 // bytes
)

// Row is the record of one point.
type Row struct {
	Status string    // ok, or why there is no time: compile_error, runtime_error, invalid
	Time   float64   // median of the times, milliseconds
	Cost   float64   // seconds to evaluate the point once
	Times  []float64 // the raw times; empty if not recorded
}

// Failed reports whether the point has no time.
func (r Row) Failed() bool { return r.Status != "ok" }

// Recording is a space in which every point was measured. It is immutable.
type Recording struct {
	Name    string
	Space   *space.Space
	Rows    []Row   // by point
	Optimum float64 // the shortest time, milliseconds
}

// Cost returns the time to evaluate every point once, in seconds.
func (r *Recording) Cost() float64 {
	sum := 0.0
	for _, row := range r.Rows {
		sum += row.Cost
	}
	return sum
}

// Open reads a recorded space: a CSV file, with or without gzip.
func Open(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("recorded space: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	name := filepath.Base(path)
	if unpacked, packed := strings.CutSuffix(name, ".gz"); packed {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("recorded space %s: %w", path, err)
		}
		defer z.Close()
		r, name = z, unpacked
	}
	rec, err := Read(r)
	if err != nil {
		return nil, fmt.Errorf("recorded space %s: %w", path, err)
	}
	rec.Name = strings.TrimSuffix(name, ".csv")
	return rec, nil
}

// Read reads the CSV of a recorded space: one column per parameter, then status, time_ms,
// eval_cost_s and times_ms. The values of a parameter are those that occur.
func Read(r io.Reader) (*Recording, error) {
	in := csv.NewReader(io.LimitReader(r, maxUnpacked))
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	names := len(header) - 4
	if names < 1 || names > maxColumns || !slices.Equal(header[names:], []string{"status", "time_ms", "eval_cost_s", "times_ms"}) {
		return nil, fmt.Errorf("header: expected parameters, then status, time_ms, eval_cost_s, times_ms; got %q", header)
	}
	columns := slices.Clone(header[:names])
	rec := &Recording{Optimum: math.Inf(1)}
	var cells [][]string
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(cells) == maxRows {
			return nil, fmt.Errorf("more than %d rows", maxRows)
		}
		row, err := readRow(record[names:])
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", len(cells)+2, err)
		}
		if !row.Failed() {
			rec.Optimum = min(rec.Optimum, row.Time)
		}
		cells = append(cells, slices.Clone(record[:names]))
		rec.Rows = append(rec.Rows, row)
	}
	if math.IsInf(rec.Optimum, 1) {
		return nil, errors.New("no row has a time")
	}
	rec.Space, err = build(columns, cells)
	return rec, err
}

func readRow(cells []string) (Row, error) {
	row := Row{Status: cells[0]}
	cost, err := positive("eval_cost_s", cells[2])
	if err != nil {
		return row, err
	}
	row.Cost = cost
	if row.Failed() {
		return row, nil
	}
	if row.Time, err = positive("time_ms", cells[1]); err != nil {
		return row, err
	}
	if row.Time == 0 {
		return row, errors.New("time_ms is 0")
	}
	for cell := range strings.FieldsSeq(cells[3]) {
		if len(row.Times) == maxTimes {
			return row, fmt.Errorf("more than %d times", maxTimes)
		}
		x, err := positive("times_ms", cell)
		if err != nil {
			return row, err
		}
		row.Times = append(row.Times, x)
	}
	return row, nil
}

func positive(name, cell string) (float64, error) {
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil || x < 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("%s is %q, must be a number", name, cell)
	}
	return x, nil
}

// build finds the values of every parameter and numbers the points by row.
func build(columns []string, cells [][]string) (*space.Space, error) {
	parameters := make([]space.Parameter, len(columns))
	points := make([][]uint16, len(cells))
	for i := range points {
		points[i] = make([]uint16, len(columns))
	}
	for k, name := range columns {
		var distinct []string
		seen := map[string]bool{}
		for _, row := range cells {
			if !seen[row[k]] {
				seen[row[k]] = true
				distinct = append(distinct, row[k])
			}
		}
		if len(distinct) > math.MaxUint16 {
			return nil, fmt.Errorf("parameter %q has too many values (%d)", name, len(distinct))
		}
		values := rank(distinct)
		index := make(map[string]uint16, len(distinct))
		for i, cell := range distinct {
			index[cell] = uint16(i)
		}
		parameters[k] = space.Parameter{Name: name, Values: values}
		for i, row := range cells {
			points[i][k] = index[row[k]]
		}
	}
	return space.FromPoints(parameters, points)
}

// rank sorts the cells and returns their values: numbers if all of them are.
func rank(cells []string) []any {
	numbers := map[string]float64{}
	for _, c := range cells {
		if x, err := strconv.ParseFloat(c, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
			numbers[c] = x
		}
	}
	isNumber := len(numbers) == len(cells)
	slices.SortFunc(cells, func(a, b string) int {
		if isNumber && numbers[a] != numbers[b] {
			if numbers[a] < numbers[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	values := make([]any, len(cells))
	for i, c := range cells {
		switch whole, err := strconv.Atoi(c); {
		case isNumber && err == nil:
			values[i] = whole
		case isNumber:
			values[i] = numbers[c]
		default:
			values[i] = c
		}
	}
	return values
}
