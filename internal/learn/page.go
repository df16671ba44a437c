package learn

import (
	"bufio"
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"io"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report"
)

// The page is one file that needs no network: its style stands inside, and the policy in
// its head lets nothing else load and no script run.
var (
	//go:embed html/story.html
	pageText string
	//go:embed html/style.css
	pageStyle string

	page = template.Must(template.New("story").Parse(pageText))
)

// pageView is the story as the template sees it: all text is plain, and what is
// template.HTML was drawn by us.
type pageView struct {
	Policy, Headline, Caption string
	Style                     template.CSS
	Lines, Problems, Head     []string
	Rows                      [][]string
	Picture                   template.HTML
	Told                      []toldView
	Plots                     []plotView
}

type (
	toldView struct {
		Title string
		Marks []markView
	}
	markView struct{ When, Kind, Class, Word, Text string }
	plotView struct {
		Drawing template.HTML
		Caption string
	}
)

// HTML writes the story as one page.
func (s *Story) HTML(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := page.Execute(b, s.view()); err != nil {
		return fmt.Errorf("write the page of sessions: %w", err)
	}
	return b.Flush()
}

func (s *Story) view() pageView {
	style := report.PageStyle() + pageStyle
	v := pageView{
		Policy: report.PagePolicy(style), Style: template.CSS(style), //nolint:gosec // a file of ours
		Headline: s.Headline(), Lines: s.Lines(), Picture: s.Picture().HTML(),
	}
	shown, first := s.shown()
	if len(shown) > 0 {
		rows := table(shown, first)
		v.Head, v.Rows = rows[0], rows[1:]
		v.Caption = "Build, reference and bottleneck are the time from the start to the first of each; the speed-up is against the reference."
		if first > 0 {
			v.Caption += fmt.Sprintf(" %d earlier sessions are counted above, and not shown.", first)
		}
	}
	for i := range shown {
		if told := tell(&shown[i], first+i+1); len(told.Marks) > 0 {
			v.Told = append(v.Told, told)
		}
	}
	for _, p := range s.Problems {
		v.Problems = append(v.Problems, words.Sanitize(p))
	}
	add := func(drawing *report.Sketch, caption string) {
		if drawing != nil {
			v.Plots = append(v.Plots, plotView{drawing.HTML(), caption})
		}
	}
	add(s.GainPlot(), fmt.Sprintf("%s: %.0f %% lay inside.", words.Plural(len(s.Gains.Fixes), "attempt"), 100*s.Gains.Inside))
	add(s.MinutesPlot(), fmt.Sprintf("%s: %.0f %% lay inside.", words.Plural(len(s.Forecasts.Minutes), "session"), 100*share(s.Forecasts.Minutes)))
	add(s.SpeedupPlot(), fmt.Sprintf("%s: %.0f %% lay inside.", words.Plural(len(s.Forecasts.Speedup), "session"), 100*share(s.Forecasts.Speedup)))
	return v
}

func tell(t *Tale, number int) toldView {
	v := toldView{Title: words.Sanitize(fmt.Sprintf("Session %d  %s", number, t.Goal))}
	for _, m := range merged(t.Marks) {
		class := "fail"
		if m.Kind == MarkStop || m.Kind == MarkMissed {
			class = "no-answer"
		}
		v.Marks = append(v.Marks, markView{minutesText(m.Minute), m.Kind.Text(), class, words.Sanitize(m.Word), words.Sanitize(m.Text)})
	}
	return v
}
