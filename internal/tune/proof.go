package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// ProofPolicy returns the judge's policy for a proof with the given number of finalists. A
// gain counts from MinGain on. The error rate is divided among the finalists, because
// otherwise the luckiest of them would be chosen.
func ProofPolicy(p ratchet.Policy, finalists int) ratchet.Policy {
	n := float64(max(finalists, 1))
	p.MinSpeedup = MinGain
	p.Alpha /= n
	p.Family /= n
	p.Cases = slices.Clone(p.Cases)
	for i := range p.Cases { // a suite's own limits are for code changes
		p.Cases[i].Faster = MinGain
	}
	return p
}

// Fit returns how many finalists can be measured in the given seconds, besides the
// defaults. Each is the seconds per side, config and round; one reports that there is time
// for one config only.
func Fit(finalists, configs, rounds int, each, seconds float64) (fit int, one bool) {
	for _, measured := range []int{configs, 1} {
		for n := finalists; n > 0; n-- {
			if float64((n+1)*measured*rounds)*each <= seconds {
				return n, measured < configs
			}
		}
	}
	return min(1, finalists), configs > 1
}

// NewComparison converts the judgement of one case.
func NewComparison(j ratchet.Judgment) Comparison {
	c := Comparison{Case: j.Name, Verdict: j.Verdict, Answer: Inconclusive, Sentence: j.Sentence}
	f := j.Facts
	if f != nil {
		c.DefaultTime, c.Time, c.Speedup = f.Base.Median, f.Now.Median, 1/(1+f.Change)
		if f.Interval != nil {
			c.Low, c.High = 1/(1+f.Interval.High), 1/(1+f.Interval.Low)
		}
	}
	switch {
	case j.Verdict == ratchet.Improvement:
		c.Answer = Faster
	case j.Verdict == ratchet.Broken || f == nil || f.Better == measure.Higher:
	case j.Verdict == ratchet.Maintained && c.Low > 1 && c.Speedup < 1+MinGain:
		c.Answer = Small
	case j.Verdict == ratchet.Maintained && c.Speedup < 1+MinGain || j.Verdict == ratchet.Regression:
		c.Answer = Same
	}
	return c
}

// of returns a finalist's comparison on a case.
func (f Finalist) of(name string) (Comparison, bool) {
	for _, c := range f.Cases {
		if c.Case == name && c.Excluded == "" {
			return c, f.ResultError == ""
		}
	}
	return Comparison{}, false
}

// Config is a config of the benchmark that was tuned.
type Config struct {
	Case   string
	Params map[string]any
}

// Conclude chooses a finalist for the tuned case and for every other config, and lists
// where the winner would be slower. The finalists' Cases must be set.
func (p *Proof) Conclude(tuned string, configs []Config, defaults map[string]any) {
	p.Winner, p.Choices, p.SlowerCases = p.choose(tuned), nil, nil
	if p.Winner >= 0 {
		c, _ := p.Finalists[p.Winner].of(tuned)
		p.Answer = c.Answer
	} else {
		p.Answer = p.answerWithoutWinner(tuned)
	}
	for _, config := range configs {
		p.Choices = append(p.Choices, p.choice(config, defaults))
		if p.Winner < 0 {
			continue
		}
		if c, ok := p.Finalists[p.Winner].of(config.Case); ok && c.Verdict == ratchet.Regression {
			p.SlowerCases = append(p.SlowerCases, config.Case)
		}
	}
	p.Sentence = p.sentence(tuned, len(configs))
}

// choose returns the fastest finalist on a case that is significantly faster than the
// defaults: by MinGain, or, if none is, by less.
func (p *Proof) choose(name string) int {
	winner := -1
	var best Comparison
	for i, f := range p.Finalists {
		c, ok := f.of(name)
		if !ok || c.Answer != Faster && c.Answer != Small {
			continue
		}
		if winner < 0 || c.Answer == Faster && best.Answer == Small || c.Answer == best.Answer && c.Speedup > best.Speedup {
			winner, best = i, c
		}
	}
	return winner
}

