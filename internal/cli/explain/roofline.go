package explain

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/report/roofline"
	"github.com/goatnote-inc/pawl/measure"
)

// rooflineFlags are the flags of pawl profile --roofline.
type rooflineFlags struct {
	*env.Env
	record    string
	out       string
	bandwidth float64 // GB/s
	peak      float64 // GFLOP/s
}

// register adds the flags that only --roofline uses.
func (f *rooflineFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.record, "record", "", "with --roofline: draw this run record `file`, and no profiles (default: results/current.json)")
	fl.StringVarP(&f.out, "out", "o", "", "with --roofline: write the picture to this `file`, .png or .svg (default: results/roofline.png)")
	fl.Float64Var(&f.bandwidth, "bandwidth", 0, "with --roofline: the device's memory bandwidth in `GB/s`, as you measured it")
	fl.Float64Var(&f.peak, "peak", 0, "with --roofline: the device's peak in `GFLOP/s`, as you measured it")
}

func (f *rooflineFlags) run(globs []string) error {
	out := cmp.Or(f.out, filepath.Join("results", "roofline.png"))
	ending := strings.ToLower(filepath.Ext(out))
	if ending != ".png" && ending != ".svg" {
		return command.Usage(fmt.Errorf("%s: unknown extension: expected .png or .svg", out))
	}
	if f.bandwidth < 0 || f.peak < 0 {
		return command.Usage(errors.New("--bandwidth and --peak must be more than 0"))
	}
	roof, used, err := f.gather(globs)
	if err != nil {
		return err
	}
	if f.bandwidth > 0 {
		roof.Memory = []roofline.Ceiling{{Name: "DRAM", Value: f.bandwidth * 1e9}}
	}
	if f.peak > 0 {
		roof.Compute = []roofline.Ceiling{{Name: "peak", Value: f.peak * 1e9}}
	}
	if len(roof.Cases) == 0 {
		of := ""
		if len(globs) > 0 {
			of = fmt.Sprintf(" that matches %q", globs)
		}
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("no case to draw in %s%s\n  %s", strings.Join(used, " and "), of,
			"a case needs a time, and either flops and bytes in the suite or a profile (pawl profile CASE)"))
	}
	var b bytes.Buffer // buffered, so that a failed picture leaves the old file unchanged
	if ending == ".svg" {
		b.WriteString(roof.Picture().SVG("Roofline", roof.Describe()))
	} else if err := roof.Picture().PNG(&b); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return fmt.Errorf("cannot write the picture: %w", err)
	}
	if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("cannot write the picture: %w", err)
	}
	return f.show(roof, used, out)
}

// gather builds the roofline from the record and the profiles, and returns which of them it used.
func (f *rooflineFlags) gather(globs []string) (*roofline.Roof, []string, error) {
	wanted := wantedCases(globs)
	record := cmp.Or(f.record, filepath.Join("results", "current.json"))
	run, err := measure.Load(record)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.record == "":
		run = nil
	case err != nil:
		return nil, nil, command.Usage(err)
	}
	var kept keptProfiles
	if f.record == "" {
		if kept, err = ReadProfiles(filepath.Join("results", runner.ProfileFolder), run, wanted); err != nil {
			return nil, nil, err
		}
		// A tool that does not count traffic cannot place a point. The record may.
		kept.Whys = slices.DeleteFunc(kept.Whys, func(w report.Why) bool { return len(roofline.OfProfiles(w.Profiled()).Cases) == 0 })
	}
	if run == nil && kept.files == 0 {
		return nil, nil, command.Usage(errors.New("no results/current.json and no profile in results/profiles: run `pawl run` or `pawl bench`, or name another record with --record"))
	}
	roof := &roofline.Roof{}
	var used []string
	if run != nil {
		roof = roofline.OfRun(run, func(k measure.CaseKey) bool { return wanted(k.Name(), k.Benchmark) && !kept.has(k.Name()) })
		used = append(used, record)
	}
	if kept.files > 0 {
		var profiled []roofline.Profiled
		for _, w := range kept.Whys {
			profiled = append(profiled, w.Profiled())
		}
		roof.Join(roofline.OfProfiles(profiled...))
		used = append(used, fmt.Sprintf("%s in %s", words.Plural(kept.files, "profile"), filepath.Join("results", "profiles")))
	}
	roof.Notes = append(roof.Notes, kept.notes...)
	return roof, used, nil
}

// wantedCases returns a function that reports whether one of the globs matches a case. Without globs
// all cases match.
func wantedCases(globs []string) func(name, benchmark string) bool {
	return func(name, benchmark string) bool {
		for _, glob := range globs {
			if measure.MatchCase(glob, name, benchmark) {
				return true
			}
		}
		return len(globs) == 0
	}
}

// show prints the same as the picture, as text.
func (f *rooflineFlags) show(roof *roofline.Roof, used []string, out string) error {
	var b strings.Builder
	style := f.Style()
	if err := report.Table(&b, style, []bool{false, false, true, true, true, false}, roof.Rows()); err != nil {
		return err
	}
	for _, note := range roof.Remarks() {
		b.WriteString(style.Faint("note: "+note) + "\n")
	}
	fmt.Fprintf(&b, "drawn from %s\npicture: %s\n", strings.Join(used, " and "), out)
	_, err := io.WriteString(f.Out, b.String())
	return err
}
