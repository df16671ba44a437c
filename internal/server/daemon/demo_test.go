package daemon

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
)

// startDemo starts a small demo in a folder of its own and waits for its page.
func startDemo(t *testing.T, tmp string) (p *process, url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url = "http://" + l.Addr().String()
	_ = l.Close()
	p = &process{}
	p.start(t, []string{"TMPDIR=" + tmp}, "demo", "--days", "15", "--addr", strings.TrimPrefix(url, "http://"))
	p.awaitAlive(t, "the demo to be ready", func() bool {
		if strings.Contains(p.said(), pgtemp.ErrNotInstalled.Error()) {
			t.Skip(pgtemp.ErrNotInstalled)
		}
		return strings.Contains(p.said(), " ready\n")
	})
	return p, url
}

// left are folders of demos and processes that work in them.
func left(tmp string) (folders, processes []string) {
	folders, _ = filepath.Glob(filepath.Join(tmp, demoPrefix+"*"))
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, l := range lines {
		if text, err := os.ReadFile(l); err == nil && strings.Contains(string(text), tmp) && !strings.Contains(string(text), "-test.") {
			processes = append(processes, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return folders, processes
}

func nothingLeft(t *testing.T, tmp string) {
	t.Helper()
	await.True(t, "the end of everything that the demo started", func() bool {
		folders, processes := left(tmp)
		return len(folders)+len(processes) == 0
	})
}

func TestDemo(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	p, url := startDemo(t, tmp)
	client := &http.Client{Timeout: await.Limit}
	for path, want := range map[string]string{"/p/demo": "<html", "/v1/projects/demo/series": `"name"`, "/readyz": "ok"} {
		if code, text := get(t, client, url+path); code != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d\n%s", path, code, text)
		}
	}
	// The last runs are there whole: their pages are the report, with samples.
	_, list := get(t, client, url+"/p/demo/runs?lane=main")
	run := regexp.MustCompile(`/p/demo/runs/\d+`).FindString(list)
	if _, page := get(t, client, url+run); !strings.Contains(page, "<figure") {
		t.Errorf("%s shows no samples:\n%.2000s", run, page)
	}
	// A second one at the same place ends at once, and starts nothing.
	if code, _, errs := pawld(t, nil, "demo", "--addr", strings.TrimPrefix(url, "http://")); code != exitCannot || strings.Contains(errs, "PostgreSQL") {
		t.Errorf("exit %d: %s", code, errs)
	}
	p.signal(t, syscall.SIGINT)
	if code := p.code(t); code != 0 {
		t.Errorf("it exits with %d", code)
	}
	nothingLeft(t, tmp)
}

// kill -9 leaves nothing behind: neither the folder nor a PostgreSQL.
func TestDemoKilled(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	p, _ := startDemo(t, tmp)
	if folders, processes := left(tmp); len(folders) != 1 || len(processes) == 0 {
		t.Fatalf("this test sees nothing of a running demo: %v %v", folders, processes)
	}
	p.signal(t, syscall.SIGKILL)
	nothingLeft(t, tmp)
}

// Where its guard was killed as well, the next demo cleans up: only what is old, ours, and
// watched over by nobody.
func TestDemoSweep(t *testing.T) {
	tmp := t.TempDir()
	folder := func(name string, age time.Duration) string {
		dir := filepath.Join(tmp, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "guard"), "")
		if err := os.Chtimes(dir, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	old, young, other, watched := folder(demoPrefix+"old", time.Hour), folder(demoPrefix+"young", -time.Hour), folder("another", time.Hour), folder(demoPrefix+"watched", time.Hour)
	lock, err := lockDemo(watched)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	sweepDemos(tmp)
	for dir, want := range map[string]bool{old: false, young: true, other: true, watched: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", filepath.Base(dir), err == nil, want)
		}
	}
}

func TestDemoRefuses(t *testing.T) {
	for _, args := range [][]string{{"--addr", "0.0.0.0:80"}, {"--addr", ":80"}, {"--days", "0"}} {
		if code, _, errs := pawld(t, nil, append([]string{"demo"}, args...)...); code != exitUsage {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}
