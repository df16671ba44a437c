package web

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
)

// functions holds the functions of the templates.
var functions = template.FuncMap{
	"asset": assetURL, "plain": words.Sanitize, "quantity": words.Quantity, "percent": words.Percent, "plural": words.Plural,
	"day": day, "minute": minute, "stamp": stamp, "short": short, "change": Change, "commit": commitURL, "pull": pullURL, "q": url.QueryEscape, "path": url.PathEscape,
	"bed": TestbedName, "lane": laneName, "dollars": words.Dollars, "span": span, "tone": changeClass, "add": func(a, b int) int { return a + b },
	"place": newPlace, "pick": newPick, "tier": tierName, "f64": func(v float32) float64 { return float64(v) },
}

func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02")
}

func minute(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func span(seconds float64) string {
	return words.Duration(time.Duration(seconds * float64(time.Second)))
}

// short abbreviates a commit hash.
func short(sha string) string {
	const shown = 10
	if len(sha) > shown && strings.IndexFunc(sha[:shown], notHex) < 0 {
		return sha[:shown]
	}
	return words.Sanitize(sha)
}

func notHex(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }

// Change formats a relative difference: "+3.1 %". Its sign and a word beside it carry the meaning, never the
// color alone.
func Change(share float64) string {
	switch {
	case math.IsNaN(share) || math.IsInf(share, 0):
		return "-"
	case share >= 1:
		return fmt.Sprintf("%.1fx", share+1)
	default:
		return strings.Replace(words.SignedPercent(share), "-", "\u2212", 1)
	}
}

// changeClass returns the CSS class of a change, by its meaning rather than its sign.
func changeClass(worse bool) string {
	if worse {
		return "regression"
	}
	return "improvement"
}

// commitURL returns the link to a commit, or an empty string. A repository address is untrusted, and
// used only if it is https.
func commitURL(p *client.Project, sha string) string {
	return forgeURL(p, "/commit/"+url.PathEscape(sha), sha != "")
}

// betweenURL returns the link to the changes between two commits.
func betweenURL(p *client.Project, from, to string) string {
	return forgeURL(p, "/compare/"+url.PathEscape(from)+"..."+url.PathEscape(to), from != "" && to != "")
}

func pullURL(p *client.Project, number int) string {
	kind := "/pull/"
	if p != nil && onGitLab(p.Repository) {
		kind = "/-/merge_requests/"
	}
	return forgeURL(p, kind+strconv.Itoa(number), number > 0)
}

// onGitLab reports whether the host of a repository has a name that says that it is a GitLab. Its addresses of commits and
// comparisons need no difference.
func onGitLab(repository string) bool {
	u, err := url.Parse(repository)
	return err == nil && strings.Contains(strings.ToLower(u.Host), "gitlab")
}

func forgeURL(p *client.Project, rest string, there bool) string {
	if p == nil || !there {
		return ""
	}
	u, err := url.Parse(p.Repository)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return strings.TrimSuffix(u.String(), "/") + rest
}

// TestbedName returns a readable name of a testbed: the device and its distinguishing properties.
func TestbedName(t measure.Testbed) string {
	name := words.Sanitize(t.Device)
	if name == "" {
		name = "unnamed device"
	}
	return name
}

func laneName(l client.Lane) string {
	switch l {
	case client.Main:
		return "default branch"
	case client.Branch:
		return "pull requests"
	case client.Fork:
		return "forks"
	default:
		return words.Sanitize(string(l))
	}
}
