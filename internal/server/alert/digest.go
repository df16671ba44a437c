package alert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Limits of a digest: its readers are busy.
const (
	digestLines  = 10
	digestEvents = 5
)

// SchemaDigest names the format of the body for hooks of kind json.
const SchemaDigest = "pawl.digest/v1"

// News holds the groups of a digest.
type News struct {
	Project  client.Project
	Told     time.Time
	Groups   []client.Group   // with their unreviewed events
	Testbeds map[int64]string // names
}

// Digest is a notification, in the types of the API.
type Digest struct {
	Schema   string         `json:"schema"`
	ID       string         `json:"id"` // of the delivery
	Project  string         `json:"project"`
	URL      string         `json:"url,omitempty"` // of the page with all changes
	At       time.Time      `json:"at"`
	Worse    []client.Group `json:"worse"` // worst first, each with its largest events
	More     int            `json:"more"`  // further groups that got worse
	Better   []client.Group `json:"better"`
	Machines []client.Group `json:"machines"`
	Test     bool           `json:"test,omitempty"` // a test of the hook; nothing happened

	pages  string
	beds   map[int64]string
	better struct{ series, places int } // totals, not only those in Better
}

// NewDigest sorts news by importance. base is the server's address.
func NewDigest(n News, base string) Digest {
	d := Digest{Schema: SchemaDigest, Project: n.Project.Slug, At: n.Told, Worse: []client.Group{}, Better: []client.Group{}, Machines: []client.Group{}, beds: n.Testbeds}
	if base != "" {
		d.pages = strings.TrimSuffix(base, "/") + "/p/" + url.PathEscape(n.Project.Slug)
		d.URL = d.pages + "/events?state=new"
	}
	for _, g := range n.Groups {
		if len(g.Events) == 0 {
			continue
		}
		g.Events = g.Events[:min(len(g.Events), digestEvents)]
		switch {
		case g.Machine:
			d.Machines = append(d.Machines, g)
		case g.Worst > 0:
			d.Worse = append(d.Worse, g)
		default:
			d.Better = append(d.Better, g)
			d.better.places++
			d.better.series += g.Series
		}
	}
	slices.SortStableFunc(d.Worse, func(a, b client.Group) int { return cmp.Or(cmp.Compare(b.Worst, a.Worst), cmp.Compare(a.ID, b.ID)) })
	slices.SortStableFunc(d.Better, func(a, b client.Group) int {
		return cmp.Or(cmp.Compare(a.Worst, b.Worst), cmp.Compare(a.ID, b.ID))
	})
	if d.More = max(0, len(d.Worse)-digestLines); d.More > 0 {
		d.Worse = d.Worse[:digestLines]
	}
	d.Better = d.Better[:min(len(d.Better), digestLines)]
	d.Machines = d.Machines[:min(len(d.Machines), digestLines)]
	return d
}

// Empty reports whether there is nothing to announce.
func (d *Digest) Empty() bool { return len(d.Worse)+len(d.Better)+len(d.Machines) == 0 }

// encode returns the body for a kind of hook.
func (d *Digest) encode(kind string) ([]byte, error) {
	switch kind {
	case "json":
		return json.Marshal(d)
	case "slack":
		return json.Marshal(map[string]any{"text": d.Slack(), "unfurl_links": false, "unfurl_media": false})
	}
	return nil, fmt.Errorf("%w: unknown hook kind %q", ErrRefused, kind)
}

// Slack returns the digest in Slack's markup, which compatible services accept too.
func (d *Digest) Slack() string { return d.write(slack) }

// Plain returns the digest without markup.
func (d *Digest) Plain() string { return d.write(plain) }

// headline summarizes the digest in a few words.
func (d *Digest) headline() string {
	if d.Test {
		return "this is a test of the hook; nothing happened"
	}
	switch n := len(d.Worse) + d.More; n {
	case 0:
		return "nothing got worse"
	case 1:
		return "one change for the worse"
	default:
		return strconv.Itoa(n) + " changes for the worse"
	}
}

func (d *Digest) write(m markup) string {
	var b strings.Builder
	b.WriteString(m.strong(m.text(d.Project)) + ": " + d.headline())
	for _, g := range d.Worse {
		b.WriteString("\n" + m.bullet + d.line(m, g))
	}
	if d.More > 0 {
		fmt.Fprintf(&b, "\n%sand %d more", m.bullet, d.More)
	}
	if len(d.Better) > 0 {
		fmt.Fprintf(&b, "\nBetter: %d series in %s, largest: %s", d.better.series, words.Plural(d.better.places, "change"), d.line(m, d.Better[0]))
	}
	for i, g := range d.Machines {
		if i == 0 {
			b.WriteString("\nMachines: ")
		} else {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s changed as a whole at %s (%s, %d series): the cause is the machine (driver, clock or fan), not a commit", d.bed(m, g.Testbed), m.code(commits(g)), percent(g.Events[0]), g.Series)
	}
	if d.URL != "" {
		b.WriteString("\n" + m.link(d.URL, "see all"))
	}
	return b.String()
}

// line describes one group.
func (d *Digest) line(m markup, g client.Group) string {
	e := worstOf(g)
	name := m.text(e.Name)
	if d.pages != "" {
		name = m.link(d.pages+"/series/"+strconv.FormatInt(e.Series, 10), name)
	}
	text := percent(e) + " " + name
	if g.Series > 1 {
		text += fmt.Sprintf(" and %d more series", g.Series-1)
	}
	text += " on " + d.bed(m, e.Testbed)
	if e.Kind == "drift" {
		text += ", slow drift between " + m.code(short(g.From)) + " and " + m.code(short(g.To))
		if e.Commits > 0 {
			text += ", " + words.Plural(e.Commits, "commit")
		}
		text += ": no single commit stands out"
	} else {
		text += ", " + m.code(commits(g))
	}
	if len(e.Owners) > 0 {
		text += ", " + m.text(strings.Join(e.Owners[:min(3, len(e.Owners))], " "))
	}
	return text
}

// worstOf returns the event that represents a group.
func worstOf(g client.Group) client.Event {
	for _, e := range g.Events { // sorted, largest change first
		if e.Worse == (g.Worst > 0) {
			return e
		}
	}
	return g.Events[0]
}

func (d *Digest) bed(m markup, id int64) string {
	if name := d.beds[id]; name != "" {
		return m.text(name)
	}
	return "testbed " + strconv.FormatInt(id, 10)
}

func percent(e client.Event) string { return words.SignedPercent(e.Change) }

func commits(g client.Group) string { return short(g.From) + ".." + short(g.To) }

// short abbreviates a commit hash.
func short(sha string) string {
	sha = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, sha)
	return sha[:min(len(sha), 8)]
}
