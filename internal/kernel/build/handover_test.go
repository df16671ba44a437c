package build

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// testHost is a machine with its own tools and its own cache.
type testHost struct {
	tools HostTools
	cache *Cache
}

func newHost(t *testing.T, tool string) testHost {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "cc"), tool)
	return testHost{HostTools{Roots: []string{filepath.Join(dir, "cc")}, File: filepath.Join(t.TempDir(), "tools.json")}, &Cache{Dir: t.TempDir()}}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (m testHost) handover(dir string) *Handover { return &Handover{dir, m.tools} }

// make builds and returns the output. A command with a random output shows whether it was built.
func (m testHost) make(t *testing.T, dir, command string, s *Sandbox) (string, Result) {
	t.Helper()
	res, err := Make(t.Context(), Recipe{Command: command, Dir: dir, Outputs: []string{"out"}, Timeout: time.Minute, Sandbox: s, Cache: m.cache}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	return string(text), res
}

const (
	random       = "head -c 8 /dev/urandom | od -An -tx1 >out"
	randomFolder = "{ pwd; head -c 8 /dev/urandom | od -An -tx1; } >out"
)

// edit changes what the only entry of a folder says of its output.
func edit(t *testing.T, folder string, change func(*cachedOutput)) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(folder, "??", "*", "entry.json"))
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var e entry
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	change(&e.Outputs[0])
	if text, err = json.Marshal(e); err != nil {
		t.Fatal(err)
	}
	write(t, paths[0], string(text))
}

func TestHandover(t *testing.T) {
	s := sandbox(t)
	files := map[string]string{"k.c": "int k;", ".gitignore": "out\n"}
	for _, c := range []struct {
		name    string
		command string
		sandbox *Sandbox
		same    bool                            // the second machine builds in the folder of the first one
		between func(t *testing.T, dir string)  // what happens to the folder of builds
		second  func(t *testing.T, m *testHost) // the second machine, if it is not like the first one
		unused  bool                            // the second machine does not use the folder
		want    bool                            // it takes the build
	}{
		{name: "equal tools", command: random, sandbox: s, want: true},
		{name: "other tools", command: random, sandbox: s, second: func(t *testing.T, m *testHost) {
			t.Helper()
			write(t, m.tools.Roots[0], "cd")
		}, unused: true},
		{name: "not in the sandbox: it could have read anything", command: random},
		{name: "the output names its folder, and is in another one", command: randomFolder, sandbox: s},
		{name: "the output names its folder, and is in the same one", command: randomFolder, sandbox: s, same: true, want: true},
		{name: "a damaged build", command: random, sandbox: s, between: func(t *testing.T, dir string) {
			t.Helper()
			outputs, _ := filepath.Glob(filepath.Join(dir, "??", "*", "0"))
			write(t, outputs[0], "something else")
		}},
		{name: "a build under another key", command: random, sandbox: s, between: func(t *testing.T, dir string) {
			t.Helper()
			entries, _ := filepath.Glob(filepath.Join(dir, "??", "*"))
			if err := os.Rename(entries[0], filepath.Join(filepath.Dir(entries[0]), strings.Repeat("0", 64))); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "an output that was not declared", command: random, sandbox: s, between: func(t *testing.T, dir string) {
			t.Helper()
			edit(t, dir, func(o *cachedOutput) { o.Path = "other" })
		}},
		{name: "a file of git", command: random, sandbox: s, between: func(t *testing.T, dir string) {
			t.Helper()
			edit(t, dir, func(o *cachedOutput) { o.Path = ".git/config" })
		}},
		{name: "a source", command: random, sandbox: s, between: func(t *testing.T, dir string) {
			t.Helper()
			edit(t, dir, func(o *cachedOutput) { o.Path = "k.c" })
		}},
		{name: "a log without end", command: random, sandbox: s, between: func(t *testing.T, dir string) {
			t.Helper()
			logs, _ := filepath.Glob(filepath.Join(dir, "??", "*", "log"))
			if err := os.Truncate(logs[0], 1<<33); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "tools that were not read here", command: random, sandbox: s, second: func(t *testing.T, m *testHost) {
			t.Helper()
			m.tools.File = ""
		}, unused: true},
		{name: "a folder that was not finished", command: random, sandbox: s, between: func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, toolsFile)); err != nil {
				t.Fatal(err)
			}
		}, unused: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, folder, repo := newHost(t, "cc"), t.TempDir(), sources(t, files)
			h := first.handover(folder)
			if err := h.Fill(t.Context(), first.cache); err != nil {
				t.Fatal(err)
			}
			built, _ := first.make(t, repo, c.command, c.sandbox)
			if err := h.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c.between != nil {
				c.between(t, folder)
			}
			second := testHost{first.tools, &Cache{Dir: t.TempDir()}}
			if c.second != nil {
				c.second(t, &second)
			}
			if _, err := second.tools.Digest(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := second.handover(folder).Use(t.Context(), second.cache); (err != nil) != c.unused {
				t.Fatalf("used: %v", err)
			}
			if !c.same {
				repo = sources(t, files)
			}
			got, res := second.make(t, repo, c.command, c.sandbox)
			if (got == built) != c.want || res.Cached != c.want || res.Facts.Elsewhere != c.want {
				t.Errorf("the first built %q, the second has %q, cached %v, built elsewhere %v; want it taken: %v", built, got, res.Cached, res.Facts.Elsewhere, c.want)
			}
			if n, _ := second.cache.Size(); c.want && n != 0 {
				t.Errorf("%d builds of another machine are in the cache of this one", n)
			}
		})
	}
}

