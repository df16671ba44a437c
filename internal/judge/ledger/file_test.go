package ledger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/ratchet"
)

func TestAnEmptyLedger(t *testing.T) {
	t.Parallel()
	l := open(t, ledger.Location{Dir: t.TempDir()})
	if got := cases(t, l); len(got) != 0 {
		t.Errorf("it holds %v", got)
	}
	if r := verify(t, l); !r.OK() || r.Entries != 0 {
		t.Errorf("the check found %+v", r)
	}
}

func TestAppendAndRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, ledger.Location{Dir: dir, File: "perf/baselines.jsonl"})
	add(t, l, "a", "b")
	sealed, err := l.Append(t.Context(), func(s ledger.State) ([]ratchet.Entry, error) {
		if len(s.Entries) != 2 || len(s.Baselines.All()) != 2 {
			t.Errorf("the state is %+v", s)
		}
		return []ratchet.Entry{first("c"), first("d")}, nil
	})
	if err != nil || len(sealed) != 2 || sealed[1].Seq != 4 || sealed[1].Prev != sealed[0].Hash {
		t.Fatalf("appended %+v: %v", sealed, err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, cases(t, l)); diff != "" {
		t.Error(diff)
	}
	if text := get(t, filepath.Join(dir, "perf/baselines.jsonl")); strings.Count(text, "\n") != 4 {
		t.Errorf("the file holds:\n%s", text)
	}
}

// What contradicts the ledger, or what the caller could not decide, changes nothing.
func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, ledger.Location{Dir: dir})
	add(t, l, "a")
	before := get(t, filepath.Join(dir, ledger.DefaultFile))
	wrong := errors.New("wrong")
	for name, next := range map[string]func(ledger.State) ([]ratchet.Entry, error){
		"the same again":  func(ledger.State) ([]ratchet.Entry, error) { return []ratchet.Entry{first("a")}, nil },
		"good, then bad":  func(ledger.State) ([]ratchet.Entry, error) { return []ratchet.Entry{first("b"), first("b")}, nil },
		"no entry at all": func(ledger.State) ([]ratchet.Entry, error) { return []ratchet.Entry{{}}, nil },
		"an error":        func(ledger.State) ([]ratchet.Entry, error) { return []ratchet.Entry{first("b")}, wrong },
	} {
		if _, err := l.Append(t.Context(), next); err == nil || name == "an error" && !errors.Is(err, wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sealed, err := l.Append(t.Context(), func(ledger.State) ([]ratchet.Entry, error) { return nil, nil }); err != nil || sealed != nil {
		t.Errorf("nothing to add: %v, %v", sealed, err)
	}
	if after := get(t, filepath.Join(dir, ledger.DefaultFile)); after != before {
		t.Errorf("the file has changed:\n%s", after)
	}
}

// Somebody writes between our reading and our writing: we are asked again, with what
// they wrote.
func TestAConflictAsksAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := open(t, ledger.Location{Dir: dir}), open(t, ledger.Location{Dir: dir})
	var seen []int
	_, err := one.Append(t.Context(), func(s ledger.State) ([]ratchet.Entry, error) {
		seen = append(seen, len(s.Entries))
		if len(seen) <= 3 {
			add(t, other, fmt.Sprint("other", len(seen)))
		}
		return []ratchet.Entry{first("one")}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3}, seen); diff != "" {
		t.Errorf("the states that were seen: %s", diff)
	}
	if diff := cmp.Diff([]string{"other1", "other2", "other3", "one"}, cases(t, one)); diff != "" {
		t.Error(diff)
	}
	if r := verify(t, one); !r.OK() {
		t.Error(r)
	}
}

