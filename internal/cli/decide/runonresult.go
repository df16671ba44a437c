package decide

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/archive"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/ratchet"
)

// collect fetches the documents of all models, joins several into one report, and returns the worst result as an error
// with its exit code.
func (f *runFlags) collect(ctx context.Context, c *client.Client, g client.Gate, dir string) error {
	codes := []int{}
	var failed error
	var parts []ratchet.Part
	for _, p := range g.Parts {
		into := dir
		if len(g.Parts) > 1 {
			into = filepath.Join(dir, p.Model)
		}
		part := ratchet.Part{Device: p.Model, Why: words.Sanitize(cmp.Or(p.Error, "the run left no documents"))}
		switch {
		case p.Exit == nil:
			codes = append(codes, command.ExitCannot)
			part.Why = fmt.Sprintf("the gate ended as %s: %s", p.State, words.Sanitize(cmp.Or(p.Reason, "no reason was given")))
			failed = errors.Join(failed, fmt.Errorf("%s: %s", p.Model, part.Why))
		case p.Record != "":
			v, err := fetchDocuments(ctx, c, p, into)
			if err != nil {
				return err
			}
			part.Result = &v
		}
		parts = append(parts, part)
		if p.Exit == nil {
			continue
		}
		code := *p.Exit
		if code == command.ExitOK && part.Result == nil { // a pass without documents is not believed
			code, p.Error = command.ExitCannot, cmp.Or(p.Error, part.Why)
		}
		if p.Error != "" {
			failed = errors.Join(failed, fmt.Errorf("%s: %s", p.Model, words.Sanitize(p.Error)))
		}
		codes = append(codes, code)
	}
	if err := f.showGate(g, parts, dir); err != nil {
		return err
	}
	for _, code := range []int{command.ExitFailed, command.ExitCannot, command.ExitUsage, command.ExitInterrupted, command.ExitNoAnswer} {
		if slices.Contains(codes, code) {
			if failed == nil {
				failed = command.ErrReported
			}
			return command.Exit(code, failed)
		}
	}
	return failed
}

// fetchDocuments unpacks the documents of one model and returns its verdict.
func fetchDocuments(ctx context.Context, c *client.Client, p client.GatePart, dir string) (v ratchet.Result, err error) {
	packed, err := c.Blob(ctx, p.Record)
	if err != nil {
		return v, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return v, fmt.Errorf("cannot create the folder for results: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return v, err
	}
	defer root.Close()
	limits := archive.Limits{Entries: len(job.Documents), Directory: 64 << 10, Total: 1 << 30}
	for _, name := range job.Documents {
		_ = root.Remove(name) // of an earlier run
		limits.Want = append(limits.Want, archive.WantedFile{Name: name, Most: 512 << 20})
	}
	if _, err := archive.Unpack(bytes.NewReader(packed), int64(len(packed)), root, limits); err != nil {
		return v, fmt.Errorf("cannot unpack the documents of the run on %s: %w", p.Model, err)
	}
	text, err := root.ReadFile("verdict.json")
	if err != nil {
		return v, fmt.Errorf("the run on %s left no verdict: %w", p.Model, err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fmt.Errorf("cannot read the verdict of the run on %s: %w", p.Model, err)
	}
	if v.Calibrations != nil { // only the server knows them
		return v, fmt.Errorf("the documents of the run on %s claim a calibration: its agent is not pawl's", p.Model)
	}
	if text := p.Calibrated(); text != "" {
		v.Calibrations = []string{text}
	}
	return v, addCalibration(root, p)
}

// addCalibration adds the calibration of the device to the documents of a run there. The server knows it, the device's host does not.
func addCalibration(root *os.Root, p client.GatePart) error {
	if p.Calibration == nil {
		return nil
	}
	for _, name := range []string{"verdict.json", "ratchet_report.md", "report.html"} {
		text, err := root.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			text, err = report.AddCalibration(name, text, p.Calibrated())
		}
		if err == nil {
			err = root.WriteFile(name, text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("cannot add the calibration of %s to the documents of its run: %w", p.Device, err)
		}
	}
	return nil
}

// showGate prints the verdict of a gate. If it ran on several models, it first writes their joint report.
func (f *runFlags) showGate(g client.Gate, parts []ratchet.Part, dir string) error {
	var shown error
	switch {
	case len(parts) == 0:
	case len(parts) > 1:
		shown = f.showJoined(parts, dir)
	case parts[0].Result == nil:
	case f.JSON:
		text, err := os.ReadFile(filepath.Join(dir, "verdict.json"))
		if err == nil {
			_, err = f.Out.Write(text)
		}
		return err
	default:
		v := parts[0].Result
		fmt.Fprintln(f.Out, words.Sanitize(fmt.Sprintf("%s: %s: %s", parts[0].Device, v.Verdict, v.Sentence)))
	}
	if f.JSON {
		return shown
	}
	for _, p := range g.Parts {
		if text := p.Calibrated(); text != "" {
			fmt.Fprintln(f.Out, "  "+words.Sanitize(text))
		}
	}
	if len(parts) == 1 && parts[0].Result != nil {
		fmt.Fprintln(f.Out, "  "+filepath.Join(dir, "ratchet_report.md"))
	}
	return shown
}

// showJoined writes and prints one report of several models.
func (f *runFlags) showJoined(parts []ratchet.Part, dir string) error {
	joined := ratchet.Join(parts)
	var models []string
	for _, p := range parts {
		models = append(models, p.Device)
	}
	paths := report.Paths{Verdict: filepath.Join(dir, "verdict.json")}
	d := report.NewDocument(report.Input{
		Result: &joined, Name: "gate on " + strings.Join(models, ", "), Now: time.Now(), Paths: paths,
	})
	var errs []error
	for name, content := range map[string]func(io.Writer) error{
		"verdict.json":      func(w io.Writer) error { return report.VerdictJSON(w, d) },
		"ratchet_report.md": func(w io.Writer) error { return report.Markdown(w, d) },
		"report.html":       func(w io.Writer) error { return report.HTML(w, d) },
	} {
		errs = append(errs, env.WriteFile(filepath.Join(dir, name), content))
	}
	if f.JSON {
		return errors.Join(append(errs, report.VerdictJSON(f.Out, d))...)
	}
	errs = append(errs, report.Verdicts(f.Out, d, f.Style(), false))
	for _, name := range []string{"report.html", "ratchet_report.md", "verdict.json"} {
		fmt.Fprintln(f.Out, f.Style().Faint("wrote "+filepath.Join(dir, name)))
	}
	return errors.Join(errs...)
}