func TestHandover_ToolsChangedDuringTheBuild(t *testing.T) {
	m, folder := newHost(t, "cc"), t.TempDir()
	h := m.handover(folder)
	if err := h.Fill(t.Context(), m.cache); err != nil {
		t.Fatal(err)
	}
	write(t, m.tools.Roots[0], "cd")
	if err := h.Finish(t.Context()); err == nil {
		t.Error("finished")
	}
	if err := h.Use(t.Context(), &Cache{Dir: t.TempDir()}); err == nil {
		t.Error("used")
	}
}

// A build in the cache is handed over only if it was made with the tools that the folder names: a key has the
// compilers, and not the headers.
func TestHandover_BuildsFromTheCacheToo(t *testing.T) {
	s := sandbox(t)
	m, repo := newHost(t, "cc"), sources(t, map[string]string{"k.c": "int k;", ".gitignore": "out\n"})
	filled := func() string {
		t.Helper()
		folder := t.TempDir()
		if err := m.handover(folder).Fill(t.Context(), m.cache); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	before, _ := m.make(t, repo, random, s) // with tools that are not known
	filled()
	first, _ := m.make(t, repo, random, s)
	folder := filled()
	if again, res := m.make(t, repo, random, s); first == before || again != first || !res.Cached {
		t.Fatalf("%q, then %q, then %q", before, first, again)
	}
	if n, _ := (&Cache{Dir: folder}).Size(); n != 1 {
		t.Errorf("%d builds in the folder, want 1", n)
	}
	write(t, m.tools.Roots[0], "cd")
	filled()
	if after, res := m.make(t, repo, random, s); after == first || res.Cached {
		t.Errorf("%q with new tools, %q with the old ones", after, first)
	}
}

// Outputs on a path through a link could be anywhere in the sources. Builds in the sandbox cannot make them either.
func TestHandover_NothingBehindALink(t *testing.T) {
	repo := sources(t, map[string]string{"k.c": "int k;"})
	if err := os.Symlink(".git", filepath.Join(repo, "out")); err != nil {
		t.Fatal(err)
	}
	r := Recipe{Dir: repo, Outputs: []string{"out"}, Cache: &Cache{Dir: t.TempDir()}}
	before, err := r.snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.mayWrite(&entry{Outputs: []cachedOutput{{Path: "out/config"}}}, before) {
		t.Error("out/config may be written, and out is a link to .git")
	}
	if !r.mayWrite(&entry{Outputs: []cachedOutput{{Path: "out"}}}, before) {
		t.Error("out itself may not be replaced")
	}
}

func TestHostTools_Digest(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string) error
		equal  bool
	}{
		{"nothing", func(*testing.T, string) error { return nil }, true},
		{"content of the same size", func(_ *testing.T, dir string) error { return os.WriteFile(dir+"/usr/include/a.h", []byte("b"), 0o644) }, false},
		{"a new header", func(_ *testing.T, dir string) error { return os.WriteFile(dir+"/usr/include/b.h", nil, 0o644) }, false},
		{"a header less", func(_ *testing.T, dir string) error { return os.Remove(dir + "/usr/include/a.h") }, false},
		{"a mode", func(_ *testing.T, dir string) error { return os.Chmod(dir+"/usr/include/a.h", 0o755) }, false},
		{"the target of a link", func(_ *testing.T, dir string) error { return relink(dir+"/usr/cuda", "cuda-13") }, false},
		{"behind a root that is a link", func(_ *testing.T, dir string) error { return os.WriteFile(dir+"/real/x", []byte("y"), 0o644) }, false},
		{"only a time", func(_ *testing.T, dir string) error {
			return os.Chtimes(dir+"/usr/include/a.h", time.Time{}, time.Now())
		}, true},
		{"a module that Python compiled", func(t *testing.T, dir string) error {
			t.Helper()
			write(t, dir+"/usr/lib/__pycache__/m.pyc", "")
			return nil
		}, true},
		{"what builds do not see", func(_ *testing.T, dir string) error { return os.WriteFile(dir+"/usr/home/x", nil, 0o644) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir+"/usr/include/a.h", "a")
			write(t, dir+"/usr/home/secret", "")
			write(t, dir+"/usr/lib/m.py", "")
			write(t, dir+"/real/x", "x")
			for name, target := range map[string]string{"usr/cuda": "cuda-12", "opt": "real"} {
				if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			tools := HostTools{Roots: []string{dir + "/usr", dir + "/usr/include", dir + "/opt", dir + "/missing"}, Private: []string{dir + "/usr/home"}, File: dir + "/kept"}
			before, err := tools.Digest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := c.change(t, dir); err != nil {
				t.Fatal(err)
			}
			after, err := tools.Digest(t.Context())
			if err != nil || (after == before) != c.equal {
				t.Errorf("%s, then %s, %v", before, after, err)
			}
			tools.File = ""
			if fresh, err := tools.Digest(t.Context()); err != nil || fresh != after {
				t.Errorf("kept %s, computed anew %s, %v", after, fresh, err)
			}
		})
	}
}

func relink(path, target string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

// Contents are read again only if a size or a time changed: what is kept answers otherwise.
func TestHostTools_KeepsItsDigest(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/usr/a", "a")
	tools := HostTools{Roots: []string{dir + "/usr"}, File: dir + "/cache/kept"}
	unread := func(step string) {
		t.Helper()
		if digest, err := tools.Kept(t.Context()); !errors.Is(err, ErrToolsUnread) {
			t.Errorf("%s: %q, %v", step, digest, err)
		}
	}
	unread("never read")
	first, err := tools.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := tools.Kept(t.Context()); kept != first || err != nil {
		t.Fatalf("kept %q, %v, want %s", kept, err, first)
	}
	text, err := os.ReadFile(tools.File)
	if err != nil {
		t.Fatal(err)
	}
	write(t, tools.File, strings.Replace(string(text), first, "as it was kept", 1))
	if again, err := tools.Digest(t.Context()); err != nil || again != "as it was kept" {
		t.Errorf("%s, %v", again, err)
	}
	write(t, dir+"/usr/b", "")
	unread("a new file")
	if now, err := tools.Digest(t.Context()); err != nil || now == first || now == "as it was kept" {
		t.Errorf("after a change: %s, %v", now, err)
	}
}
