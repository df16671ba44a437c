package shell

import (
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/lazyregexp"
)

// Programs names the programs that a command line for sh needs, as far as
// that can be told without running it: none where the shell itself decides, and
// nothing behind a command that changes where programs are found. A program of the
// folder counts only at the beginning, because a command before it may make it.
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
		case slices.Contains(movers, name):
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
	// movers change where later words are found, or what they mean.
	movers = []string{".", "source", "eval", "export", "module", "alias", "conda", "spack", "unset", "trap", "exit", "return"}
	// compound begin what is not a plain list of commands.
	compound = []string{"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function", "{", "}", "[["}
	builtins = []string{":", "[", "cd", "echo", "false", "printf", "pwd", "read", "set", "test", "true", "ulimit", "umask", "wait"}
	// prefixes run the program that follows them.
	prefixes = []string{"!", "exec", "command", "time", "nohup", "env"}
)

// programOf is the program of one simple command; empty where there is none, or
// where only the shell knows.
func programOf(words []string) string {
	for _, w := range words {
		name, _, assigns := strings.Cut(w, "=")
		switch {
		case assigns && name == "PATH":
			return "export" // it is looked for elsewhere
		case assigns && !strings.Contains(name, "/"), slices.Contains(prefixes, w):
			continue
		case strings.HasPrefix(w, "-"), strings.ContainsAny(w, unknowable):
			return ""
		}
		return w
	}
	return ""
}

// unknowable are the characters with which a word depends on the shell.
const unknowable = "$`*?~"

var (
	comment = lazyregexp.New(`(?m)(^|[ \t;])#.*$`)
	// token is a piece of a command line: space, an operator, quoted text, or a part of a word.
	token = lazyregexp.New(`(?s)\\\n|[ \t]+|&&|\|\||<<|>>|[<>]&|[\n;&|()<>]|'[^']*'|"[^"\\]*"|[^ \t\n;&|()<>'"\\]+|.`)
)

// splitCommand splits a line into simple commands and their words. It is not plain
// where it has alternatives, functions, escapes or text in place of a file: what
// then runs is not for us to say.
func splitCommand(line string) (commands [][]string, plain bool) {
	var s splitter
	for _, t := range token.FindAllString(comment.ReplaceAllString(line, "$1"), -1) {
		switch {
		case t == "\\\n": // the line goes on
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
	toFile   bool // the next word is where output goes
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

// redirect ends a word; the number before it is that of a descriptor.
func (s *splitter) redirect() {
	if strings.Trim(s.word, "0123456789") == "" {
		s.word, s.inWord = "", false
	}
	s.endWord()
	s.toFile = true
}
