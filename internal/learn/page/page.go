// Package page shows the learning loop to people: the guide, the checklist with its live
// state, the trees of decisions drawn from the gates, and what an agent did, spent and
// claimed. Everything is escaped; nothing is loaded from elsewhere.
//
// The package knows how things look. It must not decide where a gate stands, nor write to
// a journal: it is given both.
package page

import (
	"bufio"
	_ "embed" // the parts of the pages
	"fmt"
	"html/template"
	"io"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/report"
)

// State is where the work stands, as it is shown.
type State struct {
	Session *journal.Session // nil where none goes on
	Chain   error            // why its journal is not as it was written; nil where it is
	Set     *gates.Set
	Status  []gates.Status // of the session; nil without one
	Next    gates.Step
	Now     time.Time
}

var (
	//go:embed html/style.css
	ownStyle string
	//go:embed html/parts.html
	partsText string

	// parts are what several pages have.
	parts = template.Must(template.New("parts").Parse(partsText))
)

// style is the look of every page of this package: that of reports, and what it adds.
func style() string { return report.PageStyle() + ownStyle }

// parsed is a page's template together with the parts.
func parsed(name, text string) *template.Template {
	return template.Must(template.Must(parts.Clone()).New(name).Parse(text))
}

// frame is what the head of every page needs.
type frame struct {
	Policy string
	Style  template.CSS
	Script template.JS
}

// still is the frame of a page that lies in a file: no script, no network.
var still = sync.OnceValue(func() frame {
	return frame{Policy: report.PagePolicy(style()), Style: template.CSS(style())} //nolint:gosec // ours
})

// write fills a template, and says of what it was the page.
func write(w io.Writer, t *template.Template, of string, view any) error {
	b := bufio.NewWriterSize(w, 1<<15)
	if err := t.Execute(b, view); err != nil {
		return fmt.Errorf("write the page of %s: %w", of, err)
	}
	return b.Flush()
}
