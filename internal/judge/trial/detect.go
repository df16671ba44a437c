package trial

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// Detected is what one run of a command showed.
type Detected struct {
	Format string
	Output string         // the file with the result; empty means stdout, or the file of samples
	Own    bool           // the result is in the file of samples
	Cases  []measure.Case // empty if nothing but the time of the process is known
	Took   time.Duration
	// Unread is why the output was not read, or the first part of it that was not; empty if all of it was.
	Unread string
	// Unrecorded is why nothing was recorded of a Python program that the command may have started; empty if something
	// was, or if nothing had to be.
	Unrecorded string
}

// Detect runs the command once and finds out where its results are: in the file of samples, in what it prints, in a file
// that it wrote, in what Python's timers measured, or nowhere. Then it is timed as a whole. A format that the user set
// must be there.
func (c *Commands) Detect(ctx context.Context) (Detected, error) {
	names := c.resultFiles()
	before := stamps(c.Command.Dir, names)
	criterion := path.Base(c.words()[0]) == "cargo"
	if criterion {
		if err := harness.RemoveStaleResult(c.Command.Dir, criterionFolder); err != nil {
			return Detected{}, err
		}
	}
	done, err := c.start(ctx, place{})
	if err != nil {
		return Detected{}, err
	}
	defer done.remove()
	var written []string
	after := stamps(c.Command.Dir, c.resultFiles())
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if after[name] != before[name] {
			written = append(written, name)
		}
	}
	if criterion {
		written = append(written, criterionFolder)
	}
	return done.detect(ctx, written)
}

// criterionFolder is where Criterion writes its results.
const criterionFolder = "target/criterion"

// detect tries the places of a result in order.
func (r *commandRun) detect(ctx context.Context, written []string) (Detected, error) {
	found := Detected{Format: Process, Took: r.took}
	switch r.Format {
	case Process:
		return found, nil
	case Python:
		run, err := r.recorded(ctx)
		return r.withNote(found.with(run, Python, "")), err
	}
	if r.hasSamples() && (r.Format == "" || r.Format == Samples) {
		run, err := r.samples(ctx)
		found.Own = true
		return found.with(run, Samples, ""), err
	}
	run, err := r.printed(ctx, r.Format)
	if err == nil {
		return found.with(run, run.Format, ""), nil
	}
	first := err
	for _, name := range written {
		if run, err := r.file(ctx, name, r.Format); err == nil {
			return found.with(run, run.Format, name), nil
		}
	}
	if r.Format != "" {
		return found, first
	}
	if r.hasRecorded() {
		run, err := r.recorded(ctx)
		return r.withNote(found.with(run, Python, "")), err
	}
	if run, err := r.printed(ctx, "lines"); err == nil {
		if r.sizeOf(recordedFile) < 0 { // else the program was seen to measure by hand
			found.Unrecorded = r.whyUnrecorded()
		}
		return found.with(run, run.Format, ""), nil
	}
	found.Unrecorded = r.whyUnrecorded()
	if found.Unread = "it prints nothing"; len(r.stdout) > 0 {
		found.Unread = "its output has no times"
	}
	return found, nil
}

// with adds the result of reading.
func (d Detected) with(run *measure.Run, format, output string) Detected {
	d.Format, d.Output = format, output
	if run != nil {
		d.Cases = run.Cases
		if len(run.Warnings) > 0 {
			d.Unread = run.Warnings[0].Message
		}
	}
	return d
}

// words returns the words of the command line.
func (c *Commands) words() []string {
	words := strings.Fields(c.Command.Line)
	for i, w := range words {
		words[i] = strings.Trim(w, `"'`)
	}
	return append(words, "")
}

// resultFiles returns the files that the command may write its result to: those that its arguments name, and the JSON
// files in its folder.
func (c *Commands) resultFiles() []string {
	var names []string
	add := func(name string) {
		if name = filepath.ToSlash(filepath.Clean(name)); name != "." && filepath.IsLocal(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, word := range c.words()[1:] {
		add(word)
		if _, value, ok := strings.Cut(word, "="); ok {
			add(value)
		}
	}
	const most = 100 // JSON files in one folder
	found, _ := filepath.Glob(filepath.Join(globQuote(c.Command.Dir), "*.json"))
	for _, f := range found[:min(len(found), most)] {
		add(filepath.Base(f))
	}
	return names
}

// globQuote returns a folder as a pattern that matches only itself.
func globQuote(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// stamp identifies the content of a file without reading it.
type stamp struct {
	size int64
	time time.Time
}

// stamps returns the regular files among names, below dir.
func stamps(dir string, names []string) map[string]stamp {
	found := map[string]stamp{}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return found
	}
	defer root.Close()
	for _, name := range names {
		if info, err := root.Stat(name); err == nil && info.Mode().IsRegular() {
			found[name] = stamp{info.Size(), info.ModTime()}
		}
	}
	return found
}

// String returns what a command reports, and what was not read, on one line.
func (d Detected) String() string {
	once := fmt.Sprintf("ran once to find out, in %s", words.Duration(d.Took))
	if d.Format == Process {
		why := ""
		if d.Unread != "" {
			why = ": " + d.Unread
		}
		if d.Unrecorded != "" {
			why += ", and " + d.Unrecorded
		}
		return fmt.Sprintf("found no times%s, so the command is timed as a whole, from start to exit (%s)", why, once)
	}
	const most = 3
	var names []string
	for _, c := range d.Cases[:min(len(d.Cases), most)] {
		names = append(names, c.Name())
	}
	if len(d.Cases) > most {
		names = append(names, "...")
	}
	where := "what the command prints"
	switch {
	case d.Output != "":
		where = d.Output
	case d.Own:
		where = "the file " + SamplesVariable
	case d.Format == Python:
		where = "what Python's timers measured"
	}
	text := fmt.Sprintf("found %s in %s, format %s: %s (%s)", words.Plural(len(d.Cases), "case"), where, d.Format, strings.Join(names, ", "), once)
	if d.Unread != "" {
		text += "; not read: " + d.Unread
	}
	if d.Unrecorded != "" {
		text += "; " + d.Unrecorded
	}
	return text
}
