package journal

import (
	"slices"
	"strings"
)

// token is a word of C, with the line it stands on. A preprocessor line is one token.
type token struct {
	text string
	line int
}

// partsOfC takes C, C++, CUDA and OpenCL apart. It knows no types and expands no macros: it
// tells functions by their braces, which is enough to say where something changed. Braces
// that do not match make one part of several, never a mistake.
func partsOfC(text string) *parts {
	p := newParts()
	tokens := p.tokensOfC(text)
	var rest []token
	for start, i := 0, 0; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case strings.HasPrefix(t.text, "#"):
			if start == i {
				rest, start = append(rest, t), i+1
			}
		case t.text == ";" || t.text == "}":
			rest = append(rest, p.takeConstants(tokens[start:i+1])...)
			start = i + 1
		case t.text == "{":
			header := tokens[start:i]
			if transparent(header) {
				rest, start = append(rest, header...), i+1
				continue
			}
			i = closing(tokens, i)
			if name := nameOf(header); name != "" {
				body := p.takeConstants(tokens[start:min(i+1, len(tokens))])
				p.code[name] = append(p.code[name], joined(body))
				start = i + 1
				if start < len(tokens) && tokens[start].text == ";" {
					i, start = i+1, start+1
				}
			}
		}
		if i >= len(tokens)-1 && start < len(tokens) {
			rest = append(rest, p.takeConstants(tokens[start:])...)
		}
	}
	p.rest = joined(rest)
	return p
}

// transparent tells braces that only hold other things: namespaces and extern "C".
func transparent(header []token) bool {
	for _, t := range header {
		switch t.text {
		case "namespace", "extern":
			return !slices.ContainsFunc(header, func(t token) bool { return t.text == "(" || t.text == "=" })
		}
	}
	return len(header) == 0
}

// closing is the brace that closes the one at i, or the end.
func closing(tokens []token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch tokens[i].text {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(tokens) - 1
}

// attributes look like calls and are none.
var attributes = []string{"__launch_bounds__", "__attribute__", "__declspec", "alignas", "decltype", "noexcept", "requires", "reqd_work_group_size", "__cluster_dims__", "__maxnreg__"}

// nameOf is what braces after this header define: a function, or a type; empty for the
// values of a variable.
func nameOf(header []token) string {
	depth := 0
	for i, t := range header {
		switch t.text {
		case "<", "(", "[":
			depth++
		case ">", ")", "]":
			depth = max(0, depth-1)
		case "=":
			if depth == 0 {
				return ""
			}
		case "struct", "class", "union", "enum":
			if depth == 0 && !calls(header[i:]) {
				return typeName(header[i+1:])
			}
		}
		if t.text == "(" && depth == 1 && i > 0 && isWord(header[i-1].text) && !slices.Contains(attributes, header[i-1].text) {
			return header[i-1].text
		}
	}
	return ""
}

// calls tells whether something other than an attribute takes arguments.
func calls(header []token) bool {
	for i := 1; i < len(header); i++ {
		if header[i].text == "(" && isWord(header[i-1].text) && !slices.Contains(attributes, header[i-1].text) {
			return true
		}
	}
	return false
}

// typeName is the first word after struct and the like that is the name.
func typeName(header []token) string {
	depth := 0
	for _, t := range header {
		switch {
		case t.text == "(":
			depth++
		case t.text == ")":
			depth--
		case depth == 0 && isWord(t.text) && t.text != "class" && t.text != "struct" && !slices.Contains(attributes, t.text):
			return t.text
		}
	}
	return "(unnamed)"
}

// takeConstants takes declarations of constant numbers out of tokens, and keeps them by
// their names.
func (p *parts) takeConstants(tokens []token) []token {
	var out []token
	for i := 0; i < len(tokens); i++ {
		if t := tokens[i].text; t == "constexpr" || t == "const" {
			if name, value, end := constant(tokens[i+1:]); name != "" {
				p.constants[name] = append(p.constants[name], value)
				i += end
				continue
			}
		}
		out = append(out, tokens[i])
	}
	return out
}

// constant reads what follows after const: a type, a name, = and a number, with the number
// of tokens up to the semicolon.
func constant(tokens []token) (name, value string, end int) {
	equals := -1
	for i, t := range tokens[:min(len(tokens), 60)] {
		switch {
		case t.text == ";":
			if equals < 1 || equals+1 == i {
				return "", "", 0
			}
			return name, joinedWords(tokens[equals+1 : i]), i + 1
		case equals >= 0:
			if !partOfNumber(t.text) {
				return "", "", 0
			}
		case t.text == "=":
			if i == 0 || !isWord(tokens[i-1].text) {
				return "", "", 0
			}
			equals, name = i, tokens[i-1].text
		case !isWord(t.text) && t.text != ":" && t.text != "<" && t.text != ">":
			return "", "", 0
		}
	}
	return "", "", 0
}

// partOfNumber tells words of an expression of numbers and of other constants, which are
// written in capitals or with a k before a capital.
func partOfNumber(s string) bool {
	if c := s[0]; c >= '0' && c <= '9' || c == '.' || strings.ContainsRune("+-*/%<>()|&~?:!", rune(c)) {
		return true
	}
	if s == "sizeof" || s == "true" || s == "false" || s == "float" || s == "double" || s == "int" || s == "half" {
		return true
	}
	rest := strings.TrimPrefix(s, "k")
	return isWord(s) && rest != "" && (rest[0] >= 'A' && rest[0] <= 'Z') && (len(rest) < len(s) || strings.ToUpper(s) == s)
}

func isWord(s string) bool {
	return s != "" && (s[0] == '_' || s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || s[0] >= 0x80)
}

// joined puts tokens on the lines they stood on.
func joined(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		switch {
		case i == 0:
		case t.line != tokens[i-1].line:
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

func joinedWords(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.text)
	}
	return b.String()
}
