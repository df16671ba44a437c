package trial_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// command is a command in a folder of its own, on a clock that a second passes on between two readings.
func command(t *testing.T, line string) *trial.Commands {
	t.Helper()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &trial.Commands{
		Command: harness.Command{Line: line, Dir: t.TempDir(), Silence: time.Minute}, Name: "bench", Side: "candidate",
		Found: func([]measure.Case) error { return nil },
		Now: func() time.Time {
			now = now.Add(time.Second)
			return now
		},
	}
}

func TestCommands_TimesTheWholeProcess(t *testing.T) {
	c := command(t, "echo 'sort took 5 ms'")
	c.Format = trial.Process
	results, err := c.Round(t.Context(), trial.Request{Round: 3, Measured: func(measure.Result) {}})
	if err != nil || len(results) != 1 {
		t.Fatalf("%+v, %v", results, err)
	}
	r := results[0]
	if r.Case.Name() != "bench" || r.Case.Implementation != "candidate" || r.Round.Round != 3 || len(r.Round.Samples) != 1 || r.Round.Samples[0] != 1e9 {
		t.Errorf("a process that takes a second: %+v", r)
	}
}

func TestDetect_FindsTheResult(t *testing.T) {
	const hyperfine = `{"results":[{"command":"k","times":[0.5]}]}`
	const sample = `{"case":"m","unit":"ms","samples":[1]}`
	for name, tt := range map[string]struct {
		line, set              string // the command; the format that the user set
		format, output, unread string
		cases                  int
	}{
		"printed":              {line: "echo '" + hyperfine + "'", format: "hyperfine", cases: 1},
		"samples win":          {line: "echo 'x 5 ms'; echo '" + sample + "' > $PAWL_SAMPLES", format: "samples", cases: 1},
		"an argument's file":   {line: "set -- --out=a.txt; echo '" + hyperfine + "' > a.txt; : --out=a.txt", format: "hyperfine", output: "a.txt", cases: 1},
		"a new JSON file":      {line: "echo '" + hyperfine + "' > new.json; echo ok", format: "hyperfine", output: "new.json", cases: 1},
		"an old file":          {line: "true", format: "process", unread: "it prints nothing"},
		"times in lines":       {line: "echo 'sort took 5 ms'", format: "lines", cases: 1},
		"no times":             {line: "echo 5 apples", format: "process", unread: "its output has no times"},
		"told to time it":      {line: "echo 'sort took 5 ms'", set: "process", format: "process"},
		"told, and in a file":  {line: "echo 'x 5 ms'; echo '" + hyperfine + "' > new.json", set: "hyperfine", format: "hyperfine", output: "new.json", cases: 1},
		"a link leads nowhere": {line: "ln -s /etc/passwd $PAWL_SAMPLES", format: "process", unread: "it prints nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			c := command(t, tt.line)
			c.Format = tt.set
			if err := os.WriteFile(filepath.Join(c.Command.Dir, "old.json"), []byte(hyperfine), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := c.Detect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.Format != tt.format || got.Output != tt.output || got.Unread != tt.unread || len(got.Cases) != tt.cases || got.Took != time.Second {
				t.Errorf("detected %+v", got)
			}
		})
	}
}

// A stand-in writes what the recorder writes, where the environment says.
func TestDetect_RecordedByPython(t *testing.T) {
	const sample = `{"case":"m","unit":"s","samples":[1]}`
	recorded := "echo '" + sample + "' > $PAWL_SAMPLES.python"
	for name, tt := range map[string]struct {
		line, set                  string
		format, unread, unrecorded string
	}{
		"recorded":                   {line: recorded, format: "python"},
		"before lines":               {line: recorded + "; echo 'sort took 5 ms'", format: "python"},
		"after what is printed":      {line: recorded + `; echo '{"results":[{"command":"k","times":[0.5]}]}'`, format: "hyperfine"},
		"after the program's own":    {line: recorded + "; echo '" + sample + "' > $PAWL_SAMPLES", format: "samples"},
		"on demand":                  {line: recorded + "; echo '" + sample + "' > $PAWL_SAMPLES", set: "python", format: "python"},
		"with a note":                {line: recorded + `; printf 'a \033[1m note\nmore\n' > $PAWL_SAMPLES.python.notes`, format: "python", unread: "a [1m note"},
		"no timer":                   {line: ": > $PAWL_SAMPLES.python", format: "process", unread: "it prints nothing", unrecorded: "Python called no timer that pawl records"},
		"no timer, and why":          {line: ": > $PAWL_SAMPLES.python; echo why > $PAWL_SAMPLES.python.notes", format: "process", unread: "it prints nothing", unrecorded: "Python called no timer that pawl records; why"},
		"no recorder":                {line: ": /usr/bin/python3.11 -I bench.py", format: "process", unread: "it prints nothing", unrecorded: "Python did not load pawl's recorder: -I, -S and -E keep it out, and so does a tool that clears PYTHONPATH"},
		"no Python":                  {line: ": bench.sh", format: "process", unread: "it prints nothing"},
		"a link is not the recorder": {line: "ln -s /etc/passwd $PAWL_SAMPLES.python", format: "process", unread: "it prints nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			c := command(t, tt.line)
			c.Format, c.Record = tt.set, true
			got, err := c.Detect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.Format != tt.format || got.Unread != tt.unread || got.Unrecorded != tt.unrecorded {
				t.Errorf("detected %+v", got)
			}
		})
	}
}

func TestCommands_RecorderComesFirst(t *testing.T) {
	c := command(t, `head -1 "${PYTHONPATH%:lib}/sitecustomize.py" >&2; echo "$PYTHONPATH" | grep -q ':lib$' && echo '{"case":"m","unit":"s","samples":[1]}' > $PAWL_SAMPLES.python`)
	c.Format, c.Record = trial.Python, true
	c.Command.Env = []string{"PYTHONPATH=lib"}
	var log strings.Builder
	c.Command.Log = &log
	results, err := c.Round(t.Context(), trial.Request{Measured: func(measure.Result) {}})
	if err != nil || len(results) != 1 || results[0].Round.Samples[0] != 1e9 || !strings.HasPrefix(log.String(), `"""Record what`) {
		t.Errorf("%+v, %v, %s", results, err, &log)
	}
}

func TestDetect_RefusesAnotherFormat(t *testing.T) {
	c := command(t, "echo 'sort took 5 ms'")
	c.Format = "go"
	if got, err := c.Detect(t.Context()); err == nil {
		t.Errorf("lines are taken for Go benchmarks: %+v", got)
	}
}

// Several programs may print the same names: the name of the file tells them apart. Old files are never read.
func TestCommands_ReadsSeveralFiles(t *testing.T) {
	c := command(t, "echo 'sort 5 ms' > pawl-a.txt; echo 'sort 7 ms' > pawl-b.txt")
	c.Format, c.Output = "lines", "pawl-*.txt"
	if err := os.WriteFile(filepath.Join(c.Command.Dir, "pawl-old.txt"), []byte("sort 1 ms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	results, err := c.Round(t.Context(), trial.Request{Measured: func(measure.Result) {}})
	if err != nil || len(results) != 2 {
		t.Fatalf("%+v, %v", results, err)
	}
	for i, want := range []string{"a.sort", "b.sort"} {
		if got := results[i].Case.Name(); got != want {
			t.Errorf("case %d is %s, want %s", i, got, want)
		}
	}
	c.Command.Line = "true"
	if _, err := c.Round(t.Context(), trial.Request{Measured: func(measure.Result) {}}); err == nil {
		t.Error("no file was written, and there is a result")
	}
}
