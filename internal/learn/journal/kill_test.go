package journal_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// childRoot is set for a process that adds to a journal until it is killed.
const childRoot = "PAWL_TEST_JOURNAL"

// TestMain is that process, where it is asked to be.
func TestMain(m *testing.M) {
	if root := os.Getenv(childRoot); root != "" {
		appendForEver(root, os.Args[len(os.Args)-1])
	}
	os.Exit(m.Run())
}

// appendForEver tells every entry on stdout once it is on disk. After some it waits for its
// end, so that a slow test has no long journal.
func appendForEver(root, name string) {
	w, err := journal.Folder{Root: root}.Open()
	for i := 0; err == nil; i++ {
		if i == 12 {
			time.Sleep(time.Hour)
		}
		text := fmt.Sprintf("%s %d %s", name, i, strings.Repeat("x", i*997%3000))
		if err = w.Append(journal.Entry{Actor: robot, Kind: journal.KindNoted, Noted: &journal.Noted{Text: text}}); err == nil {
			fmt.Println(name, i)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Two processes at a time add to one journal and are killed in the middle of it: what they
// were told to be on disk is there, and the journal can be read and added to.
func TestKill(t *testing.T) {
	kills := 50
	if os.Getenv("PAWL_LAB") != "" {
		kills = 200
	}
	root := t.TempDir()
	w := start(t, journal.Folder{Root: root})
	random := rand.New(rand.NewPCG(1, 2))
	told := map[string]bool{}
	for n := 0; n < kills; n += 2 {
		var pair [2]*child
		for i := range pair {
			pair[i] = startChild(t, root, fmt.Sprintf("p%d", n+i))
		}
		for _, c := range pair {
			// After so many lines it is somewhere in the next one.
			for range 1 + random.IntN(6) {
				if !c.lines.Scan() {
					t.Fatalf("kill %d: the process ended by itself", n)
				}
				told[c.lines.Text()] = true
			}
			if err := c.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range pair {
			for c.lines.Scan() { // what it said before it died
				told[c.lines.Text()] = true
			}
			_ = c.cmd.Wait() // it was killed
		}
	}
	s, err := journal.ReadFile(w.Session().Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Entries[1:] {
		words := strings.Fields(e.Noted.Text)
		delete(told, words[0]+" "+words[1])
	}
	if len(told) > 0 {
		t.Errorf("%d entries were on disk and are gone: %v", len(told), told)
	}
	if err := w.End(journal.Ended{Outcome: journal.Lost}, me); err != nil {
		t.Errorf("after %d kills: %v", kills, err)
	}
	t.Logf("%d kills, %d entries", kills, len(s.Entries))
}

type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, root, name string) *child {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], name)
	cmd.Env = append(os.Environ(), childRoot+"="+root)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &child{cmd, bufio.NewScanner(out)}
}