// Whoever is always too late is told so in the end.
func TestAConflictEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := open(t, ledger.Location{Dir: dir}), open(t, ledger.Location{Dir: dir})
	n := 0
	_, err := one.Append(t.Context(), func(ledger.State) ([]ratchet.Entry, error) {
		n++
		add(t, other, fmt.Sprint(n))
		return []ratchet.Entry{first("one")}, nil
	})
	if err == nil || !strings.Contains(err.Error(), "fewer writers") {
		t.Errorf("after %d tries: %v", n, err)
	}
}

// Two processes at once lose nothing in 200 tries each.
func TestTwoWritersOfAFile(t *testing.T) {
	t.Parallel()
	tries := testrun.Times(30, 200)
	dir := t.TempDir()
	var outs []io.Reader
	var ins []io.Writer
	for _, name := range []string{"a", "b"} {
		cmd, in, out := writer{Name: name, Dir: dir, Entries: tries}.start(t)
		defer func() {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}()
		reader := bufio.NewReader(out)
		if line, err := reader.ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatal(line, err)
		}
		ins, outs = append(ins, in), append(outs, reader)
	}
	for _, in := range ins {
		if _, err := in.Write([]byte{'\n'}); err != nil {
			t.Fatal(err)
		}
	}
	for _, out := range outs {
		if _, err := io.Copy(io.Discard, out); err != nil {
			t.Fatal(err)
		}
	}
	l := open(t, ledger.Location{Dir: dir})
	got := cases(t, l)
	for _, name := range []string{"a", "b"} {
		var mine, want []string
		for _, c := range got {
			if strings.HasPrefix(c, name+"/") {
				mine = append(mine, c)
			}
		}
		for i := range tries {
			want = append(want, fmt.Sprintf("%s/%d", name, i))
		}
		if diff := cmp.Diff(want, mine); diff != "" {
			t.Errorf("writer %s: %s", name, diff)
		}
	}
	if r := verify(t, l); !r.OK() || r.Entries != 2*tries {
		t.Errorf("the check found %+v", r)
	}
}

// A writer that is killed at any moment loses nothing that it was told is kept, and
// does not get in the way of the next.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	tries := testrun.Times(20, 100)
	rng := rand.New(rand.NewPCG(7, 7))
	dir, torn := t.TempDir(), 0
	for try := 0; try < tries || torn == 0 && try < 100*tries; try++ { // a busy machine may need more
		kept := killAWriter(t, writer{Name: fmt.Sprint("try", try), Dir: dir, Slow: true}, time.Duration(rng.IntN(20))*time.Millisecond)
		if text := get(t, filepath.Join(dir, ledger.DefaultFile)); !strings.HasSuffix(text, "\n") {
			torn++
		}
		checkKept(t, open(t, ledger.Location{Dir: dir}), kept, fmt.Sprint("next", try))
	}
	t.Logf("%d writers were killed inside a line", torn)
	if torn == 0 {
		t.Error("no writer was killed inside a line: the test shows nothing")
	}
}

