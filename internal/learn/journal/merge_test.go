package journal_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
)

// work is what one piece of work leaves for git: files by path.
type work map[string]string

// Two people who work at the same time, from any state they share, never meet in a merge:
// every file has a name of its own or is the same. The files are real ones, and git merges.
func TestMerges(t *testing.T) {
	git(t, ".", "", "version")
	const merges, pool = 100, 10
	pieces := [2][]work{}
	for who, name := range []string{"Ada", "Grace"} {
		for i := range pool {
			pieces[who] = append(pieces[who], workOf(t, name, i))
		}
	}
	repo := t.TempDir()
	git(t, repo, "", "init", "-q", "--bare", ".")
	random := rand.New(rand.NewPCG(3, 4))
	var stream strings.Builder
	for n := range merges {
		// Some of both is shared, then each goes on alone, in any number of commits.
		shared := work{}
		from := [2]int{random.IntN(pool), random.IntN(pool)}
		for who := range pieces {
			for _, w := range pieces[who][:from[who]] {
				shared = joined(shared, w)
			}
		}
		fmt.Fprintf(&stream, "commit refs/heads/base%d\n%s%s", n, commitHead, filesOf(shared))
		for who := range pieces {
			branch := fmt.Sprintf("refs/heads/p%d-%d", who, n)
			fmt.Fprintf(&stream, "reset %s\nfrom refs/heads/base%d\n\n", branch, n)
			own := pieces[who][from[who]:]
			random.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
			for _, w := range own[:1+random.IntN(min(3, len(own)))] {
				fmt.Fprintf(&stream, "commit %s\n%s%s", branch, commitHead, filesOf(w))
			}
		}
	}
	git(t, repo, stream.String(), "fast-import", "--quiet")
	for n := range merges {
		git(t, repo, "", "merge-tree", "--write-tree", "--messages", fmt.Sprintf("p0-%d", n), fmt.Sprintf("p1-%d", n))
	}
}

const commitHead = "committer Test <test@example.com> 1700000000 +0000\ndata 1\nx\n"

// joined puts two pieces of work together; a file that both have must be the same.
func joined(a, b work) work {
	out := work{}
	for _, w := range []work{a, b} {
		maps.Copy(out, w)
	}
	return out
}

func filesOf(w work) string {
	var b strings.Builder
	for name, text := range w {
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
	}
	b.WriteString("\n")
	return b.String()
}

// workOf is a session that ended, with a lesson and a review of it: all that git would see.
func workOf(t *testing.T, name string, i int) work {
	t.Helper()
	root := t.TempDir()
	by := journal.Actor{Kind: journal.Person, Name: name}
	// Both begin in the same second: the names must differ all the same.
	now := noon.Add(time.Duration(i) * time.Second)
	f := journal.Folder{Root: root, Now: func() time.Time { return now }}
	w, err := f.Start(journal.Started{Goal: "faster", Benchmark: "matmul"}, by)
	if err == nil {
		err = w.Append(note(fmt.Sprint("idea ", i)))
	}
	if err == nil {
		err = w.End(journal.Ended{Outcome: journal.Nothing}, by)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &lesson.Lesson{
		Title: "Pad the tile", Symptom: "changed > 1", Class: "method", Cause: "too few warps", Fix: fmt.Sprintf("take %d", i),
		Source: []string{"session " + w.Session().ID}, Author: name, Written: now,
	}
	lessons := lesson.Folder{Root: root}
	if _, err := lessons.Add(l); err != nil {
		t.Fatal(err)
	}
	if _, err := lessons.Review(lesson.Review{Lesson: l.Name, State: lesson.Confirmed, Reason: "seen", By: name, Time: now}); err != nil {
		t.Fatal(err)
	}
	files := work{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == "open" { // as .gitignore says
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

func git(t *testing.T, dir, in string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
}
