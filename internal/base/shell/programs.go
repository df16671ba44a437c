package shell

import (
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Programs returns the programs that a command line for sh needs, as far as that is known
// without running it. It returns none if the line uses shell syntax it cannot analyze, and
// none after a command that changes where programs are found. A program given by its path
// counts only as the first command, because an earlier command may create it.
func Programs(line string) []string {
	commands, plain := splitCommand(line)
	if !plain {
		return nil
	}
	var list []string
	for i, words := range commands {
		name := programOf(words)
		switch {
		case name == "":
		case slices.Contains(pathChangers, name):
			return list
		case slices.Contains(compound, name):
			return nil
		case slices.Contains(builtins, name), slices.Contains(list, name):
		case strings.Contains(name, "/") && i > 0:
		default:
			list = append(list, name)
		}
	}
	return list
}

var (
	// pathChangers change where later words are found, or their meaning.
	pathChangers = []string{".", "source", "eval", "export", "module", "alias", "conda", "spack", "unset", "trap", "exit", "return"}
	// compound lists words that start something other than a plain list of commands.
	compound = []string{"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function", "{", "}", "[["}
	builtins = []string{":", "[", "cd", "echo", "false", "printf", "pwd", "read", "set", "test", "true", "ulimit", "umask", "wait"}
	// prefixes run the program that follows them.
	prefixes = []string{"!", "exec", "command", "time", "nohup", "env"}
)

// programOf returns the program of one simple command. It is empty if there is none, or if
// only the shell can tell.
func programOf(words []string) string {
	for _, w := range words {
		name, _, assigns := strings.Cut(w, "=")
		switch {
		case assigns && name == "PATH":
			return "export" // later programs are found elsewhere
		case assigns && !strings.Contains(name, "/"), slices.Contains(prefixes, w):
			continue
		case strings.HasPrefix(w, "-"), strings.ContainsAny(w, shellSpecial):
			return ""
		}
		return w
	}
	return ""
}

// shellSpecial lists the characters that the shell expands.
const shellSpecial = "$`*?~"

var (
	comment = lazyregexp.New(`(?m)(^|[ \t;])#.*$`)
	// token matches a piece of a command line: space, an operator, quoted text, or part of a word.
	token = lazyregexp.New(`(?s)\\\n|[ \t]+|&&|\|\||<<|>>|[<>]&|[\n;&|()<>]|'[^']*'|"[^"\\]*"|[^ \t\n;&|()<>'"\\]+|.`)
)

// splitCommand splits a line into simple commands and their words. plain is false for a line
// with alternatives, functions, escapes or here-documents: what it runs is unknown.
func splitCommand(line string) (commands [][]string, plain bool) {
	var s splitter
	for _, t := range token.FindAllString(comment.ReplaceAllString(line, "$1"), -1) {
		switch {
		case t == "\\\n": // the line continues
		case strings.Trim(t, " \t") == "":
			s.endWord()
		case t == "||", t == "<<", t == "'", t == `"`, t == "\\", t == "(" && (s.inWord || len(s.words) > 0):
			return nil, false
		case strings.ContainsAny(t[:1], "\n;&|()"):
			s.endCommand()
		case t[0] == '<', t[0] == '>':
			s.redirect()
		case t[0] == '\'', t[0] == '"':
			s.add(t[1 : len(t)-1])
		default:
			s.add(t)
		}
	}
	s.endCommand()
	return s.commands, true
}

// splitter collects words into commands.
type splitter struct {
	commands [][]string
	words    []string
	word     string
	inWord   bool
	toFile   bool // the next word is a redirection target
}

func (s *splitter) add(part string) {
	s.word += part
	s.inWord = true
}

func (s *splitter) endWord() {
	if !s.inWord {
		return
	}
	if !s.toFile {
		s.words = append(s.words, s.word)
	}
	s.word, s.inWord, s.toFile = "", false, false
}

func (s *splitter) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, s.words)
	}
	s.words, s.toFile = nil, false
}

// redirect ends a word and drops a preceding file descriptor number.
func (s *splitter) redirect() {
	if strings.Trim(s.word, "0123456789") == "" {
		s.word, s.inWord = "", false
	}
	s.endWord()
	s.toFile = true
}
