package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// project is a repository with a file k.c in the folder suite, a header beside it,
// and a build that counts how often it ran.
type project struct {
	*testing.T
	root, dir, counter string
	cache              *Cache
}

func newProject(t *testing.T) *project {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t, root, filepath.Join(root, "suite"), filepath.Join(t.TempDir(), "count"), &Cache{Dir: t.TempDir()}}
	p.write("suite/k.c", "one\n")
	p.write("include/k.h", "header\n")
	p.write(".gitignore", "out\n*.o\n")
	p.git("init", "-q")
	p.commit()
	return p
}

func (p *project) write(name, text string) {
	p.Helper()
	at := filepath.Join(p.root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *project) git(args ...string) {
	p.Helper()
	all := append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)
	if _, err := git(p.Context(), p.root, all...); err != nil {
		p.Fatal(err)
	}
}

func (p *project) commit() {
	p.Helper()
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "one")
}

func (p *project) recipe() Recipe {
	return Recipe{
		Command: "echo built >>" + p.counter + "; cat k.c ../include/k.h >out; echo said", Dir: p.dir, Outputs: []string{"out"}, Cache: p.cache,
	}
}

func (p *project) make(r Recipe) Result {
	p.Helper()
	res, err := Make(p.Context(), r, nil)
	if err != nil {
		p.Fatal(err)
	}
	return res
}

func (p *project) built() int {
	b, _ := os.ReadFile(p.counter)
	return strings.Count(string(b), "\n")
}

// wants builds and says whether the build had to run.
func (p *project) wants(r Recipe, cached bool, why string) Result {
	p.Helper()
	before := p.built()
	res := p.make(r)
	if res.Cached != cached || (p.built() == before) != cached {
		p.Errorf("%s: cached %t (%s), want %t", why, res.Cached, res.Note, cached)
	}
	return res
}

func TestWhatMakesABuildAnother(t *testing.T) {
	p := newProject(t)
	r := p.recipe()
	first := p.wants(r, false, "the first build")
	again := p.wants(r, true, "nothing changed")
	if again.Log != "said\n" || first.Facts.Outputs[0] != again.Facts.Outputs[0] || !again.Facts.Cached {
		t.Errorf("from the cache came %+v, built was %+v", again, first)
	}
	if err := os.Remove(filepath.Join(p.dir, "out")); err != nil {
		t.Fatal(err)
	}
	p.wants(r, true, "the output was deleted")
	if b, err := os.ReadFile(filepath.Join(p.dir, "out")); err != nil || string(b) != "one\nheader\n" {
		t.Errorf("restored %q, %v", b, err)
	}

	p.write("suite/k.c", "two\n")
	p.wants(r, false, "a source changed")
	p.write("include/k.h", "other\n")
	p.wants(r, false, "a file outside the suite's folder changed")
	p.write("suite/new.h", "\n")
	p.wants(r, false, "a file that git does not know yet")
	r.Command += " "
	p.wants(r, false, "another command")
	r.Env = []string{"TILE=64"}
	p.wants(r, false, "another variable of the suite's")
	t.Setenv("TILE_OF_THE_SHELL", "8")
	p.wants(r, false, "another variable of the shell's")
	t.Setenv("GITHUB_RUN_ID", "77")
	p.wants(r, true, "the number of a CI job")
	r.Arch = []string{"sm_90"}
	p.wants(r, false, "another architecture")

	p.write("suite/k.c", "one\n")
	p.write("include/k.h", "header\n")
	if err := os.Remove(filepath.Join(p.dir, "new.h")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(p.dir, "out")); string(b) == "one\nheader\n" {
		t.Fatal("the output is that of the sources now, the test shows nothing")
	}
	t.Setenv("TILE_OF_THE_SHELL", "")
	os.Unsetenv("TILE_OF_THE_SHELL")
	p.wants(p.recipe(), true, "back to the first sources")
	if b, _ := os.ReadFile(filepath.Join(p.dir, "out")); string(b) != "one\nheader\n" {
		t.Errorf("restored %q", b)
	}
	r = p.recipe()
	r.Cache = nil
	p.wants(r, false, "without a cache")
	r.Cache, r.Outputs = p.cache, nil
	p.wants(r, false, "without outputs")
}

