package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Test plays every transcript against a harness, each in its own process.
func Test(t *testing.T, h Harness) {
	t.Helper()
	all, err := Transcripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, transcript := range all {
		t.Run(transcript.Name, func(t *testing.T) {
			t.Parallel()
			if err := Play(t.Context(), h, transcript); err != nil {
				t.Error(err)
			}
		})
	}
}

// Play starts the harness and plays one transcript. The error describes the first difference. With any
// transcript, the harness must exit when its request pipe is closed.
func Play(ctx context.Context, h Harness, t Transcript) error {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return fmt.Errorf("cannot create a folder for %s: %w", t.Name, err)
	}
	defer os.RemoveAll(dir)
	p, err := start(ctx, h)
	if err != nil {
		return err
	}
	defer p.stop()
	d := dialogue{process: p, dir: dir}
	for _, step := range t.Steps {
		if err := d.play(step); err != nil {
			return fmt.Errorf("%s.txt:%d: %w%s", t.Name, step.Line, err, d.context())
		}
	}
	p.close()
	if _, err := p.exit(); err != nil {
		return fmt.Errorf("%s.txt: after the last line, PAWL_IN was closed: %w", t.Name, err)
	}
	return nil
}

// dialogue is the state of a transcript during play.
type dialogue struct {
	process *process
	dir     string // value of $DIR
	sent    string
	sentAt  time.Time
	took    time.Duration
}

func (d *dialogue) play(step Step) error {
	switch {
	case step.Send != nil:
		d.sent, d.sentAt = strings.ReplaceAll(*step.Send, "$DIR", d.dir), time.Now()
		if err := d.process.send(d.sent); err != nil {
			<-d.process.afterEnd()
			return fmt.Errorf("cannot send: %w (%s)", err, d.process.statusText())
		}
	case step.Want != nil:
		got, err := d.reply()
		if err != nil {
			return err
		}
		d.took = time.Since(d.sentAt)
		if diff := difference(d.inDir(step.Want), got, ""); diff != "" {
			return fmt.Errorf("the reply differs at %s\n  expected %s\n  got      %s", diff, show(step.Want), show(got))
		}
	case step.Took != 0:
		if d.took < step.Took {
			return fmt.Errorf("the reply came after %v, expected at least %v", d.took, step.Took)
		}
	case step.Close:
		d.process.close()
	case step.Write != nil:
		b, err := step.Write.encode()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(d.dir, step.Write.Name), b, 0o600)
	case step.Read != nil:
		if diff := step.Read.difference(filepath.Join(d.dir, step.Read.Name)); diff != "" {
			return fmt.Errorf("%s: %s", step.Read.Name, diff)
		}
	case step.None != "":
		if _, err := os.Stat(filepath.Join(d.dir, step.None)); err == nil {
			return fmt.Errorf("unexpected file %s", step.None)
		}
	case step.Exit != nil:
		status, err := d.process.exit()
		if err != nil {
			return err
		}
		want := *step.Exit
		if want == AnyFailure && status <= 0 || want != AnyFailure && status != want {
			return fmt.Errorf("the harness ended with %s", d.process.statusText())
		}
	}
	return nil
}

// inDir replaces $DIR in a pattern by the directory of the transcript.
func (d *dialogue) inDir(pattern any) any {
	switch p := pattern.(type) {
	case string:
		return strings.ReplaceAll(p, "$DIR", d.dir)
	case []any:
		list := make([]any, len(p))
		for i, v := range p {
			list[i] = d.inDir(v)
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for k, v := range p {
			object[k] = d.inDir(v)
		}
		return object
	default:
		return pattern
	}
}

// reply reads the next reply and joins its parts. It also checks the rules of the protocol for every
// measurement, so that transcripts need not.
func (d *dialogue) reply() (map[string]any, error) {
	clocks := []string{"samples", "wall", "cpu", "clock_mhz"}
	parts := map[string][]any{}
	var ids []any
	for {
		m, err := d.process.message()
		if err != nil {
			return nil, err
		}
		for _, clock := range clocks {
			values, _ := m[clock].([]any)
			parts[clock] = append(parts[clock], values...)
		}
		if ids = append(ids, m["id"]); ids[0] != m["id"] {
			return nil, fmt.Errorf("a part and its reply have different ids: %v", ids)
		}
		if m["op"] == "samples" {
			continue
		}
		if m["op"] != "measure" || m["error"] != nil {
			return m, nil
		}
		for _, clock := range clocks {
			if len(parts[clock]) > 0 {
				m[clock] = parts[clock]
			}
		}
		return m, checkMeasurement(parts, m["count"])
	}
}

func checkMeasurement(parts map[string][]any, count any) error {
	samples := len(parts["samples"])
	if count != float64(samples) {
		return fmt.Errorf("count is %s, but %s arrived", show(count), words.Plural(samples, "sample"))
	}
	for clock, values := range parts {
		if len(values) != samples && len(values) != 0 {
			return fmt.Errorf("%s, but %s of %s", words.Plural(samples, "sample"), words.Plural(len(values), "value"), clock)
		}
	}
	if i := slices.IndexFunc(parts["samples"], func(v any) bool { n, ok := v.(float64); return !ok || n <= 0 }); i >= 0 {
		return fmt.Errorf("sample %d is %s: expected a number above 0", i, show(parts["samples"][i]))
	}
	return nil
}

func (d *dialogue) context() string {
	text := "\n  sent " + d.sent
	if stderr := d.process.stderr.String(); stderr != "" {
		text += "\n  stderr: " + stderr
	}
	return text
}
