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

// Names returns all facts of a session. docs/reference/gates.md says what each means.
func Names() []string { return strings.Fields(names) }

const names = `minutes minutes_silent host_changed device_seconds dollars budget_left gpu environment_ok abi_ok
claims_verified limits_known fits shared_memory shared_limit minimum_ns target target_minimums
reference_measured reference_ns smallest_measured build_ok build_minutes_broken sources_ok symbols_ok
unchecked points failed_points smallest_correct not_finite max_difference first_bad_tiles measurements
smallest_speedup speedup speedup_slope concurrency_slope profiled no_profiler changed repairing
correct_since_change attempts_without_20 last_gain definition_changed reached configs configs_measured`

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
