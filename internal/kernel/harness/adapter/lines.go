package adapter

import (
	"bufio"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

// timeLines is never detected: prose contains times too. The caller asks for it.
var timeLines = format{
	Format: Format{"lines", "a program that prints times: each line with a number and ns, us, ms or s is a sample"},
	detect: func(outline) bool { return false },
	read:   readLines,
}

// maxLineBytes bounds a line of a program's output.
const maxLineBytes = 1 << 20

// timedLine is the time of one line, in nanoseconds, and the case that the line names.
type timedLine struct {
	benchmark string
	params    []param
	time      float64
}

// readLines collects the times of all lines. Lines of the same case are its samples.
func readLines(in *input, b *builder) error {
	parse := parseTime
	if in.pattern != nil {
		parse = in.pattern.parse
	}
	var order []measure.Case
	samples := map[measure.CaseKey][]float64{}
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLineBytes)
	for number := 1; scanner.Scan(); number++ {
		line, ok, err := parse(strings.ToValidUTF8(scanner.Text(), "\ufffd"))
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if !ok {
			continue
		}
		c := measure.Case{Params: paramMap(line.params), Timer: measure.TimerWall}
		c.Benchmark, c.Config = split(label(line.benchmark))
		if config := configName(line.params); config != "" {
			c.Config = strings.TrimPrefix(c.Config+"/"+config, "/")
		}
		if samples[c.CaseKey] == nil {
			if len(order) >= b.limits.cases {
				return fmt.Errorf("more than %d cases: a part of the lines that changes with every run may count as a name, set a pattern", b.limits.cases)
			}
			order = append(order, c)
		}
		samples[c.CaseKey] = append(samples[c.CaseKey], line.time)
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %s", size(maxLineBytes))
	} else if err != nil {
		return err
	}
	if len(order) == 0 {
		return errors.New("no line has a time: a time is a number followed by ns, us, ms or s, or what the pattern matches")
	}
	for _, c := range order {
		if err := b.time(c, measure.CaseRound{Samples: samples[c.CaseKey]}); err != nil {
			return err
		}
	}
	return nil
}

// printedTime matches a number and its unit, alone or per something: "1.5 ms", "81.2us/run".
var printedTime = lazyregexp.New(`(?:^|[\s:=(\[|,~<>])([0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s?` +
	`(ns|nsec|nanoseconds?|us|µs|μs|usec|microseconds?|ms|msec|milliseconds?|s|secs?|seconds?)(?:/[A-Za-z]+)?(?:$|[\s,;:)\]|.])`)

// parseNumber reads a number that may have commas between thousands, as cargo bench prints it.
func parseNumber(text string) (float64, error) {
	return strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
}

// unitOf returns the factor from a printed unit to nanoseconds.
func unitOf(unit string) (float64, bool) {
	short := unit
	for _, u := range [][2]string{{"nan", "ns"}, {"nse", "ns"}, {"mic", "us"}, {"use", "us"}, {"mil", "ms"}, {"mse", "ms"}, {"sec", "s"}} {
		if strings.HasPrefix(unit, u[0]) {
			short = u[1]
		}
	}
	return nanoseconds(short)
}

// parseTime reads the first time of a line. The words before it name the case; a word followed by a whole number is a
// parameter. Numbers that count repetitions are left out, because they change from run to run.
func parseTime(line string) (timedLine, bool, error) {
	m := printedTime.FindStringSubmatchIndex(line)
	if m == nil {
		return timedLine{}, false, nil
	}
	factor, ok := unitOf(line[m[4]:m[5]])
	value, err := parseNumber(line[m[2]:m[3]])
	if err != nil {
		return timedLine{}, false, fmt.Errorf("%q is not a number: %w", label(line[m[2]:m[3]]), err)
	}
	if !ok {
		return timedLine{}, false, nil
	}
	name, params := nameOf(strings.Fields(line[:m[2]]))
	return timedLine{benchmark: name, params: params, time: value * factor}, true, nil
}

