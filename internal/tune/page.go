package tune

import (
	"bufio"
	_ "embed" // embeds the parts of the page
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report"
)

// The page is one file with inline style. The policy in its head blocks all other loads and
// all scripts, whatever a parameter is named.
var (
	//go:embed page/tuning.html
	pageText string
	//go:embed page/style.css
	pageOwn string

	page = template.Must(template.New("tuning").Parse(pageText))
)

// HTML writes the suggestions with figures as one page that needs no network:
// tuning/report.html.
func (s *Suggestions) HTML(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := page.Execute(b, newPageView(s)); err != nil {
		return fmt.Errorf("cannot write the page of a search: %w", err)
	}
	return b.Flush()
}

// pageView is the suggestions as the template sees them. All text is sanitized, and
// template.HTML fields are drawn by pawl.
type pageView struct {
	Policy                                       string
	Style                                        template.CSS
	Case, Headline, Badge, BadgeClass, Suggested string
	Notes, Mattered, Unexplored, Cost            []string
	Facts                                        []factView
	Rows                                         []rowView
	Forms                                        []Form
	Dispatch                                     *Form
	Progress, Strips                             []chart.Figure
	Bars, Parallel                               *chart.Figure
	Rounds                                       int
	Proofs                                       []proofView
	Choices                                      []choiceView
	Common                                       string
	Nearly                                       []nearView
	Failed                                       []failedView
	About, Method, Again                         string
}

type (
	factView struct{ Label, Text string }
	rowView  struct {
		Name, Default, Value, Matters string
		Changed                       bool
	}
	proofView  struct{ Point, Case, Speedup, Interval, Answer string }
	choiceView struct{ Case, Point, Speedup, Interval string }
	nearView   struct {
		N                   int
		Time, Over, Differs string
	}
	failedView struct {
		Text  string
		Rules []Rule
	}
)

func newPageView(s *Suggestions) pageView {
	style := report.PageStyle() + pageOwn
	v := pageView{
		Policy: report.PagePolicy(style), Style: template.CSS(style), //nolint:gosec // both are ours
		Case: words.Sanitize(s.Header.Case), Headline: words.Sanitize(s.Headline), Mattered: s.Mattered, Unexplored: s.Unexplored, Cost: s.Cost, Notes: s.Notes,
		Badge: badges[s.Advice], BadgeClass: string(s.Advice), Facts: s.facts(), Forms: s.Forms, Dispatch: s.Dispatch, Common: s.Common,
		About: s.about(words.Sanitize, words.Sanitize), Again: words.Sanitize(s.Command),
	}
	if s.point != nil {
		v.Suggested = titles[s.Advice]
		for _, x := range s.Settings {
			v.Rows = append(v.Rows, rowView{words.Sanitize(x.Name), words.Sanitize(valueText(x.Default)), words.Sanitize(valueText(x.Value)), x.Matters, x.Changed})
		}
	}
	if s.Importance.Unknown == "" {
		v.Method = s.Importance.method()
	}
	v.proof(s)
	for _, a := range s.Alternatives {
		v.Nearly = append(v.Nearly, nearView{a.N, words.Quantity(a.Value, "ns"), words.Percent(a.Over), a.Differs})
	}
	for _, f := range s.Failures {
		rules := make([]Rule, len(f.Rules))
		for i, r := range f.Rules {
			rules[i] = Rule{words.Sanitize(r.Condition), r.Points}
		}
		v.Failed = append(v.Failed, failedView{f.sentence(len(s.Evaluations)), rules})
	}
	v.draw(s)
	return v
}

var (
	badges = map[Advice]string{Change: "faster", Optional: "little gain", Unproven: "not proven", Keep: "keep"}
	titles = map[Advice]string{Change: "What to change", Optional: "What could be changed", Unproven: "What was best in the search"}
)

// facts describes the search.
func (s *Suggestions) facts() []factView {
	h := s.Header
	failed := 0
	for _, e := range s.Evaluations {
		if e.Status != OK {
			failed++
		}
	}
	list := []factView{{"device", h.Device.Name}, {"commit", h.Commit[:min(len(h.Commit), 12)]}, {"strategy", h.Strategy}, {"seed", fmt.Sprint(h.Seed)}}
	count := fmt.Sprint(len(s.Evaluations))
	if h.Space.Points > 0 {
		count += fmt.Sprintf(" of %d points", h.Space.Points)
	}
	list = append(list, factView{"evaluations", count}, factView{"failed", fmt.Sprint(failed)}, factView{"took", span(s.Seconds)})
	if s.Proof != nil && s.Proof.Rounds > 0 {
		list = append(list, factView{"proof", span(s.Proof.Seconds)})
	}
	if d := s.Default; d.Status == OK {
		list = append(list, factView{"default", words.Quantity(d.Value, "ns")})
	}
	if best, ok := Best(s.Evaluations); ok {
		list = append(list, factView{"best", words.Quantity(best.Value, "ns")})
	}
	var out []factView
	for _, f := range list {
		if f.Text = words.Sanitize(f.Text); f.Text != "" {
			out = append(out, f)
		}
	}
	return out
}

func (v *pageView) proof(s *Suggestions) {
	if s.Proof == nil {
		return
	}
	v.Rounds = s.Proof.Rounds
	for _, f := range s.Proof.Finalists {
		point := s.diffFromDefaults(f.Point)
		for _, c := range f.Cases {
			row := proofView{Point: point, Case: words.Sanitize(c.Case), Speedup: "-", Interval: "-", Answer: "not allowed for this case"}
			if c.Excluded == "" {
				row.Speedup, row.Interval = fmt.Sprintf("%.2fx", c.Speedup), interval(c.Low, c.High)
				row.Answer = strings.Trim(answer(c.Answer, string(c.Verdict)), "*")
			}
			v.Proofs = append(v.Proofs, row)
			point = ""
		}
	}
	for _, c := range s.choices() {
		v.Choices = append(v.Choices, choiceView{words.Sanitize(c.Case), s.choiceText(c), fmt.Sprintf("%.2fx", c.Speedup), interval(c.Low, c.High)})
	}
}
