package redteam

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// attack is one change that cheats, or tries to. Those of a level and a path stand in one file
// of testdata/attacks; comments at the beginning of each say what it is.
type attack struct {
	name, level, path string
	what              string   // it does
	caught            string   // by which defence
	says              []string // one of which pawl's words must contain
	file              string   // which of the base's files it replaces; none if it only edits
	edits             []edit   // of other files
	base              []edit   // of the base, before it is committed
	main              []edit   // of the main branch, committed after a baseline was recorded; the attack comes after them
	open              string   // what pawl says today of an attack that still gets through
	args              []string // of pawl run; --fuzz 0 unless the attack says otherwise
	neutral           string   // why it may pass: it does no wrong, and gains nothing
	short             bool     // among the few of every CI run
	user              bool     // works only where pawl is not root
	text              []byte
}

// edit replaces text of a file; without from, it writes the file.
type edit struct{ file, from, to string }

func (e edit) apply(t testing.TB, dir string) {
	t.Helper()
	path, text := filepath.Join(dir, e.file), e.to
	if e.from != "" {
		was, err := os.ReadFile(path)
		must(t, err)
		if !strings.Contains(string(was), e.from) {
			t.Fatalf("%s has no %q to replace", e.file, e.from)
		}
		text = strings.ReplaceAll(string(was), e.from, e.to)
	}
	write(t, path, []byte(text))
}

// attacks reads all of them.
func attacks(t *testing.T) []attack {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "attacks", "*.txtar"))
	must(t, err)
	var list []attack
	for _, path := range files {
		archive, err := txtar.ParseFile(path)
		must(t, err)
		level, where, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".txtar"), "_")
		for _, f := range archive.Files {
			a := attack{name: f.Name, level: level, path: where, args: []string{"--fuzz", "0"}, text: f.Data}
			a.readComments(t)
			list = append(list, a)
		}
	}
	return list
}

// readComments takes the facts from the comments at the head of an attack's text.
func (a *attack) readComments(t *testing.T) {
	t.Helper()
	lines := strings.Split(string(a.text), "\n")
	n := 0
	for ; n < len(lines) && strings.HasPrefix(lines[n], "// "); n++ {
		key, value, _ := strings.Cut(strings.TrimPrefix(lines[n], "// "), ": ")
		switch key {
		case "what":
			a.what = value
		case "caught":
			a.caught = value
		case "says":
			a.says = strings.Split(value, " / ")
		case "neutral":
			a.neutral = value
		case "file":
			a.file = value
		case "args":
			a.args = strings.Fields(value)
		case "short":
			a.short = true
		case "root":
			a.user = true
		case "open":
			a.open = value
		case "edit":
			a.edits = append(a.edits, readEdit(t, value))
		case "base":
			a.base = append(a.base, readEdit(t, value))
		case "main":
			a.main = append(a.main, readEdit(t, value))
		default:
			t.Fatalf("%s: nothing is known of %q", a.name, key)
		}
	}
	if a.what == "" || a.neutral == "" && a.open == "" && (a.caught == "" || len(a.says) == 0) {
		t.Fatalf("%s: what it does, what catches it and what is said then belong in its first lines", a.name)
	}
	if a.file == "" && strings.TrimSpace(strings.Join(lines[n:], "")) != "" {
		a.file = "kernel.c"
		if a.path == "opencl" {
			a.file = "kernel.cl"
		}
	}
}

// readEdit reads "FILE: OLD => NEW", or "FILE: TEXT" of a new file. ¶ stands for a newline.
func readEdit(t *testing.T, text string) edit {
	t.Helper()
	file, change, ok := strings.Cut(strings.ReplaceAll(text, "¶", "\n"), ": ")
	if !ok {
		t.Fatalf("want FILE: OLD => NEW, or FILE: TEXT, not %s", text)
	}
	if from, to, ok := strings.Cut(change, " => "); ok {
		return edit{file, from, to}
	}
	return edit{file, "", change}
}

// change applies the attack to the working tree.
func (a *attack) change(t *testing.T, dir string) {
	t.Helper()
	if a.file != "" {
		write(t, filepath.Join(dir, a.file), a.text)
	}
	for _, e := range a.edits {
		e.apply(t, dir)
	}
}

