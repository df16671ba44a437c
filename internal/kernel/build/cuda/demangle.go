package cuda

import (
	"context"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Demangle returns the demangled names of symbols, in order, with whichever tool is installed. If
// there is none, or it does not answer for every symbol, it returns the symbols unchanged.
func Demangle(ctx context.Context, symbols []string) []string {
	mangled := false
	for _, s := range symbols {
		mangled = mangled || strings.HasPrefix(s, "_Z")
	}
	if !mangled {
		return symbols
	}
	for _, name := range []string{"c++filt", "cu++filt"} {
		tool, err := Tool(name)
		if err != nil {
			continue
		}
		out, err := run(ctx, "", strings.Join(symbols, "\n")+"\n", tool)
		names := strings.Split(strings.TrimRight(out, "\n"), "\n")
		if err != nil || len(names) != len(symbols) {
			continue
		}
		for i, n := range names {
			names[i] = tidy(n)
		}
		return names
	}
	return symbols
}

// cast matches a number in template arguments as printed by cu++filt.
var cast = lazyregexp.New(`\((?:unsigned )?(?:int|bool|char|short|long|long long)\)(-?\d)`)

func tidy(name string) string {
	return strings.ReplaceAll(cast.ReplaceAllString(name, "$1"), "<unnamed>::", "(anonymous namespace)::")
}

var operator = lazyregexp.New(`^operator[^A-Za-z0-9_]`)

// Short returns a demangled name without result type and parameters: "attention<64>" for
// "void attention<64>(float const*)".
func Short(name string) string {
	name = strings.ReplaceAll(name, "(anonymous namespace)::", "")
	depth, begin, end := 0, 0, len(name)
scan:
	for i := range len(name) {
		if operator.MatchString(name[i:]) && (i == 0 || name[i-1] == ':' || name[i-1] == ' ') {
			return name[begin:] // the name itself may have brackets: better long than wrong
		}
		switch name[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 {
				end = i
				break scan
			}
		case ' ':
			if depth == 0 {
				begin = i + 1
			}
		}
	}
	if begin >= end {
		return name
	}
	return name[begin:end]
}