// The suite may narrow what counts. Of a name that leads nowhere it is told: it may
// be a typing error, by which changes would go unseen.
func TestInputsNarrow(t *testing.T) {
	p := newProject(t)
	r := p.recipe()
	r.Inputs = []string{"../include"}
	p.wants(r, false, "the first build")
	p.write("docs/page.md", "words\n")
	p.wants(r, true, "a file that is no input")
	p.write("include/k.h", "other\n")
	p.wants(r, false, "a file of a named folder")
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "lib.h"), []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.Inputs = []string{"../include", outside}
	p.wants(r, false, "another list")
	p.wants(r, true, "the same list")
	if err := os.WriteFile(filepath.Join(outside, "lib.h"), []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.wants(r, false, "a file outside the repository")
	r.Inputs = []string{"../inclued"}
	if res := p.wants(r, false, "an input that does not exist"); !strings.Contains(res.Note, "inclued, which does not exist") {
		t.Errorf("note %q", res.Note)
	}
	p.write("inclued/k.h", "now it is\n")
	p.wants(r, false, "and then does")
}

func TestWithoutGit(t *testing.T) {
	p := newProject(t)
	if err := os.RemoveAll(filepath.Join(p.root, ".git")); err != nil {
		t.Fatal(err)
	}
	r := p.recipe()
	r.Command = "echo built >>" + p.counter + "; cat k.c >out"
	p.wants(r, false, "the first build")
	p.wants(r, true, "nothing changed")
	p.write("suite/k.c", "two\n")
	p.wants(r, false, "a source changed")
}

// make and ninja take an output for up to date by its time, and cannot see that a
// variable changed. Such an output must not be kept as that of the new one.
func TestStaleOutputIsMadeAnew(t *testing.T) {
	p := newProject(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make here")
	}
	p.write("suite/Makefile", "TILE ?= 32\nout: k.c\n\techo $(TILE) >out\n")
	r := p.recipe()
	r.Command = "make"
	p.make(r)
	r.Env = []string{"TILE=64"}
	res := p.make(r)
	if b, _ := os.ReadFile(filepath.Join(p.dir, "out")); string(b) != "64\n" || res.Cached {
		t.Errorf("built %q", b)
	}
	r.Env = nil
	if res = p.make(r); !res.Cached {
		t.Error("not from the cache")
	}
	if b, _ := os.ReadFile(filepath.Join(p.dir, "out")); string(b) != "32\n" {
		t.Errorf("restored %q", b)
	}
}

// What a build does not make anew is not its output, and keeps its time.
func TestOutputThatIsNotMade(t *testing.T) {
	p := newProject(t)
	p.write("suite/lib.o", "brought along\n")
	then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(p.dir, "lib.o"), then, then); err != nil {
		t.Fatal(err)
	}
	r := p.recipe()
	r.Outputs = []string{"out", "lib.o"}
	if res := p.wants(r, false, "the first build"); !strings.Contains(res.Note, "all its outputs") {
		t.Errorf("note %q", res.Note)
	}
	p.wants(r, false, "it was not kept")
	if info, err := os.Stat(filepath.Join(p.dir, "lib.o")); err != nil || !info.ModTime().Equal(then) {
		t.Errorf("its time is %v, %v", info.ModTime(), err)
	}
	r.Command = "exit 1"
	if _, err := Make(t.Context(), r, nil); err == nil {
		t.Fatal("it should fail")
	}
	if info, err := os.Stat(filepath.Join(p.dir, "lib.o")); err != nil || !info.ModTime().Equal(then) {
		t.Errorf("after a failed build its time is %v, %v", info.ModTime(), err)
	}
}

// A build that goes on from objects of an earlier one is not one of its sources alone.
func TestLeftovers(t *testing.T) {
	p := newProject(t)
	r := p.recipe()
	r.Command = "echo built >>" + p.counter + "; cat k.c >k.o; cat k.o >out"
	p.wants(r, false, "from clean sources")
	p.wants(r, false, "an object is there now, and is written each time")
	if res := p.wants(r, false, "and again"); !strings.Contains(res.Note, "earlier build") {
		t.Errorf("note %q", res.Note)
	}
	if err := os.Remove(filepath.Join(p.dir, "k.o")); err != nil {
		t.Fatal(err)
	}
	p.wants(r, true, "from clean sources once more")
}

// Somebody edits a source while the build runs: nobody knows what came in.
func TestEditWhileBuilding(t *testing.T) {
	p := newProject(t)
	r := p.recipe()
	r.Command += "; echo edited >>k.c"
	p.wants(r, false, "the first build")
	p.write("suite/k.c", "one\n")
	p.wants(r, false, "it must not have been kept")
}

