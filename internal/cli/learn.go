package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// learnReportFlags are the flags of pawl session report.
type learnReportFlags struct {
	*globals
	json bool
	html string
	out  string
}

func newSessionReport(g *globals) *cobra.Command {
	f := learnReportFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Report on all sessions, one after the other",
		Long: `Reports for every session how long it took to get a working build, the reference and the
bottleneck; which optimizations were wrong (without a profile, more than one variable at
once, slower, or with wrong results); where gates stopped it; how fast the kernel was at
the end; and what the session cost. For all sessions together it reports what changed from
the first to the last, how accurate forecasts and expected gains were, and what to expect
of the next session.

Exit code: 0, even if there is no session yet.`,
		Example: `  pawl session report
  pawl session report --html sessions.html
  pawl session report --out docs/sessions     # sessions.md, .html, .svg and .json
  pawl session report --json`,
		RunE: func(*cobra.Command, []string) error { return f.run() },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().StringVar(&f.html, "html", "", "write a page to this `file`")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write the page, Markdown, a picture and JSON to this `folder`")
	return cmd
}

func (f *learnReportFlags) run() error {
	story, err := f.sessionReport()
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := f.writeAll(story); err != nil {
			return fmt.Errorf("cannot write the session report: %w", err)
		}
	}
	if f.html != "" {
		var page bytes.Buffer
		if err := errors.Join(story.HTML(&page), os.WriteFile(f.html, page.Bytes(), 0o644)); err != nil {
			return fmt.Errorf("cannot write the session report: %w", err)
		}
		f.Say("written: " + f.html)
	}
	switch {
	case f.json:
		return command.WriteJSON(f.Out, story)
	case f.out != "" || f.html != "":
		return nil
	}
	return story.Terminal(f.Out, f.Style())
}

// sessionReport returns the story of all sessions in this folder.
func (g *globals) sessionReport() (*learn.Story, error) {
	tales, problems, err := g.sessionSummaries()
	if err != nil {
		return nil, err
	}
	story := learn.Tie(tales)
	story.Problems = problems
	return story, nil
}

func (g *globals) sessionSummaries() (tales []learn.Tale, problems []string, err error) {
	return learn.Tales(journal.Folder{Root: ".", Now: g.now}, g.now())
}

// pictureTitle is the text of the picture for screen readers.
const pictureTitle = "Session report: minutes by phase, stops and mistakes, speedups"

func (f *learnReportFlags) writeAll(story *learn.Story) error {
	var page, text, data bytes.Buffer
	if err := errors.Join(story.HTML(&page), story.Markdown(&text, "sessions.svg"), command.WriteJSON(&data, story)); err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		text []byte
	}{
		{"sessions.svg", []byte(story.Picture().SVG(pictureTitle, story.Headline()))},
		{"sessions.html", page.Bytes()},
		{"sessions.json", data.Bytes()},
		{"sessions.md", text.Bytes()},
	} {
		if err := os.WriteFile(filepath.Join(f.out, file.name), file.text, 0o644); err != nil {
			return err
		}
	}
	f.Say("written: " + filepath.Join(f.out, "sessions.md"))
	return nil
}
