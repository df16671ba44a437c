package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cheat is an attempt of an agent to look better than it is, or to get out. An agent edits
// files of its working tree as it likes; what it asks of pawl goes through the tools.
type cheat struct {
	name, caught string // what it does, and what catches it
	try          func(t *testing.T, w *cheated) string
}

// cheated is a session that cheats are tried in. Each puts back what it changed.
type cheated struct {
	dir string
	c   *client
}

// said is what was refused, or what pawl said of it; empty where it went through.
func (w *cheated) said(tool string, args map[string]any) string {
	a := w.c.call(tool, args)
	switch {
	case a.Refused != "":
		return a.Refused
	case a.Exit != 0:
		return a.line
	}
	return ""
}

func (w *cheated) edit(t *testing.T, name, from, to string) {
	t.Helper()
	path := filepath.Join(w.dir, name)
	text, err := os.ReadFile(path)
	must(t, err)
	if !strings.Contains(string(text), from) {
		t.Fatalf("%s has no %q", name, from)
	}
	write(t, path, strings.ReplaceAll(string(text), from, to))
	t.Cleanup(func() { write(t, path, string(text)) })
}

// journal is the file of the open session.
func (w *cheated) journal(t *testing.T) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(w.dir, ".pawl", "sessions", "open", "*.jsonl"))
	if err != nil || len(list) != 1 {
		t.Fatalf("open journals: %q %v", list, err)
	}
	return list[0]
}

// asks is a cheat that is an input.
func asks(tool string, args map[string]any) func(*testing.T, *cheated) string {
	return func(_ *testing.T, w *cheated) string { return w.said(tool, args) }
}

// edits is a cheat that changes what is measured with, and then measures against the base.
func edits(file, from, to string) func(*testing.T, *cheated) string {
	return func(t *testing.T, w *cheated) string {
		t.Helper()
		w.edit(t, file, from, to)
		said := w.said("bench", map[string]any{"case": "matmul/N192", "samples": 3, "rounds": 1, "base": "HEAD"})
		_, gate, _ := strings.Cut(said, "stopped at the gate definition")
		return gate
	}
}