// An output that names its folder is of use only there; others serve every checkout.
func TestOutputsThatNameTheirFolder(t *testing.T) {
	for _, names := range []bool{false, true} {
		p := newProject(t)
		r := p.recipe()
		if names {
			r.Command += "; pwd >>out"
		}
		p.wants(r, false, "the first build")
		p.wants(r, true, "the same folder")
		repo, err := Open(t.Context(), p.root)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := repo.Checkout(t.Context(), "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := tree.Remove(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		r.Dir = filepath.Join(tree.Dir, "suite")
		p.wants(r, !names, "a checkout of the same commit")
	}
}

func TestDamagedEntries(t *testing.T) {
	for name, damage := range map[string]func(string) error{
		"changed output": func(e string) error { return os.WriteFile(filepath.Join(e, "0"), []byte("evil\n"), 0o644) },
		"missing output": func(e string) error { return os.Remove(filepath.Join(e, "0")) },
		"cut head":       func(e string) error { return os.Truncate(filepath.Join(e, "entry.json"), 20) },
		"empty head":     func(e string) error { return os.Truncate(filepath.Join(e, "entry.json"), 0) },
		"missing head":   func(e string) error { return os.Remove(filepath.Join(e, "entry.json")) },
		"changed log":    func(e string) error { return os.WriteFile(filepath.Join(e, "log"), nil, 0o644) },
		"output as folder": func(e string) error {
			return errors.Join(os.Remove(filepath.Join(e, "0")), os.Mkdir(filepath.Join(e, "0"), 0o755))
		},
		"path out of place": func(e string) error {
			return replaceIn(filepath.Join(e, "entry.json"), `"path":"out"`, `"path":"../out"`)
		},
		"a mode of its own": func(e string) error { return replaceIn(filepath.Join(e, "entry.json"), `"mode":420`, `"mode":2541`) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			r := p.recipe()
			p.wants(r, false, "the first build")
			held := p.cache.entries()
			if len(held) != 1 {
				t.Fatalf("the cache holds %d builds", len(held))
			}
			if err := errors.Join(damage(held[0].dir), os.Remove(filepath.Join(p.dir, "out"))); err != nil {
				t.Fatal(err)
			}
			p.wants(r, false, name)
			p.wants(r, true, "after it was built anew")
			if b, err := os.ReadFile(filepath.Join(p.dir, "out")); err != nil || string(b) != "one\nheader\n" {
				t.Errorf("%q, %v", b, err)
			}
			if _, err := os.Stat(filepath.Join(p.root, "out")); !errors.Is(err, fs.ErrNotExist) {
				t.Error("an entry wrote outside the folder")
			}
		})
	}
}

func replaceIn(name, from, to string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !strings.Contains(string(b), from) {
		return errors.New(name + " does not hold " + from)
	}
	return os.WriteFile(name, []byte(strings.ReplaceAll(string(b), from, to)), 0o644)
}

