package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/learn"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

func newLearn(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "What sessions taught: their story, the fix to try first, forecasts",
		Long: `Reads the journals of all sessions of this folder (.pawl/sessions) and says what they
come to: where the time went, what was tried in vain, what was gained, and what to expect
of the next one.`,
		Example: `  pawl learn report --html sessions.html
  pawl learn next --profile results/nsight/attention_S512.json
  pawl learn lab --quick`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, part := range []*cobra.Command{newLearnReport(g), newLearnNext(g), newLearnLab(g)} {
		part.Args = checked(part.Args)
		cmd.AddCommand(part)
	}
	return cmd
}

// learnReportFlags are the flags of pawl learn report.
type learnReportFlags struct {
	*globals
	json bool
	html string
	out  string
}

func newLearnReport(g *globals) *cobra.Command {
	f := learnReportFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Tell the story of sessions, one after the other",
		Long: `Tells of every session how long it took to a working build, to the reference and to the
bottleneck, which optimisations were wrong (without a profile, more than one variable at
once, slower, or with wrong results), where gates stopped it, how fast the kernel was at
the end and what it cost. Over all of them: what changed from the first to the last, how
good forecasts and expected gains were, and what to expect of the next session.

Exit code: 0, also where there is no session yet.`,
		Example: `  pawl learn report
  pawl learn report --html sessions.html
  pawl learn report --out docs/sessions     # sessions.md, .html, .svg and .json
  pawl learn report --json`,
		RunE: func(*cobra.Command, []string) error { return f.run() },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "the story as JSON")
	cmd.Flags().StringVar(&f.html, "html", "", "write a page to this `file`")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write page, Markdown, picture and JSON into this `folder`")
	return cmd
}

func (f *learnReportFlags) run() error {
	story, err := f.sessionReport()
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := f.writeAll(story); err != nil {
			return fmt.Errorf("write the story of sessions: %w", err)
		}
	}
	if f.html != "" {
		var page bytes.Buffer
		if err := errors.Join(story.HTML(&page), os.WriteFile(f.html, page.Bytes(), 0o644)); err != nil {
			return fmt.Errorf("write the story of sessions: %w", err)
		}
		f.say("written: " + f.html)
	}
	switch {
	case f.json:
		return writeJSON(f.Out, story)
	case f.out != "" || f.html != "":
		return nil
	}
	return story.Terminal(f.Out, f.style())
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
const pictureTitle = "The story of sessions: minutes by phase, stops and mistakes, speed-ups"

func (f *learnReportFlags) writeAll(story *learn.Story) error {
	var page, text, data bytes.Buffer
	if err := errors.Join(story.HTML(&page), story.Markdown(&text, "sessions.svg"), writeJSON(&data, story)); err != nil {
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
	f.say("written: " + filepath.Join(f.out, "sessions.md"))
	return nil
}
