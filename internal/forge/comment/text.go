package comment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// head puts the most important facts first: the result, the worst case, the device.
func (in Input) head(o outcome, d *report.Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### pawl: %s: %s\n\n", o.label(), words.MarkdownText(in.headline(o, d)))
	say := func(text string) { fmt.Fprintf(&b, "%s\n\n", text) }
	switch {
	case in.ToolFailed != "":
		say(words.MarkdownLine(words.Sanitize(in.ToolFailed)) + " This says nothing about the change.")
	case o.word == suite.FailOnError:
		say("The run produced no samples, so there is nothing to judge. This says nothing about the change.")
	case d.Sentence != "":
		say(words.MarkdownLine(d.Sentence))
	}
	say(in.about(d))
	if in.Claimed != "" && in.Result != nil && in.Claimed != in.Result.Verdict {
		say(fmt.Sprintf("The measuring machine reported %s. Judged again from its samples with the base's policy, the verdict is **%s**.",
			words.MarkdownText(words.Sanitize(string(in.Claimed))), words.MarkdownText(string(in.Result.Verdict))))
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
		return "no input of a build or a kernel differs from the base, so there was nothing to measure"
	default:
		return "the run ended before anything could be judged"
	}
}

// about returns one line: subject, device, commits, duration and cost.
func (in Input) about(d *report.Document) string {
	var parts []string
	if in.Run != nil || len(in.Devices) > 0 {
		parts = append(parts, words.MarkdownLine(d.Title))
	}
	commits := words.MarkdownCode(short(in.SHA))
	if in.Run == nil {
		commits = "commit " + commits
	}
	if base := in.base(); base != "" {
		commits += " against " + words.MarkdownCode(base)
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
			return short(words.Sanitize(im.Commit))
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
	text := words.Duration(time.Duration(seconds * float64(time.Second)))
	if dollars > 0 && dollars < 1e9 {
		text += ", " + dollarsText(dollars)
	}
	return text
}

// dollarsText formats money so that no forge reads it as the start of a formula.
func dollarsText(v float64) string { return words.MarkdownText(words.Dollars(v)) }

// conclusionText explains what the conclusion means for merging, and what to do about it.
func (in Input) conclusionText(o outcome) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n\n", args...) }
	switch o.because {
	case fromFork:
		say("**Claimed by a fork.** The fork's code ran on the measuring machine, so the check is neutral whatever the numbers say. To be sure, a maintainer can measure the change on a branch of this repository.")
	case accepted:
		a := in.Accepted
		when := a.At.UTC().Format("2006-01-02 15:04 UTC")
		say("**Accepted** by %s on %s (%s): %s", words.MarkdownText(words.Sanitize(a.By)), when, words.MarkdownLink("comment", a.URL), words.MarkdownText(words.Sanitize(a.Reason)))
		say("This applies to %s only. The next push is judged again.", words.MarkdownCode(short(in.SHA)))
	case advised:
		say("The check is neutral because the gate only advises. With `mode: enforce`, it would have failed for: %s.", o.failing())
	case undecided:
		say("The check is neutral: `gate.fail-on` of the base does not include this result.")
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
		return "A broken result cannot be accepted: fix it, or remove the case from the gate in a separate change.\n\n"
	default:
		return fmt.Sprintf("To merge it anyway, a user with %s permission must comment this line, with a reason:\n\n```\n%s\n```\n\n",
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
		say("**Drift:** the base is slower than the baseline because of earlier changes. %s", words.MarkdownText(words.Sanitize(in.Drift.Sentence)))
	}
	if proposal := in.propose(); proposal != "" {
		say("%s", proposal)
	}
	if cost := in.cost(); cost != "" {
		say("%s", cost)
	}
	var links []string
	for _, l := range []struct{ text, url string }{
		{"run", in.Links.Run}, {"all measurements", in.Links.Artifact}, {"report", in.Links.Report}, {"history", in.Links.History}, {"how to read this", in.Links.Help},
	} {
		if link := words.MarkdownLink(l.text, l.url); strings.HasPrefix(link, "[") {
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
			fmt.Fprintf(&b, "- %s, %s %s, owner %s: %s\n", words.MarkdownCode(words.Sanitize(name)), end, q.Until.Format(time.DateOnly),
				words.MarkdownText(words.Sanitize(q.Owner)), words.MarkdownText(words.Sanitize(q.Reason)))
		}
		b.WriteString("\n")
	}
	list("Quarantined: measured, but cannot fail a change", in.Quarantined, "until")
	list("No longer quarantined: can fail a change again", in.Released, "ended after")
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
	return fmt.Sprintf("This gate has only advised for %d days. To let it fail changes, replace `mode: advise` with `mode: enforce` under `gate:` in %s.",
		days, words.MarkdownCode(words.Sanitize(file)))
}

// cost summarizes the costs of the repository's runs.
func (in Input) cost() string {
	c := in.Cost
	if c == nil || c.Runs == 0 {
		return ""
	}
	if c.Dollars <= 0 {
		return fmt.Sprintf("Last 30 days: %s, %s on the device. Set `device.price_per_hour` in the suite to see the cost in dollars.",
			words.Plural(c.MonthRuns, "run"), words.Duration(time.Duration(c.MonthSeconds*float64(time.Second))))
	}
	text := fmt.Sprintf("Last 30 days: %s, %s", words.Plural(c.MonthRuns, "run"), dollarsText(c.MonthDollars))
	if c.Caught > 0 {
		return text + fmt.Sprintf("; %s caught and fixed, %s each.", words.Plural(c.Caught, "regression"), dollarsText(c.PerCaught()))
	}
	return text + "."
}
