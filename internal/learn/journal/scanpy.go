package journal

import (
	"slices"
	"strings"
)

// maxPythonValue is how long the value of a constant may be; a longer one, such as the text
// of a kernel, is code.
const maxPythonValue = 80

// pyLine is a logical line of Python: its words without comments, how far it is indented,
// and where it stands.
type pyLine struct {
	words  []string
	indent int
}

// partsOfPython takes Python apart: functions and classes by their indentation, and what is
// assigned at the top of the file.
func partsOfPython(text string) *parts {
	p := newParts()
	var (
		name       string // of the function or class we are in
		body       []string
		decorators []string
		rest       []string
		levels     []int
	)
	flush := func() {
		if name != "" {
			p.code[name] = append(p.code[name], strings.Join(body, "\n"))
		}
		name, body = "", nil
	}
	for _, l := range pythonLines(text) {
		for len(levels) > 0 && levels[len(levels)-1] >= l.indent {
			levels = levels[:len(levels)-1]
		}
		line := strings.Repeat("\t", len(levels)) + strings.Join(l.words, " ")
		levels = append(levels, l.indent)
		if len(levels) > 1 && name != "" { // inside
			if k, v, ok := pyAssigned(l.words); ok && strings.ToUpper(k) == k && pyNumber(v) {
				p.constants[k] = append(p.constants[k], v)
				continue
			}
			body = append(body, line)
			continue
		}
		flush()
		k, v, assigned := pyAssigned(l.words)
		switch {
		case l.words[0] == "@":
			decorators = append(decorators, line)
			continue
		case defines(l.words) != "":
			name, body = defines(l.words), append(slices.Clip(decorators), line)
		case assigned && len(v) <= maxPythonValue:
			p.constants[k] = append(p.constants[k], v)
		case assigned:
			p.code[k] = append(p.code[k], line)
		default:
			rest = append(append(rest, decorators...), line)
		}
		decorators = nil
	}
	flush()
	p.rest = strings.Join(append(rest, decorators...), "\n")
	return p
}

// defines is the name of what a line opens.
func defines(words []string) string {
	if words[0] == "async" {
		words = words[1:]
	}
	if len(words) > 1 && (words[0] == "def" || words[0] == "class") {
		return words[1]
	}
	return ""
}

// pyAssigned reads NAME = value and NAME: type = value.
func pyAssigned(words []string) (name, value string, ok bool) {
	if !isWord(words[0]) || len(words) < 3 || words[1] != "=" && words[1] != ":" {
		return "", "", false
	}
	for i, w := range words {
		if w == "=" && i+1 < len(words) && words[i+1] != "=" && (words[1] == "=" && i == 1 || words[1] == ":" && i > 2) {
			return words[0], strings.Join(words[i+1:], " "), true
		}
	}
	return "", "", false
}

func pyNumber(s string) bool {
	for _, r := range s {
		if (r < '0' || r > '9') && !strings.ContainsRune("xXabcdefABCDEF_.eE+-*/() <>", r) {
			return false
		}
	}
	return true
}

// pythonLines are the logical lines that do something: no comments, no blank lines, no
// strings that stand alone.
func pythonLines(text string) []pyLine {
	var list []pyLine
	l := pyLine{indent: -1}
	column, depth := 0, 0
	end := func() {
		if len(l.words) > 0 && !alone(l.words) {
			list = append(list, l)
		}
		l = pyLine{indent: -1}
		column = 0
	}
	for i := 0; i < len(text); {
		c := text[i]
		n := 1
		switch {
		case c == '\n':
			if depth == 0 {
				end()
			}
		case c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			n = 2
		case c == ' ' || c == '\r' || c == '\f':
			column++
		case c == '\t':
			column = (column/8 + 1) * 8
		case c == '#':
			if n = strings.IndexByte(text[i:], '\n'); n < 0 {
				n = len(text) - i
			}
		default:
			if l.indent < 0 {
				l.indent = column
			}
			n = pyToken(text[i:])
			l.words = append(l.words, text[i:i+n])
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(0, depth-1)
			}
		}
		i += n
	}
	end()
	return list
}

// alone tells a line that is only a string: a docstring says nothing to the machine.
func alone(words []string) bool {
	return len(words) == 1 && strings.ContainsAny(words[0][:min(3, len(words[0]))], `"'`)
}

// pyToken is the length of the word a text begins with; strings are one, with their prefix.
func pyToken(s string) int {
	prefix := 0
	for prefix < 2 && prefix < len(s) && strings.IndexByte("rRbBuUfFtT", s[prefix]) >= 0 {
		prefix++
	}
	if rest := s[prefix:]; rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		return prefix + pyString(rest)
	}
	return tokenLength(s)
}

func pyString(s string) int {
	for _, mark := range []string{`"""`, `'''`} {
		if !strings.HasPrefix(s, mark) {
			continue
		}
		for i := 3; i < len(s); i++ {
			if s[i] == '\\' {
				i++
			} else if strings.HasPrefix(s[i:], mark) {
				return i + 3
			}
		}
		return len(s)
	}
	return quoted(s)
}
