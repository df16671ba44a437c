package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// writerVar makes the test binary play another pawl that writes to a ledger.
const writerVar = "PAWL_LEDGER_TEST_WRITER"

// writer is what such a process does: it appends entries named after itself, one
// after the other, and prints the name of each that it was told is kept.
type writer struct {
	Name    string
	Dir     string
	Branch  string
	Entries int  // 0: until it is killed
	Slow    bool // it writes a few bytes at a time
}

func TestMain(m *testing.M) {
	// What the machine's own git is told must not matter, not even who commits.
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull, "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	if told := os.Getenv(writerVar); told != "" {
		if err := write(told); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func write(told string) error {
	var w writer
	if err := json.Unmarshal([]byte(told), &w); err != nil {
		return err
	}
	ctx := context.Background()
	l, err := ledger.Open(ctx, ledger.Location{Dir: w.Dir, Branch: w.Branch, Wait: jitter(uint64(os.Getpid()))})
	if err != nil {
		return err
	}
	if w.Slow {
		ledger.WriteSlowly(16, 50*time.Microsecond)
	}
	fmt.Println("ready")
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	for i := 0; w.Entries == 0 || i < w.Entries; i++ {
		name := fmt.Sprintf("%s/%d", w.Name, i)
		if err := appendTo(ctx, l, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println(name)
	}
	return nil
}

// start runs a writer; it begins when its input is written to.
func (w writer) start(t *testing.T) (cmd *exec.Cmd, in io.Writer, out io.Reader) {
	t.Helper()
	told, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), writerVar+"="+string(told))
	cmd.Stderr = os.Stderr
	input, inErr := cmd.StdinPipe()
	output, outErr := cmd.StdoutPipe()
	if inErr != nil || outErr != nil {
		t.Fatal(inErr, outErr)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, input, output
}

func jitter(seed uint64) func(time.Duration) time.Duration {
	rng := rand.New(rand.NewPCG(seed, 1))
	return func(most time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(most) + 1)) }
}

func open(t testing.TB, w ledger.Location) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// first is the first measurement of a case.
func first(name string) ratchet.Entry {
	return ratchet.Entry{
		Kind: ratchet.KindMeasured, Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Case: name, Commit: strings.Repeat("ab", 20),
		Testbed: ratchet.NewTestbed(measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4"}, measure.TimerDevice),
		Session: &ratchet.Session{Run: ratchet.RunRef{ID: name}, Unit: "ns", Rounds: []float64{1000, 1001}},
	}
}

func appendTo(ctx context.Context, l *ledger.Ledger, name string) error {
	_, err := l.Append(ctx, func(ledger.State) ([]ratchet.Entry, error) { return []ratchet.Entry{first(name)}, nil })
	return err
}

func add(t testing.TB, l *ledger.Ledger, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := appendTo(t.Context(), l, name); err != nil {
			t.Fatal(err)
		}
	}
}

// cases are what the entries of a ledger are about, in order.
func cases(t testing.TB, l *ledger.Ledger) []string {
	t.Helper()
	state, err := l.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, e := range state.Entries {
		list = append(list, e.Case)
	}
	return list
}

func verify(t testing.TB, l *ledger.Ledger) ledger.Report {
	t.Helper()
	r, err := l.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var git = testrun.Git

// newRepository is one with a commit, as a user has.
func newRepository(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	git(t, dir, "init", "--quiet")
	put(t, filepath.Join(dir, "kernel.cu"), "__global__ void k() {}\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "begin")
	return dir
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// recompute changes a ledger and computes all hashes anew, as someone who knows the
// format would.
func recompute(t testing.TB, text, old, next string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("there is no %q to change", old)
	}
	entries, _ := ratchet.Inspect([]byte(strings.Replace(text, old, next, 1)))
	lines, _, err := ratchet.Head{}.Seal(entries)
	if err != nil {
		t.Fatal(err)
	}
	if _, faults := ratchet.Inspect(lines); len(faults) > 0 || bytes.Equal(lines, []byte(text)) {
		t.Fatalf("the forgery is bad: %v", faults)
	}
	return string(lines)
}