// killAWriter lets a writer write at least once, kills it, and tells what it was
// told is kept.
func killAWriter(t *testing.T, w writer, after time.Duration) []string {
	t.Helper()
	cmd, in, out := w.start(t)
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the writer says %q", lines.Text())
	}
	if _, err := in.Write([]byte{'\n'}); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for lines.Scan() {
		if kept = append(kept, lines.Text()); len(kept) == 1 {
			time.Sleep(after)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
	return kept
}

// checkKept says what a ledger has lost, and whether it can go on.
func checkKept(t *testing.T, l *ledger.Ledger, kept []string, next string) {
	t.Helper()
	got := cases(t, l)
	for _, name := range kept {
		if !slices.Contains(got, name) {
			t.Errorf("%s was kept, and is lost", name)
		}
	}
	add(t, l, next)
	if r := verify(t, l); !r.OK() {
		t.Errorf("after a kill: %+v", r)
	}
}

// The same at every byte: a line that was cut anywhere does no harm to those before
// it, nor to the next writer.
func TestTornLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, ledger.DefaultFile)
	l := open(t, ledger.Location{Dir: dir})
	add(t, l, "a", "b", "c")
	text := get(t, path)
	step := testrun.Times(13, 1)
	second := strings.Index(text, "\n") + 1
	for cut := second; cut <= len(text); cut += step {
		put(t, path, text[:cut])
		whole := strings.Count(text[:cut], "\n")
		if cut < len(text) && text[cut] == '\n' { // only the newline is missing
			whole++
		}
		want := []string{"a", "b", "c"}[:whole]
		if diff := cmp.Diff(want, cases(t, l)); diff != "" {
			t.Fatalf("cut at byte %d: %s", cut, diff)
		}
		add(t, l, "next")
		if diff := cmp.Diff(append(slices.Clone(want), "next"), cases(t, l)); diff != "" {
			t.Fatalf("cut at byte %d, then written: %s", cut, diff)
		}
		if after := get(t, path); !strings.HasPrefix(after, text[:cut]) && whole == strings.Count(text[:cut], "\n") && !strings.HasPrefix(after, strings.Join(strings.SplitAfter(text, "\n")[:whole], "")) {
			t.Fatalf("cut at byte %d: what was whole has changed", cut)
		}
		if r := verify(t, l); !r.OK() || len(r.Problems) > 0 {
			t.Fatalf("cut at byte %d: %+v", cut, r)
		}
	}
}

// What stands behind a whole last line was not left by a killed writer. It is not
// cut away, but told.
func TestWhatIsNotTorn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, ledger.DefaultFile)
	l := open(t, ledger.Location{Dir: dir})
	add(t, l, "a", "b")
	text := get(t, path)
	for _, changed := range []string{strings.TrimSuffix(text, "\n") + "\v", text[:len(text)-1] + " ", strings.TrimSuffix(text, "\"}\n") + "0\"}x"} {
		put(t, path, changed)
		if err := appendTo(t.Context(), l, "c"); !errors.Is(err, ledger.ErrChanged) {
			t.Errorf("appended to %q: %v", changed[len(changed)-10:], err)
		}
		if got := get(t, path); got != changed {
			t.Errorf("%q was changed to %q", changed, got)
		}
		if r := verify(t, l); r.OK() {
			t.Errorf("the check has nothing to say of %q", changed[len(changed)-10:])
		}
	}
}

func TestAChangedLedgerIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, ledger.DefaultFile)
	l := open(t, ledger.Location{Dir: dir})
	add(t, l, "a", "b")
	put(t, path, strings.Replace(get(t, path), "1001", "1002", 1))
	if _, err := l.Read(t.Context()); !errors.Is(err, ledger.ErrChanged) || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("read: %v", err)
	}
	if err := appendTo(t.Context(), l, "c"); !errors.Is(err, ledger.ErrChanged) {
		t.Errorf("append: %v", err)
	}
	r := verify(t, l)
	if len(r.Problems) != 1 || r.Problems[0].Line != 1 {
		t.Errorf("the check found %v", r.Problems)
	}
}

// A ledger is a file below its folder, and nothing else.
func TestFilesThatAreNoLedger(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../out.jsonl", "/etc/ledger", ".", "a/../.."} {
		if _, err := ledger.Open(t.Context(), ledger.Location{Dir: t.TempDir(), File: name}); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "pipe"} {
		if err := appendTo(t.Context(), open(t, ledger.Location{Dir: dir, File: name}), "a"); err == nil {
			t.Errorf("written to a %s", name)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a link led out of the folder")
	}
}

// Whoever waits for another writer can be called off.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := open(t, ledger.Location{Dir: dir})
		add(t, l, "a")
		held, err := os.OpenFile(filepath.Join(dir, ledger.DefaultFile), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := appendTo(ctx, l, "b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for a lock: %v", err)
		}
		if got := cases(t, l); len(got) != 1 {
			t.Errorf("the ledger holds %v", got)
		}
	})
}
