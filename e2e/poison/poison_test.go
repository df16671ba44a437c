package poison

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/cli"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
	"github.com/goatnote-inc/pawl/measure"
)

var page = flag.String("page", "", "write the table of results to this file")

const (
	forkRepo   = 9009
	memoryMost = 256 << 20
)

var pawl string // the real pawl, for what takes memory

func TestMain(m *testing.M) {
	os.Exit(testrun.WithPawl(m, func(built, _ string) { pawl = built }))
}

// seen is what came of a poison.
type seen struct {
	conclusion forge.Conclusion
	title      string
	report     string // and everything else that is shown on GitHub
	log        string
	memory     int64 // bytes; 0 where it was not looked at
	took       time.Duration
}

func TestPoison(t *testing.T) {
	all := slices.Concat(archives(), texts(), lies(), words())
	if len(all) < 25 {
		t.Fatalf("there are only %d", len(all))
	}
	rows := make([][2]seen, len(all))
	t.Run("all", func(t *testing.T) {
		for i, x := range all {
			t.Run(x.name, func(t *testing.T) {
				t.Parallel()
				archive := x.build(t)
				rows[i][0] = x.send(t, archive, true)
				x.judge(t, rows[i][0], true)
				if !x.big {
					rows[i][1] = x.send(t, archive, false)
					x.judge(t, rows[i][1], false)
				}
			})
		}
	})
	if *page != "" && !t.Failed() {
		writePage(t, *page, all, rows)
	}
}

func (x poison) build(t *testing.T) []byte {
	t.Helper()
	if x.archive != nil {
		return x.archive()
	}
	entries := slices.Clone(x.entries)
	if x.bend != nil || x.slower != nil {
		record := untrustedtest.Record(x.slower)
		if x.bend != nil {
			x.bend(record)
		}
		var b bytes.Buffer
		if err := measure.Write(&b, record); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{name: "current.json", body: b.String()})
	}
	for name, text := range x.files {
		entries = append(entries, entry{name: name, body: text})
	}
	return packed(entries...)
}

// send publishes the parcel as the artifact of a gate's run, of a fork or of a branch, and
// looks at everything that changed.
func (x poison) send(t *testing.T, archive []byte, fork bool) seen {
	t.Helper()
	s := githubtest.New(t)
	repo := s.RepoID
	if fork {
		repo = forkRepo
	}
	s.AddPull(forge.Pull{Open: true, HeadRepo: repo, Fork: fork, HeadBranch: "change", HeadSHA: untrustedtest.Head, BaseSHA: untrustedtest.Base})
	s.AddPull(forge.Pull{Open: true, HeadBranch: "other", HeadSHA: otherSHA, BaseSHA: untrustedtest.Base})
	suite := x.suite
	if suite == "" {
		suite = untrustedtest.Suite
	}
	s.AddFile(untrustedtest.Head, "pawl.yaml", suite)
	id := s.AddRun(forge.Run{Workflow: ".github/workflows/pawl-gate.yml", Event: "pull_request", Head: forge.Head{Repo: repo, Branch: "change", SHA: untrustedtest.Head}, Status: "completed", Conclusion: "success"})
	s.AddArtifact(id, "pawl-results", archive)

	dir := t.TempDir()
	for _, name := range []string{"base", "tmp", "out"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(dir, "base", "pawl.yaml"), []byte(untrustedtest.Suite), 0o644))
	env := map[string]string{
		"GITHUB_REPOSITORY": s.Repo.String(), "GITHUB_API_URL": s.URL, "GITHUB_TOKEN": s.Token, "GITHUB_SERVER_URL": "https://github.example",
		"GITHUB_RUN_ID": "5", "GITHUB_EVENT_NAME": "workflow_run", "GITHUB_STEP_SUMMARY": filepath.Join(dir, "out", "summary.md"),
		"GITHUB_OUTPUT": filepath.Join(dir, "out", "output"), "GITHUB_ENV": filepath.Join(dir, "out", "env"), "TMPDIR": filepath.Join(dir, "tmp"),
	}
	args := []string{"ci", "comment", "--suite", filepath.Join(dir, "base", "pawl.yaml"), "--from-run", fmt.Sprint(id)}
	var got seen
	began := time.Now()
	if x.big {
		got.log, got.memory = process(t, env, args)
	} else {
		got.log = inside(t, env, args)
	}
	got.took = time.Since(began)

	if left := files(t, dir); !slices.Equal(left, []string{"base/pawl.yaml", "out/summary.md"}) {
		t.Errorf("these files are there now: %q", left)
	}
	summary, err := os.ReadFile(filepath.Join(dir, "out", "summary.md"))
	must(t, err)
	x.reached(t, s)
	checks := s.Checks(untrustedtest.Head)
	if len(checks) != 1 || checks[0].Name != "pawl" {
		t.Fatalf("the head has checks %+v", checks)
	}
	got.conclusion, got.title = checks[0].Conclusion, checks[0].Title
	got.report = checks[0].Summary + "\n\n" + string(summary)
	for _, c := range s.Comments(1) {
		got.report += "\n\n" + c.Body
	}
	for _, a := range checks[0].Annotations {
		if strings.Contains(a.Path, "..") || strings.HasPrefix(a.Path, "/") {
			t.Errorf("an annotation on %q", a.Path)
		}
	}
	return got
}

