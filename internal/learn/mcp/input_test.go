package mcp

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tried is a server of a small repository, with a suite in a folder of it.
func tried(t testing.TB, pawl string) *Server {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "kernels")
	for name, text := range map[string]string{"kernels/results/current.json": "{}", "kernels/pawl.yaml": "version: 1\n", "other.json": "{}", ".git/config": "x"} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(Options{Dir: dir, Top: top, Pawl: pawl, Version: "1", Environ: CleanEnviron(os.Environ(), top), State: t.TempDir(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func toolNamed(t testing.TB, name string) Tool {
	t.Helper()
	tools := Tools()
	at := slices.IndexFunc(tools, func(x Tool) bool { return x.Name == name })
	if at < 0 {
		t.Fatalf("there is no tool %s", name)
	}
	return tools[at]
}

func TestArgv(t *testing.T) {
	s := tried(t, "/bin/true")
	for _, c := range []struct {
		tool, in string
		want     []string
	}{
		{"next", ``, []string{"session", "next", "--json"}},
		{"bench", `{"base":"HEAD~1","case":"matmul/N256","rounds":3}`, []string{"bench", "--json", "--case=matmul/N256", "--base=HEAD~1", "--rounds=3"}},
		{"session_note", `{"text":"--override me","fix":"bank-conflicts/1"}`, []string{"session", "note", "--json", "--fix=bank-conflicts/1", "--", "--override me"}},
		{"fuzz", `{"replay":true,"params":"N=65"}`, []string{"fuzz", "--json", "--replay", "--params=N=65"}},
		{"fuzz", `{"replay":false}`, []string{"fuzz", "--json"}},
		{"compare", `{"record":"results/current.json","candidate":"../other.json"}`, []string{"compare", "--json", "--", "results/current.json", "../other.json"}},
		{"tune", `{"case":"matmul/N256","seconds":30,"evaluations":5}`, []string{"tune", "--json", "--evals=5", "--", "matmul/N256"}},
	} {
		got, err := s.argv(toolNamed(t, c.tool), json.RawMessage(c.in))
		if err != nil {
			t.Errorf("%s %s: %v", c.tool, c.in, err)
		} else if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s %s: (-want +got)\n%s", c.tool, c.in, d)
		}
	}
}

func TestArgvRefuses(t *testing.T) {
	s := tried(t, "/bin/true")
	if err := os.Symlink("/etc/passwd", filepath.Join(s.o.Dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(s.o.Dir, "away")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, in string }{
		{"bench", `{"base":"--upload-pack=x"}`},
		{"bench", `{"base":"a..b"}`},
		{"bench", `{"base":"a b"}`},
		{"bench", `{"base":"HEAD@{1}"}`},
		{"bench", `{"base":"/x"}`},
		{"bench", `{"base":"x.lock"}`},
		{"bench", `{"base":"a//b"}`},
		{"bench", `{"base":"$(id)"}`},
		{"bench", `{"base":""}`},
		{"bench", `{"base":"` + strings.Repeat("a", 300) + `"}`},
		{"bench", `{"case":"-x"}`},
		{"bench", `{"case":"a;b"}`},
		{"bench", `{"rounds":0}`},
		{"bench", `{"rounds":1e9}`},
		{"bench", `{"rounds":1.5}`},
		{"bench", `{"rounds":"3"}`},
		{"bench", `{"accept":"x"}`},
		{"bench", `{"trust":"trusted"}`},
		{"bench", `{"out":"x"}`},
		{"bench", `[]`},
		{"next", `{"override":"because"}`},
		{"session_start", `{"seconds":99999}`},
		{"session_note", `{}`},
		{"session_note", `{"text":"a\u001b[31m"}`},
		{"session_note", `{"text":"` + strings.Repeat("a", maxText+1) + `"}`},
		{"session_end", `{"outcome":"won"}`},
		{"compare", `{"record":"/etc/passwd"}`},
		{"compare", `{"record":"../../etc/passwd"}`},
		{"compare", `{"record":"link.json"}`},
		{"compare", `{"record":"away/x.json"}`},
		{"compare", `{"record":"../.git/config"}`},
		{"compare", `{"record":"../.GIT/config"}`},
		{"compare", `{"record":"results"}`},
		{"compare", `{"record":"-rf"}`},
		{"compare", `{"record":"nothing.json"}`},
		{"diagnose", `{"profile":"link.json"}`},
		{"fuzz", `{"against":"sh"}`},
		{"fuzz", `{"params":"N=65;id"}`},
		{"fuzz", `{"tolerance":1}`},
		{"build", `{"arch":"x"}`},
	} {
		got, err := s.argv(toolNamed(t, c.tool), json.RawMessage(c.in))
		if _, ok := errors.AsType[*inputError](err); !ok {
			t.Errorf("%s %s became %q (%v)", c.tool, c.in, got, err)
		}
	}
}

// No tool has a flag that goes past a gate, moves a baseline or names a program.
func TestNoToolCanCheat(t *testing.T) {
	for _, tool := range Tools() {
		line := slices.Clone(tool.words)
		for _, f := range tool.fields {
			line = append(line, f.flag)
		}
		for _, never := range []string{"override", "accept", "reset", "force", "against", "rules", "tool", "trust", "out", "suite", "push", "comment", "no-cache", "clean", "shell", "command", "dir", "review"} {
			if slices.Contains(line, never) {
				t.Errorf("%s can say %s: %q", tool.Name, never, line)
			}
		}
	}
}

// Whatever an agent sends, words of the command line that look like flags are the tool's.
func FuzzArgv(f *testing.F) {
	f.Add(uint8(3), []byte(`{"text":"-x","fix":"--y"}`))
	f.Add(uint8(17), []byte(`{"base":"-x","case":"*"}`))
	s := tried(f, "/bin/true")
	f.Fuzz(func(t *testing.T, n uint8, in []byte) {
		tool := Tools()[int(n)%len(Tools())]
		args, err := s.argv(tool, in)
		if err != nil {
			return
		}
		flags := []string{"--json"}
		for _, f := range tool.fields {
			flags = append(flags, "--"+f.flag)
		}
		for _, w := range args[len(tool.words):] {
			if w == "--" {
				break
			}
			name, _, _ := strings.Cut(w, "=")
			if !slices.Contains(flags, name) {
				t.Fatalf("%q of %s became %q", in, tool.Name, args)
			}
		}
	})
}
