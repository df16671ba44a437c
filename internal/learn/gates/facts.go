package gates

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Facts is what is known of a session. A fact that is not known is not there. Texts are the names
// that sentences need, made harmless.
type Facts struct {
	Numbers map[string]float64
	Texts   map[string]string
}

func (f Facts) num(name string) float64 { return f.Numbers[name] }

func (f Facts) is(name string) bool { return f.Numbers[name] == 1 }

func (f Facts) known(name string) bool { _, ok := f.Numbers[name]; return ok }

func (f Facts) text(name, otherwise string) string {
	if t := f.Texts[name]; t != "" {
		return t
	}
	return otherwise
}

// arg returns a text as an argument of a command line.
func (f Facts) arg(name, otherwise string) string {
	word := f.text(name, otherwise)
	if strings.ContainsFunc(word, func(r rune) bool { return !plainRune(r) }) {
		return "'" + strings.ReplaceAll(word, "'", "") + "'"
	}
	return word
}

// Fact is a number that gates and the symptoms of lessons use.
type Fact struct{ Name, About string }

// Names returns all facts of a session, in the order in which the work meets them.
func Names() []Fact { return facts }

var facts = []Fact{
	{"minutes", "minutes since the session started"},
	{"minutes_silent", "minutes since the last entry"},
	{"host_changed", "1: this is not the host that was checked last"},
	{"device_seconds", "seconds with the device held"},
	{"dollars", "what they cost"},
	{"budget_left", "share of the budget that is left, of seconds or dollars the smaller"},
	{"gpu", "1: the session works on a GPU"},
	{"environment_ok", "1: pawl doctor found no problem on this host"},
	{"abi_ok", "0: what was built did not load, or the toolchain failed, since pawl doctor ran"},
	{"claims_verified", "1: it was built here"},
	{"limits_known", "1: preflight computed what the device allows"},
	{"fits", "1: nothing exceeds it"},
	{"shared_memory", "bytes of shared memory in a block"},
	{"shared_limit", "bytes that a block may have"},
	{"minimum_ns", "least time that the smallest config can take"},
	{"target", "wanted speedup"},
	{"target_minimums", "time of the target in least possible times"},
	{"reference_measured", "1: the reference was measured here"},
	{"reference_ns", "its median at the smallest config"},
	{"smallest_measured", "1: the smallest config was measured"},
	{"build_ok", "1: the present source builds, 0: it does not"},
	{"build_minutes_broken", "minutes since the first of the failed builds in a row"},
	{"sources_ok", "0: a file is missing from the build"},
	{"symbols_ok", "0: a symbol is not defined"},
	{"unchecked", "1: the suite does not say what is right"},
	{"points", "points that were checked last"},
	{"failed_points", "of them, wrong"},
	{"smallest_correct", "1: the smallest checked config is right"},
	{"not_finite", "1: a result was NaN or infinite"},
	{"max_difference", "largest difference"},
	{"first_bad_tiles", "size of the smallest wrong config in tiles"},
	{"measurements", "measurements of the candidate in this session"},
	{"smallest_speedup", "reference over candidate at the smallest config"},
	{"speedup", "the same over all configs measured last, geometric mean"},
	{"speedup_slope", "slope of its logarithm against that of the work"},
	{"concurrency_slope", "the same against heads and batch, if only these differ"},
	{"profiled", "1: there is a profile of the present or the last measured source"},
	{"no_profiler", "1: profiling was tried and no profiler works here"},
	{"changed", "files, parameters and flags that changed since the last measurement"},
	{"repairing", "1: what was measured last is known to be wrong"},
	{"correct_since_change", "1: the present source was checked and is right, 0: it is wrong"},
	{"attempts_without_20", "last attempts in a row that gained less than 20 %"},
	{"last_gain", "logarithm of before over after of the last attempt"},
	{"definition_changed", "1: the definition is not that of the first measurement"},
	{"reached", "1: the target is reached; without one, 20 % over the beginning"},
	{"configs", "configs of the suite, or all that were measured"},
	{"configs_measured", "configs measured with the source of the last measurement"},
}

// short formats a number with three significant digits.
func short(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e6 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func plainRune(r rune) bool {
	return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./=:-+,@", r))
}

// name keeps only what a name can have: no spaces, no other signs, 60 characters. Sentences are made
// of names from sources and journals, which are untrusted.
func name(s string) string {
	var b strings.Builder
	for _, r := range s {
		if plainRune(r) && b.Len() < 60 {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// replay accepts a command that pawl itself wrote, and nothing that a shell reads as more than one.
func replay(command string) string {
	if !strings.HasPrefix(command, "pawl fuzz ") || len(command) > 400 || strings.ContainsFunc(command, func(r rune) bool { return r != ' ' && !plainRune(r) }) {
		return ""
	}
	return command
}

// Changed names changes with their numbers: "TILE 64 to 128 and kernel.cu (+3 -1)".
func Changed(changes []journal.Change) string {
	const most = 4
	var all []string
	for _, c := range changes {
		text := name(c.Name)
		switch before, after := name(c.Before), name(c.After); {
		case c.What == journal.File:
			text = fmt.Sprintf("%s (+%d -%d)", text, c.Added, c.Gone)
		case before != "" && after != "":
			text = fmt.Sprintf("%s %s to %s", text, before, after)
		}
		all = append(all, text)
	}
	if n := len(all); n > most {
		all = append(all[:most-1], fmt.Sprintf("%d more", n-most+1))
	}
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	return strings.Join(all, "")
}