var (
	identifier = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	wholeWord  = lazyregexp.New(`^[0-9]+$`)
	assignment = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)=([0-9][0-9.eE+-]*)$`)
	hasLetter  = lazyregexp.New(`\pL`)
	// counterWord matches a word whose number counts repetitions.
	counterWord = lazyregexp.New(`(?i)^(iter|iters|iterations?|runs?|reps?|repeats?|repetitions?|rounds?|steps?|samples?|trials?|epochs?|loops?|calls?|times|it)$`)
	// filler matches a word that says only that a time follows.
	filler = lazyregexp.New(`(?i)^(time|times|took|takes|elapsed|runtime|duration|latency|average|avg|mean|median|min|max|best|total|in|of|over|per|is|was|for)$`)
)

// nameOf returns the name and the parameters in the words before a time.
func nameOf(words []string) (string, []param) {
	var kept []string
	var params []param
	for i := 0; i < len(words); i++ {
		word := trimWord(words[i])
		if m := assignment.FindStringSubmatch(word); m != nil { // "size=64"
			if wholeWord.MatchString(m[2]) && !counterWord.MatchString(m[1]) && len(params) < maxParams {
				params = append(params, param{m[1], scalar(m[2])})
			}
			continue
		}
		last := len(kept) - 1
		switch {
		case wholeWord.MatchString(word) && counts(words[i+1:]):
			i++ // "100 runs"
		case wholeWord.MatchString(word) && last >= 0 && counterWord.MatchString(kept[last]):
			kept = kept[:last] // "iteration 3"
		case wholeWord.MatchString(word) && last >= 0 && i > 0 && trimWord(words[i-1]) == kept[last] &&
			identifier.MatchString(kept[last]) && !filler.MatchString(kept[last]) && len(params) < maxParams:
			params = append(params, param{kept[last], scalar(word)})
			kept = kept[:last] // "size 64"
		case hasLetter.MatchString(word):
			kept = append(kept, word)
		}
	}
	for len(kept) > 0 && (filler.MatchString(kept[len(kept)-1]) || counterWord.MatchString(kept[len(kept)-1])) {
		kept = kept[:len(kept)-1]
	}
	if len(kept) == 0 {
		return measure.MetricTime, params
	}
	return strings.Join(kept, " "), params
}

// counts reports whether words start with what the number before them counts: "runs", but not "run 3".
func counts(words []string) bool {
	return len(words) > 0 && counterWord.MatchString(trimWord(words[0])) && (len(words) == 1 || !wholeWord.MatchString(trimWord(words[1])))
}

// trimWord removes the punctuation around a word.
func trimWord(word string) string {
	word = strings.TrimLeft(word, `|,;:=-*#>"'[{`)
	word = strings.TrimRight(word, `|,;:=-*#>"'[{}`)
	if !strings.ContainsRune(word, '(') {
		word = strings.TrimRight(word, ")]")
	}
	return strings.TrimPrefix(word, "(")
}

// timePattern is a pattern of the user, compiled.
type timePattern struct {
	*regexp.Regexp
	time, unit, name int     // index of the group; 0 if there is none
	factor           float64 // to nanoseconds, if the group of the time names its unit
}

// CheckPattern returns an error if a pattern of format lines cannot name a time.
func CheckPattern(text string) error {
	_, err := compilePattern(text)
	return err
}

// compilePattern compiles a pattern. Its groups say what a line holds: the time is a group named after its unit, such as
// (?<ms>[0-9.]+), or the groups time and unit. The group case names the case, all others are its parameters.
func compilePattern(text string) (*timePattern, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	p := &timePattern{Regexp: re, unit: max(re.SubexpIndex("unit"), 0), name: max(re.SubexpIndex("case"), 0)}
	for _, group := range []string{"time", "ns", "us", "ms", "s"} {
		if i := re.SubexpIndex(group); i > 0 {
			if p.time > 0 {
				return nil, fmt.Errorf("pattern: both (?<%s>...) and (?<%s>...) are times: keep one", re.SubexpNames()[p.time], group)
			}
			p.time = i
			p.factor, _ = nanoseconds(group)
		}
	}
	switch {
	case p.time == 0:
		return nil, errors.New("pattern: it names no time: use a group such as (?<ms>[0-9.]+)")
	case p.factor == 0 && p.unit == 0:
		return nil, errors.New("pattern: the unit is missing: name the group after it, such as (?<ms>[0-9.]+), or add a group (?<unit>...)")
	}
	return p, nil
}

func (p *timePattern) parse(line string) (timedLine, bool, error) {
	m := p.FindStringSubmatch(line)
	if m == nil {
		return timedLine{}, false, nil
	}
	factor := p.factor
	if factor == 0 {
		var ok bool
		if factor, ok = unitOf(m[p.unit]); !ok {
			return timedLine{}, false, fmt.Errorf("unknown unit %q (known: ns, us, ms, s)", label(m[p.unit]))
		}
	}
	value, err := parseNumber(m[p.time])
	if err != nil {
		return timedLine{}, false, fmt.Errorf("%q is not a number", label(m[p.time]))
	}
	out := timedLine{benchmark: measure.MetricTime, time: value * factor}
	if p.name > 0 && strings.TrimSpace(m[p.name]) != "" {
		out.benchmark = m[p.name]
	}
	for i, group := range p.SubexpNames() {
		if group != "" && !slices.Contains([]int{p.time, p.unit, p.name}, i) && len(out.params) < maxParams {
			out.params = append(out.params, param{group, scalar(m[i])})
		}
	}
	return out, true, nil
}