// drift records a baseline of the base, and commits further edits on the main branch.
func (a *attack) drift(t *testing.T, dir string) {
	t.Helper()
	if len(a.main) == 0 {
		return
	}
	got := judge(t, dir, "--trust", a.level, "--fuzz", "0", "--main", "--force-measure")
	if _, err := os.Stat(filepath.Join(dir, "pawl.baselines.jsonl")); err != nil {
		t.Fatalf("no baseline was recorded:\n%s", got.Said)
	}
	for _, e := range a.main {
		e.apply(t, dir)
	}
	commit(t, dir, "main")
}

// inCI leaves a test out unless it is among the few of every CI run, or all are wanted:
// PAWL_REDTEAM names a folder for the tables of docs/lab/redteam.md.
func inCI(t *testing.T, few bool) {
	t.Helper()
	if testing.Short() {
		t.Skip("measures for real")
	}
	if !few && os.Getenv("PAWL_REDTEAM") == "" {
		testrun.NightlyOnly(t)
	}
}

// No attack is green, and each is caught by what is meant to catch it. Open ones still get through:
// closing one replaces open by what catches it.
func TestAttacks(t *testing.T) {
	list := attacks(t)
	rows := make([]string, len(list))
	t.Cleanup(func() { table(t, "attacks.md", rows) })
	for i, a := range list {
		t.Run(a.level+"/"+a.path+"/"+a.name, func(t *testing.T) {
			inCI(t, a.short)
			if a.path == "opencl" {
				needsOpenCL(t)
			}
			if a.user && os.Getuid() == 0 {
				t.Skip("root's processes cannot be read by the guest, which has no capabilities")
			}
			t.Parallel()
			dir := repository(t, a.path, a.base...)
			a.drift(t, dir)
			a.change(t, dir)
			if slices.Contains(a.args, "--main") {
				commit(t, dir, "attack")
			}
			got := judge(t, dir, append([]string{"--trust", a.level}, a.args...)...)
			switch {
			case a.neutral != "":
				if got.Verdict == "improvement" {
					t.Errorf("it gains by it (%s):\n%s", a.what, got.Said)
				}
				t.Logf("%s: %s", got.Verdict, a.neutral)
				return
			case a.open != "":
				t.Logf("open: %s in %.1f s: %s", got.Verdict, got.Took.Seconds(), got.Reason)
				if got.Verdict == "broken" || got.Verdict == "regression" { // no answer may be noise
					t.Errorf("it no longer gets through (%s): say what catches it:\n%s", a.what, got.Said)
				}
				return
			case got.green():
				t.Errorf("it got through (%s):\n%s", a.what, got.Said)
			case !slices.ContainsFunc(a.says, func(s string) bool { return strings.Contains(got.Said, s) }):
				t.Errorf("not green, but pawl does not say %q:\n%s", a.says, got.Said)
			}
			t.Logf("%s in %.1f s: %s", got.Verdict, got.Took.Seconds(), got.Reason)
			rows[i] = fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", a.level, a.path, a.what, a.caught, got.Verdict, cell(got, a.says))
		})
	}
}

// ownPaths are files of one run, which the next has under other names.
var ownPaths = regexp.MustCompile(`'?/(tmp|dev/shm)/[^ :'"]*'?`)

// cell is what pawl said about it, short enough for a table.
func cell(got answer, says []string) string {
	const most = 120
	text := got.Reason
	for line := range strings.SplitSeq(got.Said, "\n") {
		for _, s := range says {
			if at := strings.Index(line, s); at >= 0 && !strings.Contains(text, s) {
				text = line[at:]
			}
		}
	}
	text = ownPaths.ReplaceAllString(text, "FILE")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "Broken: "), "the candidate failed: ")
	short := []rune(strings.ReplaceAll(text, "|", "/"))
	if len(short) > most {
		short = append(short[:most], []rune(" ...")...)
	}
	return string(short)
}

var tables sync.Mutex

// table writes the rows of a table where the lab wants them.
func table(t *testing.T, name string, rows []string) {
	t.Helper()
	dir := os.Getenv("PAWL_REDTEAM")
	rows = slices.DeleteFunc(slices.Clone(rows), func(s string) bool { return s == "" })
	if dir == "" || len(rows) == 0 {
		return
	}
	tables.Lock()
	defer tables.Unlock()
	write(t, filepath.Join(dir, cmp.Or(name, "table.md")), []byte(strings.Join(rows, "\n")+"\n"))
}