func TestModesAndFolders(t *testing.T) {
	p := newProject(t)
	p.write(".gitignore", "build/\nrun\n")
	p.commit()
	r := p.recipe()
	r.Command = "mkdir -p build/sub; echo 1 >build/sub/a; echo 2 >build/b; chmod 600 build/b; echo '#!/bin/sh' >run; chmod 755 run"
	r.Outputs = []string{"build", "run"}
	p.make(r)
	if err := errors.Join(os.RemoveAll(filepath.Join(p.dir, "build")), os.Remove(filepath.Join(p.dir, "run"))); err != nil {
		t.Fatal(err)
	}
	if res := p.make(r); !res.Cached {
		t.Fatalf("not from the cache: %s", res.Note)
	}
	for name, mode := range map[string]fs.FileMode{"build/sub/a": 0o644, "build/b": 0o600, "run": 0o755} {
		if info, err := os.Stat(filepath.Join(p.dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestEviction(t *testing.T) {
	p := newProject(t)
	p.cache.Limit = 100 << 10
	build := func(n int) Result {
		r := p.recipe()
		r.Env = []string{"N=" + strconv.Itoa(n)}
		r.Command = "head -c 30000 /dev/zero >out"
		return p.make(r)
	}
	for i := range 3 {
		build(i)
	}
	long := time.Now().Add(-time.Hour)
	for _, h := range p.cache.entries() {
		if err := os.Chtimes(filepath.Join(h.dir, "entry.json"), long, long); err != nil {
			t.Fatal(err)
		}
	}
	if !build(0).Cached { // used again, so it is the last to go
		t.Fatal("0 is gone already")
	}
	build(3)
	if n, size := p.cache.Size(); size > p.cache.Limit || n == 0 {
		t.Errorf("%d builds with %d bytes", n, size)
	}
	if !build(0).Cached {
		t.Error("the build that was used last was evicted")
	}
	if err := p.cache.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, size := p.cache.Size(); n != 0 || size != 0 {
		t.Errorf("after cleaning there are %d builds with %d bytes", n, size)
	}
}

// Many at once, of the same and of other builds: each gets its own output, whole.
func TestManyWriters(t *testing.T) {
	p := newProject(t)
	var wg sync.WaitGroup
	for i := range 12 {
		dir := t.TempDir()
		wg.Go(func() {
			n := i % 3
			r := Recipe{
				Command: "head -c 200000 /dev/zero | tr '\\0' " + strconv.Itoa(n) + " >out", Dir: dir, Outputs: []string{"out"}, Cache: p.cache,
			}
			for range 3 {
				_ = os.Remove(filepath.Join(dir, "out"))
				if _, err := Make(context.Background(), r, nil); err != nil {
					t.Error(err)
				}
				if b, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(b) != strings.Repeat(strconv.Itoa(n), 200000) {
					t.Errorf("build %d has %d bytes, %v", n, len(b), err)
				}
			}
		})
	}
	wg.Wait()
	if n, _ := p.cache.Size(); n != 3 {
		t.Errorf("the cache holds %d builds, want 3", n)
	}
	if left, _ := filepath.Glob(filepath.Join(p.cache.Dir, "tmp", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Killed at any moment, a writer leaves a cache that serves right builds or none.
func TestKilledWriter(t *testing.T) {
	if dir := os.Getenv("PAWL_TEST_KILLED_WRITER"); dir != "" {
		c := &Cache{Dir: filepath.Join(dir, "cache")}
		for i := range 1000 {
			r := Recipe{Command: "head -c 3000000 /dev/zero >out", Env: []string{fmt.Sprint("N=", os.Getpid(), i)}, Dir: filepath.Join(dir, "work"), Outputs: []string{"out"}, Cache: c}
			if _, err := Make(t.Context(), r, nil); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "work"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := &Cache{Dir: filepath.Join(dir, "cache")}
	for round := range 12 {
		before := len(c.entries())
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilledWriter$")
		cmd.Env = append(os.Environ(), "PAWL_TEST_KILLED_WRITER="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await.True(t, "a build in the cache", func() bool { return len(c.entries()) > before })
		time.Sleep(time.Duration(23*round) * time.Millisecond)
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}
	builds := c.entries()
	for _, h := range builds {
		into := t.TempDir()
		if _, _, ok := c.restore(filepath.Base(h.dir), into, anyEntry); !ok {
			t.Errorf("%s is damaged", h.dir)
		} else if info, err := os.Stat(filepath.Join(into, "out")); err != nil || info.Size() != 3000000 {
			t.Errorf("%s: %v, %v", h.dir, info, err)
		}
	}
	t.Logf("%d builds were kept by writers that were killed", len(builds))
	unfinished, _ := filepath.Glob(filepath.Join(c.Dir, "tmp", "*"))
	if err := c.evict(time.Now().Add(2 * abandoned)); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.Dir, "tmp", "*")); len(left) > 0 {
		t.Errorf("of %d unfinished entries %d are left", len(unfinished), len(left))
	}
}

func TestMissingTools(t *testing.T) {
	dir := t.TempDir()
	for name, r := range map[string]Recipe{
		"named":  {Command: "true", Dir: dir, Tools: []string{"no-such-compiler"}},
		"called": {Command: "no-such-compiler -c k.c", Dir: dir},
		"script": {Command: "true\nno-such-compiler -c k.c || exit", Dir: dir},
	} {
		_, err := Make(t.Context(), r, io.Discard)
		if e, ok := errors.AsType[*MissingError](err); !ok || e.Tool != "no-such-compiler" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := exec.LookPath("make"); err != nil {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte("all:\n\tno-such-compiler k.c\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Make(t.Context(), Recipe{Command: "make", Dir: dir}, nil)
	if e, ok := errors.AsType[*MissingError](err); !ok || e.Tool != "no-such-compiler" {
		t.Errorf("make: %v", err)
	}
}

func TestTranscriptKeepsBothEnds(t *testing.T) {
	var tr transcript
	_, _ = tr.Write([]byte("first\n"))
	for range 3 {
		_, _ = tr.Write(make([]byte, headBytes))
	}
	_, _ = tr.Write([]byte("last\n"))
	if s := tr.String(); !strings.HasPrefix(s, "first\n") || !strings.HasSuffix(s, "last\n") || len(s) > headBytes+3*tailBytes {
		t.Errorf("%d bytes", len(s))
	}
}
