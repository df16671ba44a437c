package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness/adapter"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/sdk"
)

// Files that the recorder writes beside the file of samples. The first exists as soon as a Python was started with it.
const (
	recordedFile = samplesFile + ".python"
	notesFile    = recordedFile + ".notes"
	cpuFile      = recordedFile + ".cpu"
)

// recorderFolder is the folder of the recorder beside the file of samples.
const recorderFolder = "recorder"

// placeRecorder writes the recorder where every Python that command starts imports it before anything else, and returns
// the variable that says so. Each process gets a new copy: what one side writes there, the other never reads.
func placeRecorder(dir string, command harness.Command) (variable string, err error) {
	folder := filepath.Join(dir, recorderFolder)
	if err = os.Mkdir(folder, 0o755); err == nil {
		err = os.WriteFile(filepath.Join(folder, "sitecustomize.py"), sdk.Recorder, 0o444)
	}
	if err != nil {
		return "", fmt.Errorf("cannot write the Python recorder: %w", err)
	}
	return command.PythonPath(folder), nil
}

func (r *commandRun) hasRecorded() bool { return r.sizeOf(recordedFile) > 0 }

// recorded reads what the recorder wrote.
func (r *commandRun) recorded(ctx context.Context) (*measure.Run, error) {
	if !r.hasRecorded() {
		return nil, fmt.Errorf("command %q ran, but %s", r.Command.Line, r.whyUnrecorded())
	}
	return r.read(ctx, r.folder.Path, adapter.Source{Name: "timers of " + r.Command.Line, Path: recordedFile}, Samples)
}

// startsPython matches the names of programs that start Python.
var startsPython = lazyregexp.New(`^(i?python[0-9.]*|pypy[0-9.]*|py\.?test(-[0-9.]+)?|uvx?|poetry|pdm|hatch|tox|nox|torchrun|accelerate)$`)

// whyUnrecorded says why there is no recorded sample; empty if the command starts no Python, as far as its words show.
func (r *commandRun) whyUnrecorded() string {
	switch {
	case !r.Record:
		return ""
	case r.sizeOf(recordedFile) == 0:
		return strings.TrimSuffix("Python called no timer that pawl records; "+r.note(), "; ")
	case slices.ContainsFunc(r.words(), func(word string) bool { return startsPython.MatchString(path.Base(word)) }):
		return "Python did not load pawl's recorder: -I, -S and -E keep it out, and so does a tool that clears PYTHONPATH"
	case r.Format == Python:
		return "it started no Python that loads pawl's recorder"
	}
	return ""
}

// withNote adds the first thing that the recorder could not record.
func (r *commandRun) withNote(d Detected) Detected {
	if d.Unread == "" {
		d.Unread = r.note()
	}
	return d
}

// note returns the first note of the recorder.
func (r *commandRun) note() string {
	first, _, _ := strings.Cut(r.beginning(notesFile), "\n")
	return words.Sanitize(first)
}

// beginning returns the first kilobytes of a file in the folder of samples; the rest is not needed.
func (r *commandRun) beginning(name string) string {
	if r.sizeOf(name) <= 0 {
		return ""
	}
	f, err := os.Open(filepath.Join(r.folder.Path, name))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, 4<<10))
	return string(text)
}

// timed is the CPU time that the recorder saw while Python's timers ran, in seconds.
type timed struct {
	Alone  float64 `json:"alone"`  // of the threads that measured
	Others float64 `json:"others"` // of all others meanwhile
	Unseen bool    `json:"unseen"` // some samples are from elsewhere
	Turns  bool    `json:"turns"`  // every sample is a block that waits for its turn
}

// timed returns the CPU time of all processes that recorded samples; zero if it is not known. Only a single process takes turns.
func (r *commandRun) timed() (all timed) {
	for line := range strings.Lines(r.beginning(cpuFile)) {
		var one timed
		if json.Unmarshal([]byte(line), &one) != nil || one.Unseen || one.Alone < 0 || one.Others < 0 {
			return timed{}
		}
		all = timed{Alone: all.Alone + one.Alone, Others: all.Others + one.Others, Turns: one.Turns && all == timed{}}
	}
	return all
}
