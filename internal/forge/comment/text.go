package comment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// head puts the most important facts first: the result, the worst case, the device.
func (in Input) head(o outcome, d *report.Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### pawl: %s: %s\n\n", o.label(), report.MarkdownText(in.headline(o, d)))
	say := func(text string) { fmt.Fprintf(&b, "%s\n\n", text) }
	switch {
	case in.ToolFailed != "":
		say(report.MarkdownLine(report.Sanitize(in.ToolFailed)) + " This says nothing of the change.")
	case o.word == suite.FailOnError:
		say("The run left no samples, so there is nothing to judge. This says nothing of the change.")
	case d.Sentence != "":
		say(report.MarkdownLine(d.Sentence))
	}
	say(in.about(d))
	if in.Claimed != "" && in.Result != nil && in.Claimed != in.Result.Verdict {
		say(fmt.Sprintf("The machine that measured said %s. Judged again from its samples, by the base's policy, it is **%s**.",
			report.MarkdownText(report.Sanitize(string(in.Claimed))), report.MarkdownText(string(in.Result.Verdict))))
	}
	b.WriteString(in.conclusionText(o))
	return b.String()
}

// headline states the result in a few words.
func (in Input) headline(o outcome, d *report.Document) string {
	switch {
	case o.word == suite.FailOnError:
		return "pawl or its machine failed"
	case in.Result != nil:
		return d.Headline
	case o.word == string(ratchet.Broken):
		return "the candidate cannot be measured"
	case o.word == string(ratchet.Identical):
		return "nothing that a build or a kernel reads differs from the base, there was nothing to measure"
	default:
		return "the run ended before anything could be judged"
	}
}

// about returns one line: subject, device, commits, duration and cost.
func (in Input) about(d *report.Document) string {
	var parts []string
	if in.Run != nil {
		parts = append(parts, report.MarkdownLine(d.Title))
	}
	commits := report.MarkdownCode(short(in.SHA))
	if in.Run == nil {
		commits = "commit " + commits
	}
	if base := in.base(); base != "" {
		commits += " against " + report.MarkdownCode(base)
	}
	parts = append(parts, commits)
	if price := in.price(); price != "" {
		parts = append(parts, price)
	}
	return strings.Join(parts, " · ")
}

func (in Input) base() string {
	if in.Run == nil {
		return ""
	}
	for _, im := range in.Run.Implementations {
		if im.Name == measure.Base {
			return short(report.Sanitize(im.Commit))
		}
	}
	return ""
}

// price returns the duration and cost of this run.
func (in Input) price() string {
	seconds, dollars := 0.0, 0.0
	switch {
	case in.Account != nil:
		seconds, dollars = in.Account.Seconds, in.Account.Dollars
	case in.Run != nil:
		seconds, dollars = in.Run.End.Seconds, in.Run.End.Dollars
	}
	if !(seconds > 0 && seconds < 1e7) {
		return ""
	}
	text := report.FormatDuration(time.Duration(seconds * float64(time.Second)))
	if dollars > 0 && dollars < 1e9 {
		text += ", " + dollarsText(dollars)
	}
	return text
}

// dollarsText formats money so that no forge reads it as the start of a formula.
func dollarsText(v float64) string { return report.MarkdownText(report.Dollars(v)) }

// conclusionText explains what the conclusion means for merging, and what to do about it.
func (in Input) conclusionText(o outcome) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n\n", args...) }
	switch o.because {
	case fromFork:
		say("**Claimed by a fork.** Its code ran on the machine that measured, so the check is neutral whatever the numbers say. A maintainer who wants to be sure measures it on a branch of this repository.")
	case accepted:
		a := in.Accepted
		when := a.At.UTC().Format("2006-01-02 15:04 UTC")
		say("**Accepted** by %s on %s (%s): %s", report.MarkdownText(report.Sanitize(a.By)), when, report.MarkdownLink("comment", a.URL), report.MarkdownText(report.Sanitize(a.Reason)))
		say("That holds for %s only: the next push is judged anew.", report.MarkdownCode(short(in.SHA)))
	case advised:
		say("The check is neutral because the gate only advises. Enforced, it would have failed for: %s.", o.failing())
	case undecided:
		say("The check is neutral: `gate.fail-on` of the base does not name this.")
	case passed, failed:
	}
	return b.String()
}

