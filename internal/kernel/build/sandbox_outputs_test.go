package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a build leaves at the path of an output comes from untrusted code.
func TestSandboxOutputs(t *testing.T) {
	s := sandbox(t)
	for name, test := range map[string]struct {
		command string
		outputs []string
		want    string // in the error; empty when it is fine
	}{
		"a file":                 {"mkdir -p bin && echo made > bin/out", []string{"bin/out"}, ""},
		"a folder":               {"mkdir -p bin/sub && echo made > bin/sub/out", []string{"bin"}, ""},
		"a glob":                 {"mkdir -p bin && echo made > bin/out", []string{"b*/o*"}, ""},
		"an unchanged source":    {"echo made > out", []string{"*"}, ""},
		"no output":              {"true", []string{"out"}, "none of its outputs exist"},
		"a link out":             {"ln -s /etc/passwd out", []string{"out"}, "symbolic link"},
		"a link far out":         {"ln -s ../../../../../../etc/shadow out", []string{"out"}, "symbolic link"},
		"a link to nowhere":      {"ln -s nowhere out", []string{"out"}, "symbolic link"},
		"a link inside":          {"echo made > real && ln -s real out", []string{"out"}, "symbolic link"},
		"a link in a folder":     {"mkdir bin && ln -s /etc/passwd bin/out", []string{"bin"}, "symbolic link"},
		"a link by a glob":       {"ln -s /etc out", []string{"o*"}, "symbolic link"},
		"a linked folder":        {"mkdir real && echo made > real/out && ln -s real bin", []string{"bin/out"}, "symbolic link"},
		"a named pipe":           {"mkfifo out", []string{"out"}, "named pipe"},
		"a device":               {"mknod out b 254 0 2>/dev/null || mkdir out", []string{"out"}, "none of its outputs exist"},
		"git's own":              {"mkdir -p .git/hooks && echo evil > .git/hooks/post-checkout", []string{".git/hooks/post-checkout"}, "it is in a .git folder"},
		"git's own, in capitals": {"mkdir -p .GIT/hooks && echo evil > .GIT/hooks/post-checkout", []string{".GIT/hooks/post-checkout"}, "it is in a .git folder"},
		"above the sources":      {"true", []string{"../../out"}, "outside"},
		"a source":               {"echo evil > k.c", []string{"k.c"}, "one of the sources"},
		"through a tracked link": {"rm hooks && mkdir hooks && echo evil > hooks/post-checkout", []string{"hooks/post-checkout"}, "symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "k.c"), []byte("int k;\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(".git/hooks", filepath.Join(dir, "hooks")); err != nil {
				t.Fatal(err)
			}
			if name == "an unchanged source" || name == "a link by a glob" {
				if err := os.Remove(filepath.Join(dir, "hooks")); err != nil {
					t.Fatal(err)
				}
			}
			commitAll(t, dir)
			before := tree(t, dir)
			_, err := Run(t.Context(), Recipe{Command: test.command, Dir: dir, Outputs: test.outputs, Timeout: time.Minute, Sandbox: s}, nil)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
			for name, text := range tree(t, dir) {
				if old, was := before[name]; was && old != text {
					t.Errorf("%s was changed to %s", name, text)
				} else if !was && (test.want != "" || !strings.Contains(text, "made")) {
					t.Errorf("%s was planted: %s", name, text)
				}
			}
		})
	}
}

// A bit that lets others run a file as its owner does not come out, and an output
// that already exists is replaced.
func TestSandboxOutputModes(t *testing.T) {
	s := sandbox(t)
	dir := sources(t, map[string]string{"k.c": ""})
	for range 2 {
		buildIn(t, s, dir, "echo made > out && chmod 4711 out")
		info, err := os.Lstat(filepath.Join(dir, "out"))
		if err != nil || info.Mode() != 0o755 {
			t.Errorf("its mode is %v (%v), want 0755", info.Mode(), err)
		}
	}
}

// Without git, the folder is the sources, but for what an earlier build made.
func TestSandboxWithoutGit(t *testing.T) {
	s := sandbox(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "k.c"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := buildIn(t, s, dir, "ls > /tmp/list; cp /tmp/list out"); got != "k.c\n" {
			t.Errorf("it sees %q", got)
		}
	}
}
