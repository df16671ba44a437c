package adapter

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

var criterion = format{
	Format: Format{"criterion", "Criterion.rs: new/sample.json with benchmark.json next to it, or a folder of them"},
	detect: func(o outline) bool { return o.has("iters", "times") || o.has("sampling_mode") },
	read:   readCriterion,
}

type (
	criterionSample struct {
		Mode  string  `json:"sampling_mode"`
		Iters numbers `json:"iters"`
		Times numbers `json:"times"` // totals in nanoseconds
	}
	criterionName struct {
		Group      string `json:"group_id"`
		Function   *text  `json:"function_id"`
		Value      *text  `json:"value_str"`
		Throughput struct {
			Bytes        float64 `json:"Bytes"`
			BytesDecimal float64 `json:"BytesDecimal"`
		} `json:"throughput"`
	}
)

const (
	criterionFile      = "sample.json"
	criterionNameBytes = 1 << 20
)

func readCriterion(in *input, b *builder) error {
	b.header.Device = gpu.Identity{Kind: gpu.CPU} // the files do not describe the machine
	if !in.dir {
		data, err := io.ReadAll(&limitedReader{ctx: in.ctx, r: in, left: in.limits.document})
		if err != nil {
			return err
		}
		return criterionCase(in, b, in.path, data)
	}
	files, err := criterionFiles(in)
	if err != nil {
		return err
	}
	left := in.limits.stream
	for _, name := range files {
		data, err := in.small(name, min(left, in.limits.document))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		left -= int64(len(data))
		if err := criterionCase(in, b, name, data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// criterionFiles finds the newest samples below a folder: those in a folder
// "new", or in the given folder itself. "base" holds the previous run.
func criterionFiles(in *input) ([]string, error) {
	var files []string
	seen := 0
	err := fs.WalkDir(in.files, in.path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := in.ctx.Err(); err != nil {
			return err
		}
		if seen++; seen > 20*in.limits.cases {
			return fmt.Errorf("the folder contains more than %d files: choose a smaller folder", 20*in.limits.cases)
		}
		folder := path.Dir(name)
		if path.Base(name) == criterionFile && entry.Type().IsRegular() && (path.Base(folder) == "new" || folder == in.path) {
			files = append(files, name)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("the folder contains no new/sample.json: run cargo bench, then import target/criterion or a folder in it")
	}
	slices.Sort(files)
	return files, err
}

func criterionCase(in *input, b *builder, name string, data []byte) error {
	var sample criterionSample
	if err := unmarshal(data, &sample); err != nil {
		return err
	}
	c, err := criterionKey(in, b, name)
	if err != nil {
		return err
	}
	if len(sample.Iters) != len(sample.Times) {
		return fmt.Errorf("case %s: %d times for %d iteration counts: the file is damaged, measure again", label(c.Name()), len(sample.Times), len(sample.Iters))
	}
	if len(sample.Times) == 0 {
		return b.time(c, measure.CaseRound{Error: "Criterion recorded no samples"})
	}
	round := measure.CaseRound{Samples: make(measure.Samples, len(sample.Times))}
	for i, total := range sample.Times {
		round.Samples[i] = total / sample.Iters[i]
	}
	least, most := slices.Min(sample.Iters), slices.Max(sample.Iters)
	round.Batch = count(least)
	if most > least {
		b.warn(warnMixed, c.Name(), "its samples are means over %g to %g iterations, so the first samples vary more than the last: use SamplingMode::Flat for equal iteration counts", least, most)
	}
	return b.time(c, round)
}

// criterionKey derives the key of the case from benchmark.json, or from the folders.
func criterionKey(in *input, b *builder, name string) (measure.Case, error) {
	c := measure.Case{Timer: measure.TimerWall}
	folder := path.Dir(name)
	var raw []byte
	if in.files != nil {
		var err error
		if raw, err = in.small(path.Join(folder, "benchmark.json"), criterionNameBytes); err != nil {
			return c, fmt.Errorf("benchmark.json: %w", err)
		}
	}
	if raw == nil {
		c.Benchmark, c.Config = split(criterionFolder(folder))
		b.warn(warnIgnored, c.Name(), "there is no benchmark.json next to %s: the case is named after its folder", criterionFile)
		return c, nil
	}
	var id criterionName
	if err := unmarshal(raw, &id); err != nil {
		return c, fmt.Errorf("benchmark.json: %w", err)
	}
	c.Benchmark = id.Group
	if id.Function != nil {
		c.Benchmark += "/" + string(*id.Function)
	}
	if id.Value != nil {
		c.Config = string(*id.Value)
		c.Params = map[string]any{"value": scalar(c.Config)}
	}
	c.Bytes = max(0, id.Throughput.Bytes, id.Throughput.BytesDecimal)
	return c, nil
}

// criterionFolder returns the part of a path that names a benchmark:
// target/criterion/GROUP/FUNCTION/VALUE/new.
func criterionFolder(folder string) string {
	parts := strings.Split(folder, "/")
	if i := slices.Index(parts, "criterion"); i >= 0 {
		parts = parts[i+1:]
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "new" || p == "base" || p == "." || p == "" })
	if len(parts) == 0 {
		return "sample"
	}
	return strings.Join(parts, "/")
}