// reached looks at every request: nothing but this head and this pull request is written.
func (x poison) reached(t *testing.T, s *githubtest.Server) {
	t.Helper()
	if n := len(s.Checks(otherSHA)) + len(s.Comments(2)) + len(s.Checks(untrustedtest.Base)); n != 0 {
		t.Errorf("another pull request was told %d things", n)
	}
	if n := len(s.Comments(1)); n != 1 {
		t.Errorf("there are %d comments", n)
	}
	prefix := "/repos/" + s.Repo.String()
	for _, r := range s.Requests() {
		if r.Method == http.MethodGet || strings.HasSuffix(r.Path, "/graphql") {
			continue
		}
		path := strings.TrimPrefix(r.Path, prefix)
		if path != "/issues/1/comments" && !strings.HasPrefix(path, "/check-runs") && !strings.HasPrefix(path, "/issues/comments/") {
			t.Errorf("it writes %s %s", r.Method, r.Path)
		}
	}
}

func (x poison) judge(t *testing.T, got seen, fork bool) {
	t.Helper()
	want := x.want
	if fork || want == "" {
		want = forge.Neutral
	}
	if got.conclusion != want || got.conclusion == forge.Success {
		t.Errorf("fork %t: the check concludes %s (%s), want %s", fork, got.conclusion, got.title, want)
	}
	if !strings.Contains(got.report, x.says) {
		t.Errorf("fork %t: the report does not say %q:\n%.3000s", fork, x.says, got.report)
	}
	if fork != strings.Contains(got.report, "laimed by a fork") {
		t.Errorf("fork %t: the report is labelled otherwise", fork)
	}
	if got.memory > memoryMost {
		t.Errorf("fork %t: it took %d MiB", fork, got.memory>>20)
	}
	harmless(t, got.report)
	for name, text := range map[string]string{"title": got.title, "log": strings.ReplaceAll(got.log, "\n", "")} {
		if strings.ContainsFunc(text, hidden) {
			t.Errorf("the %s has unprintable characters: %q", name, text)
		}
	}
	for line := range strings.Lines(got.log) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("the log has a command: %q", line)
		}
	}
}

// inside runs pawl in this process, with a clock that nobody waits for.
func inside(t *testing.T, env map[string]string, args []string) string {
	t.Helper()
	env["GOMEMLIMIT"] = "off"
	var mu sync.Mutex
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	var log bytes.Buffer
	code := cli.Main(t.Context(), args, &command.IO{
		In: strings.NewReader(""), Out: &log, Err: &log, Getenv: func(name string) string { return env[name] },
		Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(max(d, 0))
			return ctx.Err()
		},
	})
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, log.String())
	}
	return log.String()
}

// process runs the real pawl and says how much memory it had at most.
func process(t *testing.T, env map[string]string, args []string) (string, int64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), pawl, args...)
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// The usage that the kernel tells at the end counts what the parent had at the fork, so
	// the process is asked itself. It ends with seconds of waiting, its peak is long over.
	most := int64(0)
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, log.String())
			}
			if most == 0 {
				t.Fatal("nobody saw how much memory it had")
			}
			return log.String(), most
		case <-time.After(10 * time.Millisecond):
			most = max(most, peak(cmd.Process.Pid))
		}
	}
}

// peak is the most memory that a process has had so far; 0 when it is gone.
func peak(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	return 0
}

// files lists what is below a folder, with what kind it is where that is no plain file.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(name))
		}
		return err
	}))
	return list
}

var must = testrun.Must

func writePage(t *testing.T, path string, all []poison, rows [][2]seen) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "| poison | it tries to | a fork's check | a branch's check | memory |\n| --- | --- | --- | --- | ---: |\n")
	most := int64(0)
	for i, x := range all {
		memory := ""
		if m := max(rows[i][0].memory, rows[i][1].memory); m > 0 {
			memory, most = fmt.Sprintf("%d MiB", m>>20), max(most, m)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", x.name, cell(x.what), rows[i][0].conclusion, rows[i][1].conclusion, memory)
	}
	fmt.Fprintf(&b, "\n%d poisons. The most memory was %d MiB.\n", len(all), most>>20)
	f, err := os.Create(path)
	must(t, err)
	_, err = io.WriteString(f, b.String())
	must(t, err)
	must(t, f.Close())
}

// cell is code that fits into a table.
func cell(s string) string {
	if strings.ContainsAny(s, "<>@|`\\[]$&#*_") {
		return "``` " + strings.ReplaceAll(strings.ReplaceAll(s, "|", "\\|"), "```", "'''") + " ```"
	}
	return s
}
