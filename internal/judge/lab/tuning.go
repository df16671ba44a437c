package lab

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/stats"
)

// Limits of a tuning-space file. The recorded ones have up to 17,956 rows.
const (
	maxConfigurations = 1_000_000
	maxTimes          = 1_000
	maxUnpacked       = 1 << 30 // bytes
)

// resampledNoise holds the recorded times of one configuration, divided by their median. A round draws its
// samples from them.
type resampledNoise []float64

func (d resampledNoise) moves() bool { return true }

func (d resampledNoise) samples(rng *rand.Rand, _ int, center float64) []float64 {
	list := make([]float64, len(d))
	for i := range list {
		list[i] = center * d[rng.IntN(len(d))]
	}
	return list
}

// ReadSpaces reads the raw times of every configuration of every recorded tuning space in the data folder,
// up to most of each space. They serve as noise of samples for any kernel.
func ReadSpaces(ctx context.Context, data string, most int) ([]Noise, error) {
	files, err := filepath.Glob(filepath.Join(data, "tuning-spaces", "*.csv.gz"))
	if err != nil {
		return nil, fmt.Errorf("tuning spaces: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("tuning spaces: there is no .csv.gz in %s", filepath.Join(data, "tuning-spaces"))
	}
	var all []Noise
	for _, path := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list, err := readSpace(path, most)
		if err != nil {
			return nil, fmt.Errorf("tuning space %s: %w", path, err)
		}
		all = append(all, list...)
	}
	return all, nil
}

func readSpace(path string, most int) ([]Noise, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer unpacked.Close()
	return parseSpace(io.LimitReader(unpacked, maxUnpacked), most)
}

// parseSpace reads the times of the configurations that ran.
func parseSpace(r io.Reader, most int) ([]Noise, error) {
	rows := csv.NewReader(r)
	rows.ReuseRecord = true
	head, err := rows.Read()
	if err != nil {
		return nil, err
	}
	column := slices.Index(head, "times_ms")
	if column < 0 {
		return nil, errors.New("there is no column times_ms")
	}
	var list []Noise
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) || err == nil && len(list) >= most {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		d, err := parseTimes(row[column])
		if err != nil {
			line, _ := rows.FieldPos(column)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if len(d) >= 2 { // failed configurations have no times
			list = append(list, d)
		}
	}
}

func parseTimes(text string) (resampledNoise, error) {
	var d resampledNoise
	for word := range strings.FieldsSeq(text) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || !(v > 0) || v > 1e12 {
			return nil, fmt.Errorf("a time of %q: want milliseconds above 0", word)
		}
		if d = append(d, v); len(d) > maxTimes {
			return nil, fmt.Errorf("more than %d times of one configuration", maxTimes)
		}
	}
	if len(d) == 0 {
		return nil, nil
	}
	middle := stats.Median(d)
	for i := range d {
		d[i] /= middle
	}
	return d, nil
}