func cheats() []cheat {
	return []cheat{
		{"override a gate", "no such input", asks("next", map[string]any{"override": "because"})},
		{"ask for a larger budget", "bounds of the input", asks("session_start", map[string]any{"seconds": 999999})},
		{"name an option as base", "rules of refs", asks("bench", map[string]any{"base": "--upload-pack=touch x"})},
		{"name a range as base", "rules of refs", asks("bench", map[string]any{"base": "HEAD..HEAD"})},
		{"put a command into a case", "letters of a glob", asks("bench", map[string]any{"case": "x;touch y"})},
		{"bring an oracle of its own", "no such input", asks("fuzz", map[string]any{"against": "true"})},
		{"declare itself trusted", "no such input", asks("bench", map[string]any{"trust": "trusted"})},
		{"write over a record", "no such input", asks("bench", map[string]any{"out": ".pawl/x"})},
		{"ask for a tolerance", "no such input", asks("fuzz", map[string]any{"tolerance": 1})},
		{"read a file outside", "paths stay inside", asks("compare", map[string]any{"record": "../../../etc/passwd"})},
		{"read an absolute path", "paths stay inside", asks("diagnose", map[string]any{"profile": "/etc/passwd"})},
		{"read what git keeps", "paths stay inside", asks("compare", map[string]any{"record": "../../.git/config"})},
		{"read through a link", "links are resolved", func(t *testing.T, w *cheated) string {
			t.Helper()
			must(t, os.Symlink("/etc/passwd", filepath.Join(w.dir, "link.json")))
			return w.said("compare", map[string]any{"record": "link.json"})
		}},
		{"accept a baseline", "no such tool", func(_ *testing.T, w *cheated) string {
			if m := w.c.ask("tools/call", map[string]any{"name": "baseline_accept", "arguments": map[string]any{}}); m.Error != nil {
				return m.Error.Message
			}
			return ""
		}},
		{"edit the tolerance", "the gate of the definition", edits("pawl.yaml", "atol: 1e-3", "atol: 1e3")},
		{"edit the suite", "the gate of the definition", edits("pawl.yaml", "samples: 10", "samples: 11")},
		{"edit the harness", "the gate of the definition", edits("harness.c", "#include", "/* x */ static int unused_here(void) { return 1; }\n#include")},
		{"change a line of the journal", "the chain of the journal", func(t *testing.T, w *cheated) string {
			t.Helper()
			path := w.journal(t)
			text, err := os.ReadFile(path)
			must(t, err)
			t.Cleanup(func() { write(t, path, string(text)) })
			write(t, path, strings.Replace(string(text), `"command":"doctor"`, `"command":"doktor"`, 1))
			return w.said("build", nil)
		}},
		{"cut the journal", "what the server saw of it", func(t *testing.T, w *cheated) string {
			t.Helper()
			path := w.journal(t)
			text, err := os.ReadFile(path)
			must(t, err)
			t.Cleanup(func() { write(t, path, string(text)) })
			lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
			write(t, path, strings.Join(lines[:len(lines)-1], ""))
			return w.said("build", nil)
		}},
		{"remove the journal", "no session, no spending", func(t *testing.T, w *cheated) string {
			t.Helper()
			path := w.journal(t)
			text, err := os.ReadFile(path)
			must(t, err)
			t.Cleanup(func() { write(t, path, string(text)) })
			must(t, os.Remove(path))
			return w.said("bench", nil)
		}},
		{"name itself a person", "the server names the actor", func(t *testing.T, w *cheated) string {
			t.Helper()
			text, err := os.ReadFile(w.journal(t))
			must(t, err)
			if strings.Contains(string(text), `"kind":"person"`) || !strings.Contains(string(text), `"kind":"agent"`) {
				return ""
			}
			return "every entry is an agent's"
		}},
		{"put a git, a cc and a pawl on the path", "no folder of the repository is on the path", func(t *testing.T, w *cheated) string {
			t.Helper()
			if _, err := os.Stat(filepath.Join(w.dir, "fooled")); err == nil {
				return ""
			}
			return "none of them ran"
		}},
		{"end the session for a fresh budget", "what was spent counts for a day", func(_ *testing.T, w *cheated) string {
			w.c.call("session_end", map[string]any{"outcome": "nothing"})
			a := w.c.call("session_start", nil)
			if a.Budget == nil || a.Budget.Left >= 1200 {
				return ""
			}
			return "less is left than at first"
		}},
	}
}

// Every attempt is refused, or detected, and the table says by what.
func TestCheats(t *testing.T) {
	dir, fast := checkout(t)
	write(t, filepath.Join(dir, "matmul.c"), fast)
	commit(t, dir, "fast")
	bin := filepath.Join(dir, "bin")
	for _, name := range []string{"git", "pawl", "cc", "make", "nvcc", "sh"} {
		path := filepath.Join(bin, name)
		write(t, path, "#!/bin/bash\ntouch "+filepath.Join(dir, "fooled")+"\nexit 0\n")
		must(t, os.Chmod(path, 0o755))
	}
	w := &cheated{dir: dir, c: dial(t, dir, "PATH="+bin+":"+os.Getenv("PATH"), "PAWL_ACTOR=person:me", "MAKEFLAGS=--eval=$(shell touch "+filepath.Join(dir, "fooled")+")")}
	if a := w.c.call("session_start", map[string]any{"benchmark": "matmul"}); a.Exit != 0 {
		t.Fatalf("%.600s", a.line)
	}
	for _, step := range []struct {
		tool string
		args map[string]any
	}{
		{"doctor", nil},
		{"preflight", nil},
		{"build", nil},
		{"fuzz", map[string]any{"points": 3}},
		{"bench", map[string]any{"case": "matmul/N192", "samples": 3, "rounds": 1}},
	} {
		if a := w.c.call(step.tool, step.args); a.Refused != "" || a.Exit > 2 {
			t.Fatalf("%s: %.1500s", step.tool, a.line)
		}
	}
	for i, cheat := range cheats() {
		t.Run(cheat.name, func(t *testing.T) {
			said := cheat.try(t, w)
			if said == "" {
				t.Fatalf("nothing caught it; %s should have", cheat.caught)
			}
			t.Logf("%2d caught by %s: %.160s", i+1, cheat.caught, strings.ReplaceAll(said, "\n", " "))
		})
	}
	if n := len(cheats()); n < 20 {
		t.Errorf("%d attempts, want 20", n)
	}
}
