package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // embeds the parts of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/chart"
)

// The page is one file with inline style and script. The policy in its head blocks
// everything else, whatever a case is named.
var (
	//go:embed page/report.html
	pageText string
	//go:embed page/style.css
	ownStyle string
	//go:embed page/script.js
	pageScript string

	pageStyle = styleWithDrawings()
	page      = template.Must(template.New("report").Parse(pageText))
)

// styleWithDrawings returns the style sheet of pawl's pages: the colors and classes of
// drawings, and the page's own.
func styleWithDrawings() string {
	const mark = "/* drawings */\n"
	colors, marks, _ := strings.Cut(chart.Style, mark)
	return colors + strings.Replace(ownStyle, mark, mark+marks, 1)
}

// PageStyle returns the style sheet of pawl's pages.
func PageStyle() string { return pageStyle }

// PagePolicy returns a policy that allows only this style: no script, no network.
func PagePolicy(style string) string { return ScriptedPolicy(style, "") }

// ScriptedPolicy returns a policy that allows only this style and this script, by their
// hashes.
func ScriptedPolicy(style, script string) string {
	digest := func(text string) string {
		if text == "" {
			return "'none'"
		}
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", digest(style), digest(script))
}

// HTML writes the document as one page that needs no network.
func HTML(w io.Writer, d *Document) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := page.Execute(b, newPageView(d)); err != nil {
		return fmt.Errorf("cannot write HTML: %w", err)
	}
	return b.Flush()
}

// pageView is the document as the template sees it. Its template.HTML fields are made from
// numbers only, never from text of a record.
type pageView struct {
	*Document
	Policy       string
	Style        template.CSS
	Script       template.JS
	OutcomeClass string
	Together     string
	Sections     []sectionView
}

type sectionView struct {
	Section
	Axis  effectAxis
	Cases []caseView
}

type caseView struct {
	Case
	Text    string // the text that the filter searches
	Watched bool
	Open    bool // initially expanded: the first case
	Mini    template.HTML
	Figures []chart.Figure
	Why     *whyView
}

// whyView holds what profiles show about a case, with its figures.
type whyView struct {
	Reason
	Figures []chart.Figure
}

func newWhyView(r *Reason) *whyView {
	if r == nil {
		return nil
	}
	v := &whyView{Reason: *r}
	if r.Stalls != nil {
		v.Figures = append(v.Figures, chart.Figure{Drawing: r.Stalls.Draw(chart.PhoneWidth).HTML(), Caption: r.Stalls.Describe()})
	}
	if r.Roofline != nil {
		v.Figures = append(v.Figures, chart.Figure{Drawing: r.Roofline.Draw(chart.PhoneWidth, 250).HTML(), Caption: r.Roofline.Describe()})
	}
	return v
}

func newPageView(d *Document) pageView {
	v := pageView{
		Document: d, Policy: ScriptedPolicy(pageStyle, pageScript),
		Style: template.CSS(pageStyle), Script: template.JS(pageScript), //nolint:gosec // both are ours
		OutcomeClass: strings.ReplaceAll(d.Outcome, " ", "-"),
	}
	if !strings.Contains(d.Sentence, d.Suite) {
		v.Together = d.Suite
	}
	for i, s := range d.Sections {
		section := sectionView{Section: s, Axis: newEffectAxis(s, d.limit)}
		for j, c := range s.Cases {
			view := newCaseView(c, d.Figure(c), s.Class, section.Axis, d.Cases() > manyCases && (s.Folded || j >= fullShown))
			view.Open = i == 0 && j == 0 && !s.Folded
			section.Cases = append(section.Cases, view)
		}
		v.Sections = append(v.Sections, section)
	}
	return v
}

// With more than manyCases, only the first fullShown of each changed class show all
// details, so that a phone can open the page.
const (
	manyCases = 200
	fullShown = 50
)

func newCaseView(c Case, f *Figure, class Class, axis effectAxis, brief bool) caseView {
	if brief {
		c.Evidence, f = nil, f.brief()
		c.Numbers.Rows = c.Numbers.Rows[:min(len(c.Numbers.Rows), 4)]
	}
	v := caseView{Case: c, Text: strings.ToLower(c.Name + " " + string(class) + " " + string(c.Verdict)), Watched: c.Verdict != "" && !c.Gate}
	v.Why = newWhyView(c.Why)
	if c.Effect != nil {
		v.Mini = axis.effect(*c.Effect)
	}
	if f != nil {
		v.Figures = append(v.Figures, chart.Figure{Drawing: drawSamples(f), Caption: f.DescribeSamples()})
		if len(f.Rounds) > 1 {
			v.Figures = append(v.Figures, chart.Figure{Drawing: drawRounds(f), Caption: f.DescribeRounds()})
		}
	}
	return v
}
