package journal

import "strings"

// tokensOfC splits C into words without its comments. Macros that stand for a value are
// constants, those that take arguments are code; both are kept and left out.
func (p *parts) tokensOfC(text string) []token {
	var tokens []token
	line, fresh := 1, true // fresh: nothing but white space stands before on this line
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\n':
			line++
			fresh = true
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			i++
			continue
		case c == '\\' && i+1 < len(text) && (text[i+1] == '\n' || text[i+1] == '\r'):
			i++
			continue
		}
		n := commentLength(text[i:])
		switch {
		case n > 0:
			line += strings.Count(text[i:i+n], "\n")
		case c == '#' && fresh:
			n = directiveLength(text[i:])
			if words := directive(text[i : i+n]); !p.macro(words) {
				tokens = append(tokens, token{joinDirective(words), line})
			}
			line += strings.Count(text[i:i+n], "\n")
		default:
			n = tokenLength(text[i:])
			tokens = append(tokens, token{text[i : i+n], line})
			line += strings.Count(text[i:i+n], "\n")
			fresh = false
		}
		i += n
	}
	return tokens
}

// commentLength is that of the comment a text begins with, 0 for none.
func commentLength(s string) int {
	switch {
	case strings.HasPrefix(s, "//"):
		for i := 2; i < len(s); i++ {
			if s[i] == '\n' && s[i-1] != '\\' {
				return i
			}
		}
		return len(s)
	case strings.HasPrefix(s, "/*"):
		if end := strings.Index(s[2:], "*/"); end >= 0 {
			return end + 4
		}
		return len(s)
	default:
		return 0
	}
}

// directiveLength is that of a preprocessor line with the lines that continue it.
func directiveLength(s string) int {
	for i := 0; i < len(s); {
		if n := commentLength(s[i:]); n > 0 {
			i += n
			continue
		}
		if s[i] == '\n' && !strings.HasSuffix(strings.TrimSuffix(s[:i], "\r"), "\\") {
			return i
		}
		i++
	}
	return len(s)
}

// directive is the words of a preprocessor line, the first of which is "#". A bracket that
// touches the word before it is "(" and not " (": that is how macros with arguments are told.
func directive(s string) []string {
	var words []string
	space := false
	for i := 0; i < len(s); {
		if n := commentLength(s[i:]); n > 0 {
			i += n
			space = true
			continue
		}
		if strings.IndexByte(" \t\r\n\f\v\\", s[i]) >= 0 {
			space = true
			i++
			continue
		}
		n := tokenLength(s[i:])
		w := s[i : i+n]
		if w == "(" && space {
			w = " ("
		}
		words = append(words, w)
		space = false
		i += n
	}
	return words
}

// macro keeps a #define; false for any other line.
func (p *parts) macro(words []string) bool {
	if len(words) < 3 || words[1] != "define" {
		return false
	}
	name := words[2]
	if len(words) > 3 && words[3] == "(" {
		p.code[name] = append(p.code[name], joinDirective(words))
		return true
	}
	p.constants[name] = append(p.constants[name], strings.TrimSpace(strings.Join(words[3:], " ")))
	return true
}

func joinDirective(words []string) string {
	if len(words) == 0 {
		return "#"
	}
	return words[0] + strings.Join(words[1:], " ")
}

// tokenLength is that of the word a text begins with, at least 1.
func tokenLength(s string) int {
	switch c := s[0]; {
	case c == '"' || c == '\'':
		return quoted(s)
	case strings.HasPrefix(s, `R"`):
		return rawString(s)
	case isWord(s):
		n := 1
		for n < len(s) && (isWord(s[n:]) || s[n] >= '0' && s[n] <= '9') {
			n++
		}
		return n
	case c >= '0' && c <= '9' || c == '.' && len(s) > 1 && s[1] >= '0' && s[1] <= '9':
		return numberLength(s)
	default:
		return 1
	}
}

// numberLength takes 0x1.8p-3, 1e+5f and 1'000 as one word.
func numberLength(s string) int {
	n := 1
	for n < len(s) {
		c := s[n]
		word := isWord(s[n:]) || c >= '0' && c <= '9' || c == '.'
		mark := c == '\'' && n+1 < len(s) && (isWord(s[n+1:]) || s[n+1] >= '0' && s[n+1] <= '9')
		sign := (c == '+' || c == '-') && strings.IndexByte("eEpP", s[n-1]) >= 0 && (!strings.HasPrefix(s, "0x") || strings.IndexByte("eE", s[n-1]) < 0)
		if !word && !mark && !sign {
			break
		}
		n++
	}
	return n
}

// quoted is the length of a string or a character; one that is not closed ends with its line.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		case '\n':
			return i
		}
	}
	return len(s)
}

// rawString is the length of R"x( ... )x".
func rawString(s string) int {
	open := strings.IndexByte(s[:min(len(s), 20)], '(')
	if open < 0 {
		return 1 // no raw string after all
	}
	end := strings.Index(s, ")"+s[2:open]+`"`)
	if end < 0 {
		return len(s)
	}
	return end + open
}