// overrule explains how to merge a failing change.
func (in Input) overrule(o outcome) string {
	switch {
	case o.because != failed:
		return ""
	case !acceptable(o.fails):
		return "What is broken cannot be accepted: mend it, or take the case out of the gate in a change of its own.\n\n"
	default:
		return fmt.Sprintf("To merge it all the same, somebody with %s permission comments this line, with a reason:\n\n```\n%s\n```\n\n",
			cmp.Or(in.Gate.Accept, "write"), AcceptLine(in.SHA))
	}
}

// foot returns further information, least urgent last.
func (in Input) foot(o outcome) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n\n", args...) }
	b.WriteString(in.overrule(o))
	b.WriteString(in.quarantines())
	if in.Drift != nil && in.Drift.Verdict == ratchet.Regression {
		say("**Drift:** the base is slower than the baseline, by earlier changes. %s", report.MarkdownText(report.Sanitize(in.Drift.Sentence)))
	}
	if proposal := in.propose(); proposal != "" {
		say("%s", proposal)
	}
	if cost := in.cost(); cost != "" {
		say("%s", cost)
	}
	var links []string
	for _, l := range []struct{ text, url string }{
		{"run", in.Links.Run}, {"everything that was measured", in.Links.Artifact}, {"report", in.Links.Report}, {"how to read this", in.Links.Help},
	} {
		if link := report.MarkdownLink(l.text, l.url); strings.HasPrefix(link, "[") {
			links = append(links, link)
		}
	}
	if len(links) > 0 {
		say("%s", strings.Join(links, " · "))
	}
	return b.String()
}

// quarantinesShown limits the quarantines listed in a foot.
const quarantinesShown = 10

// quarantines lists the cases that cannot fail the change, and those whose quarantine
// expired.
func (in Input) quarantines() string {
	var b strings.Builder
	list := func(title string, cases map[string]suite.Quarantine, end string) {
		if len(cases) == 0 {
			return
		}
		fmt.Fprintf(&b, "**%s**\n", title)
		for i, name := range slices.Sorted(maps.Keys(cases)) {
			if i == quarantinesShown {
				fmt.Fprintf(&b, "- and %d more\n", len(cases)-i)
				break
			}
			q := cases[name]
			fmt.Fprintf(&b, "- %s, %s %s, owner %s: %s\n", report.MarkdownCode(report.Sanitize(name)), end, q.Until.Format(time.DateOnly),
				report.MarkdownText(report.Sanitize(q.Owner)), report.MarkdownText(report.Sanitize(q.Reason)))
		}
		b.WriteString("\n")
	}
	list("Quarantined: measured, and fails nobody", in.Quarantined, "until")
	list("No longer quarantined: fails a change again", in.Released, "ended after")
	return b.String()
}

// TrialPeriod is how long a gate advises before it proposes enforcement.
const TrialPeriod = 14 * 24 * time.Hour

// propose explains how to enforce the gate, after the trial period.
func (in Input) propose() string {
	g := in.Gate
	if g.Mode != suite.Advise || g.Since.IsZero() || in.Now.Sub(g.Since) < TrialPeriod {
		return ""
	}
	days := int(in.Now.Sub(g.Since).Hours() / 24)
	file := cmp.Or(in.File, "pawl.yaml")
	return fmt.Sprintf("This gate has advised for %d days without failing anyone. To let it fail changes, write `mode: enforce` in place of `mode: advise` below `gate:` in %s.",
		days, report.MarkdownCode(report.Sanitize(file)))
}

// cost summarizes the costs of the repository's runs.
func (in Input) cost() string {
	c := in.Cost
	if c == nil || c.Runs == 0 {
		return ""
	}
	if c.Dollars <= 0 {
		return fmt.Sprintf("In 30 days: %s, %s on the device. `device.price_per_hour` in the suite makes that dollars.",
			report.Plural(c.MonthRuns, "run"), report.FormatDuration(time.Duration(c.MonthSeconds*float64(time.Second))))
	}
	text := fmt.Sprintf("In 30 days: %s, %s", report.Plural(c.MonthRuns, "run"), dollarsText(c.MonthDollars))
	if c.Caught > 0 {
		return text + fmt.Sprintf("; %s caught and mended, %s each.", report.Plural(c.Caught, "regression"), dollarsText(c.PerCaught()))
	}
	return text + "."
}