// answerWithoutWinner returns the answer if no finalist won. The defaults are best only if every
// finalist with a usable comparison has a conclusive one.
func (p *Proof) answerWithoutWinner(name string) Answer {
	known := false
	for _, f := range p.Finalists {
		c, ok := f.of(name)
		if f.ResultError != "" || !ok {
			continue
		}
		if c.Answer == Inconclusive {
			return Inconclusive
		}
		known = true
	}
	if len(p.Finalists) > 0 && !known {
		return Inconclusive
	}
	return Same
}

// choice returns the best known point of a config. It prefers the winner unless another is
// clearly better, because every other point is one more kernel to build and maintain.
func (p *Proof) choice(config Config, defaults map[string]any) Choice {
	out := Choice{Case: config.Case, Params: config.Params, Finalist: -1, Point: defaults, Speedup: 1}
	at := p.choose(config.Case)
	if at < 0 {
		out.Significant = p.answerWithoutWinner(config.Case) == Same
		return out
	}
	best, _ := p.Finalists[at].of(config.Case)
	if p.Winner >= 0 && p.Winner != at {
		if own, ok := p.Finalists[p.Winner].of(config.Case); ok && own.Answer == best.Answer && own.High >= best.Speedup {
			at, best = p.Winner, own
		}
	}
	out.Finalist, out.Point, out.Significant = at, p.Finalists[at].Point, true
	out.Speedup, out.Low, out.High = best.Speedup, best.Low, best.High
	return out
}

// SpeedupText describes a speedup as a change of time, with its interval; a low of 0 means that there is none.
func SpeedupText(speedup, low, high float64) string {
	switch {
	case !(speedup > 0):
		return "-"
	case !(low > 0):
		return words.Change(1 / speedup)
	default:
		return words.ChangeWithin(1/speedup, 1/high, 1/low)
	}
}

func (c Comparison) change() string { return SpeedupText(c.Speedup, c.Low, c.High) }

// thanDefaults compares with the defaults: "8.3 % faster (7.9 to 8.6 %) than the defaults".
func (c Comparison) thanDefaults() string {
	change := c.change()
	if interval, same := strings.CutPrefix(change, words.Change(1)); same {
		return "as fast as the defaults" + interval
	}
	return change + " than the defaults"
}

func (p *Proof) sentence(tuned string, configs int) string {
	if len(p.Finalists) == 0 {
		return "The search found nothing faster than the defaults: they are the best of the points tried."
	}
	var text string
	switch p.Answer {
	case Faster, Small:
		c, _ := p.Finalists[p.Winner].of(tuned)
		text = fmt.Sprintf("Proven: %s is %s than with the defaults.", tuned, c.change())
		if p.Answer == Small {
			text += fmt.Sprintf(" That is less than %.0f %%: hardly worth a change.", 100*MinGain)
		}
	case Same:
		text = fmt.Sprintf("On %s no finalist is at least %.0f %% faster than the defaults: keep the defaults.", tuned, 100*MinGain)
	case Inconclusive:
		text = fmt.Sprintf("No answer for %s: the finalists may or may not be faster than the defaults.", tuned)
		for _, f := range p.Finalists {
			c, ok := f.of(tuned)
			if !ok || c.Low <= 0 {
				continue
			}
			text = fmt.Sprintf("No answer for %s: %s looks %s, which is not certain enough.", tuned, f.Side, c.thanDefaults())
			break
		}
	}
	wrong := 0
	for _, f := range p.Finalists {
		if f.ResultError != "" {
			wrong++
		}
	}
	if wrong > 0 {
		text += fmt.Sprintf(" %d of %d finalists gave wrong results or broke.", wrong, len(p.Finalists))
	}
	if len(p.SlowerCases) > 0 {
		text += fmt.Sprintf(" It makes %d of %d configs slower: choose by config.", len(p.SlowerCases), configs)
	}
	return text
}
