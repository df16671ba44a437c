package trial

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness/adapter"
	"github.com/goatnote-inc/pawl/measure"
)

// Formats of a plain command that are handled here.
const (
	Samples = "samples" // JSON lines in the file named by SamplesVariable, or printed
	Python  = "python"  // what the timers of Python measure, as the recorder sees it
	Process = "process" // no output is read: the process is timed as a whole
)

// SamplesVariable is the environment variable that names the file for the samples of a plain command.
const SamplesVariable = "PAWL_SAMPLES"

// Commands is a Runner for a plain command whose output, printed or in a file, is in a
// format that pawl reads. The command itself decides the order of cases, the number of
// samples and the warm-up.
type Commands struct {
	Command harness.Command
	Format  string        // empty means: detect it
	Pattern string        // of format lines; empty means the usual one
	Timer   measure.Timer // of a format that has several; empty means the first
	Output  string        // the file it writes, below the command's folder, or a glob of files; empty means stdout
	Name    string        // of the only case of a command that is timed as a whole
	Side    string
	// Found is called with the cases of the first round before their results; never nil.
	Found func([]measure.Case) error
	// Keep reports whether a case is wanted; nil keeps all.
	Keep func(measure.CaseKey) bool
	// Record puts the recorder in place for every Python that the command starts.
	Record bool
	Now    func() time.Time // never nil

	cores coreUse
}

// Round runs the command once.
func (c *Commands) Round(ctx context.Context, r Request) ([]measure.Result, error) {
	run, err := c.runAt(ctx, r.place)
	if err != nil {
		return nil, err
	}
	return c.report(run, r)
}

// runAt runs the command once. If it does something else on one core, it runs again on all.
func (c *Commands) runAt(ctx context.Context, at place) (*measure.Run, error) {
	run, err := c.run(ctx, at)
	if err == nil && c.cores.changes(run.Cases) {
		run, err = c.run(ctx, place{})
	}
	return run, err
}

// report passes the results of a run on.
func (c *Commands) report(run *measure.Run, r Request) ([]measure.Result, error) {
	var cases []measure.Case
	var results []measure.Result
	for _, found := range run.Cases {
		found.Implementation = c.Side
		if c.Keep != nil && !c.Keep(found.CaseKey) {
			continue
		}
		for _, cr := range found.Rounds {
			cr.Round = r.Round
			results = append(results, measure.Result{Case: found.CaseKey, Round: cr})
		}
		cases = append(cases, found)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("command %q ran, but its output has none of the requested cases", c.Command.Line)
	}
	if err := c.Found(cases); err != nil {
		return nil, err
	}
	for _, res := range results {
		r.Measured(res)
	}
	return results, nil
}

// run runs the command once and reads its result.
func (c *Commands) run(ctx context.Context, at place) (*measure.Run, error) {
	if err := c.removeStale(); err != nil {
		return nil, err
	}
	done, err := c.start(ctx, at)
	if err != nil {
		return nil, err
	}
	defer done.remove()
	switch {
	case c.Format == Process:
		return done.whole(), nil
	case c.Format == Python:
		return done.recorded(ctx)
	case isGlob(c.Output):
		return done.files(ctx)
	case c.Output != "":
		return done.file(ctx, c.Output, c.Format)
	case done.hasSamples() && (c.Format == "" || c.Format == Samples):
		return done.samples(ctx)
	default:
		return done.printed(ctx, c.Format)
	}
}

// commandRun is one finished run of a command.
type commandRun struct {
	*Commands
	stdout []byte
	took   time.Duration
	folder *scratch.Folder // holds the files of samples; removed after reading
}

// samplesFile is the name of the file of samples in its folder.
const samplesFile = "samples.jsonl"

// start runs the command. The caller must remove the result.
func (c *Commands) start(ctx context.Context, at place) (done *commandRun, err error) {
	done = &commandRun{Commands: c}
	if done.folder, err = scratch.New("", "samples"); err != nil {
		return nil, fmt.Errorf("cannot create a folder for samples: %w", err)
	}
	command := c.Command
	command.Env = append(slices.Clone(command.Env), SamplesVariable+"="+filepath.Join(done.folder.Path, samplesFile))
	if c.Record {
		variable, err := placeRecorder(done.folder.Path, command)
		if err != nil {
			done.remove()
			return nil, err
		}
		command.Env = append(command.Env, variable)
	}
	if at.seat != nil {
		leave, err := at.seat.take(filepath.Join(done.folder.Path, recordedFile))
		if err != nil {
			done.remove()
			return nil, err
		}
		defer leave()
	}
	command.Around = func(run func() error) error {
		began := c.Now()
		err := run()
		done.took = c.Now().Sub(began)
		return err
	}
	command.Tree = new(harness.Freezer).Tree(c.Side)
	stop := c.cores.follow(command.Tree, at)
	done.stdout, err = harness.Output(ctx, command)
	if stop(); err != nil {
		done.remove()
		return nil, err
	}
	if !c.cores.bound {
		c.cores.timed = done.timed()
	}
	return done, nil
}

func (r *commandRun) remove() { _ = r.folder.Remove() } // if it fails, the next pawl removes it

// whole returns the time of the process as the only sample of one case.
func (r *commandRun) whole() *measure.Run {
	return &measure.Run{Cases: []measure.Case{{
		CaseKey: measure.CaseKey{Benchmark: r.Name, Implementation: r.Side}, Unit: "ns", Better: measure.Lower, Gate: true, Timer: measure.TimerWall,
		Rounds: []measure.CaseRound{{Samples: measure.Samples{float64(max(r.took, 1))}}},
	}}}
}

// hasSamples reports whether the command wrote samples to their file.
func (r *commandRun) hasSamples() bool { return r.sizeOf(samplesFile) > 0 }

// sizeOf returns the size of a file in the folder of samples; -1 if it is not a regular file.
func (r *commandRun) sizeOf(name string) int64 {
	info, err := os.Lstat(filepath.Join(r.folder.Path, name))
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

func (r *commandRun) samples(ctx context.Context) (*measure.Run, error) {
	return r.read(ctx, r.folder.Path, adapter.Source{Name: "samples of " + r.Command.Line, Path: samplesFile}, Samples)
}

func (r *commandRun) printed(ctx context.Context, format string) (*measure.Run, error) {
	return r.read(ctx, r.Command.Dir, adapter.Source{Path: "stdout", Data: bytes.NewReader(r.stdout)}, format)
}

func (r *commandRun) file(ctx context.Context, name, format string) (*measure.Run, error) {
	return r.read(ctx, r.Command.Dir, adapter.Source{Path: name}, format)
}

// read reads a source. Files that it names are read only below dir.
func (r *commandRun) read(ctx context.Context, dir string, src adapter.Source, format string) (*measure.Run, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the output of %q: %w", r.Command.Line, err)
	}
	defer root.Close()
	if src.Files = root.FS(); src.Name == "" {
		src.Name = "output of " + r.Command.Line
	}
	return adapter.Read(ctx, src, adapter.Options{Format: format, Pattern: r.Pattern, Timer: r.Timer})
}
