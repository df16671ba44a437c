package wake_test

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
)

// A real pawl wake serve, with real webhooks, polls and commands, is killed again and
// again. Its commands go on without it, as those of a cloud do. No host ever has two, or
// is started when it is not off; every delivery that was acknowledged is in the state;
// in the end every job was served and every host sleeps. PAWL_WAKE_KILLS asks for more.
func TestKillNine(t *testing.T) {
	t.Parallel()
	kills := testrun.Times(12, 24)
	if n, err := strconv.Atoi(os.Getenv("PAWL_WAKE_KILLS")); err == nil {
		kills = n
	}
	y := newYard(t)
	binary, err := testrun.Pawl(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	for range kills {
		p := y.serve(binary)
		for range rng.IntN(3) {
			y.queue(p, "self-hosted", []string{"gpu", "big"}[rng.IntN(2)])
		}
		if rng.IntN(3) == 0 {
			y.queue(p, "self-hosted", "gpu") // and die with the answer hardly out
		} else {
			y.live(time.Duration(rng.IntN(1500)) * time.Millisecond)
		}
		y.kill(p)
		y.checkAcknowledged()
	}
	p := y.serve(binary)
	// The state may hold a job that was served while pawl was dead, and pawl then wakes a host
	// for it. So the test waits until pawl itself has seen that nothing is left to do.
	since := time.Now()
	await.TrueWithin(t, 10*time.Minute, "every job to be served and every host to sleep", func() bool {
		y.live(0)
		if !y.quiet() {
			since = time.Now()
			return false
		}
		return y.settled(since)
	})
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	<-p.read
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("told to stop it ends with %v\n%s", err, y.log.String())
	}
	if !y.quiet() {
		t.Errorf("%d of %d jobs were not served, or a host does not sleep: %s %s\n%s", y.unserved(), len(y.jobs), y.power("a"), y.power("b"), y.log.String())
	}
	if text, err := os.ReadFile(filepath.Join(y.dir, "violations")); err == nil {
		t.Errorf("%s\n%s", text, y.log.String())
	}
	starts, _ := os.ReadFile(filepath.Join(y.dir, "starts"))
	t.Logf("%d kills, %d jobs, %d deliveries acknowledged, %d starts, %d stops under a job that had just begun", kills, len(y.jobs), len(y.acked), bytes.Count(starts, []byte("\n")), y.lost)
	if bytes.Count(starts, []byte("\n")) < 2 {
		t.Error("hardly a host was started: the test tries nothing")
	}
}

// yard is two hosts made of files, a GitHub, and runners that take its jobs.
type yard struct {
	t     *testing.T
	dir   string
	forge *githubtest.Server
	run   int64
	jobs  []*task
	acked []int64
	lost  int
	log   syncBuffer
}

type task struct {
	id     int64
	label  string
	status string
	on     string
	ends   time.Time
}

// A command's work is done by a process that outlives whoever began it.
const moveScript = `#!/bin/sh
( trap '' HUP TERM
  if mkdir "lock.$PAWL_HOST" 2>/dev/null; then
    now=$(cat "power.$PAWL_HOST")
    [ "$1" = stop ] || [ "$now" = off ] || echo "$PAWL_HOST is started while it is $now" >>violations
    sleep $(($$ % 3)).3
    [ "$1" = stop ] && to=off || to=on
    echo $to >"next.$PAWL_HOST" && mv "next.$PAWL_HOST" "power.$PAWL_HOST"
    echo "$1 $PAWL_HOST" >>"${1}s"
    rmdir "lock.$PAWL_HOST"
  else
    echo "$1 of $PAWL_HOST while another command runs" >>violations
  fi ) &
wait $!
`

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{t: t, dir: t.TempDir(), forge: githubtest.New(t)}
	y.run = y.forge.AddRun(forge.Run{Status: "in_progress"})
	y.write("move", moveScript, 0o700)
	y.write("power.a", "off\n", 0o600)
	y.write("power.b", "off\n", 0o600)
	y.write("hook", "s3cret\n", 0o600)
	y.write("token", y.forge.Token, 0o600)
	host := `
  - {name: %s, labels: [self-hosted, gpu, %s], start: ./move start, stop: ./move stop, status: cat power.$PAWL_HOST,
     boot: 2m, halt: 2m, timeout: 2m, idle: 500ms, ask: 100ms, retry: 1s, jobs: 1}`
	y.write("wake.yaml", fmt.Sprintf(`version: 1
listen: 127.0.0.1:0
secret: {file: hook}
poll: 1s
github: {api: %s, token: {file: token}, repositories: [%s]}
budget: {hours_per_day: 20}
hosts:`, y.forge.URL, y.forge.Repo)+fmt.Sprintf(host, "a", "small")+fmt.Sprintf(host, "b", "big")+"\n", 0o600)
	return y
}

func (y *yard) write(name, text string, mode os.FileMode) {
	y.t.Helper()
	if err := os.WriteFile(filepath.Join(y.dir, name), []byte(text), mode); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) power(host string) string {
	b, err := os.ReadFile(filepath.Join(y.dir, "power."+host))
	if err != nil {
		y.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// process is one life of pawl wake serve.
type process struct {
	cmd  *exec.Cmd
	hook string
	read chan struct{}
}

var hookAddress = regexp.MustCompile(`http://\S+/webhook`)

func (y *yard) serve(binary string) *process {
	y.t.Helper()
	cmd := exec.CommandContext(y.t.Context(), binary, "wake", "serve", "--config", filepath.Join(y.dir, "wake.yaml"))
	errs, err := cmd.StderrPipe()
	if err != nil {
		y.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		y.t.Fatal(err)
	}
	p := &process{cmd: cmd, read: make(chan struct{})}
	found := make(chan string, 1)
	go func() {
		defer close(p.read)
		defer close(found)
		for lines := bufio.NewScanner(errs); lines.Scan(); {
			fmt.Fprintln(&y.log, lines.Text())
			if a := hookAddress.FindString(lines.Text()); a != "" {
				found <- a
			}
		}
	}()
	if p.hook = await.Receive(y.t, "the address of the webhook", found); p.hook == "" {
		y.t.Fatalf("it does not serve:\n%s", y.log.String())
	}
	return p
}

func (y *yard) kill(p *process) {
	_ = p.cmd.Process.Kill()
	<-p.read
	_ = p.cmd.Wait()
}

// queue makes a job and sends its webhook.
func (y *yard) queue(p *process, labels ...string) {
	y.t.Helper()
	id := y.forge.AddJob(y.run, "queued", labels...)
	y.jobs = append(y.jobs, &task{id: id, label: labels[1], status: "queued"})
	body := fmt.Sprintf(`{"action":"queued","workflow_job":{"id":%d,"labels":["%s"],"created_at":%q},"repository":{"full_name":%q}}`,
		id, strings.Join(labels, `","`), time.Now().UTC().Format(time.RFC3339), y.forge.Repo)
	mac := hmac.New(sha256.New, []byte("s3cret"))
	mac.Write([]byte(body))
	req, err := http.NewRequestWithContext(y.t.Context(), http.MethodPost, p.hook, strings.NewReader(body))
	if err != nil {
		y.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", "workflow_job")
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return // a lost delivery, like any other
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode == http.StatusAccepted {
		y.acked = append(y.acked, id)
	}
}

// live lets the runners work for a while: a host that is on takes a job that fits.
func (y *yard) live(d time.Duration) {
	for end := time.Now().Add(d); ; time.Sleep(20 * time.Millisecond) {
		for _, host := range []string{"a", "b"} {
			y.work(host, y.power(host) == "on")
		}
		if !time.Now().Before(end) {
			return
		}
	}
}

func (y *yard) work(host string, on bool) {
	for _, j := range y.jobs {
		if j.on != host || j.status != "in_progress" {
			continue
		}
		if !on {
			y.lost++
		} else if time.Now().Before(j.ends) {
			return
		}
		j.status = "completed"
		y.forge.SetJob(j.id, j.status)
	}
	for _, j := range y.jobs {
		if on && j.status == "queued" && (j.label == "gpu" || host == "b") {
			j.status, j.on, j.ends = "in_progress", host, time.Now().Add(200*time.Millisecond)
			y.forge.SetJob(j.id, j.status)
			return
		}
	}
}

func (y *yard) unserved() (n int) {
	for _, j := range y.jobs {
		if j.status != "completed" {
			n++
		}
	}
	return n
}

func (y *yard) quiet() bool {
	return y.unserved() == 0 && y.power("a") == "off" && y.power("b") == "off"
}

// settled reports whether the state says that nothing is left to do, according to a list of
// jobs that was requested after since.
func (y *yard) settled(since time.Time) bool {
	s, err := wake.LoadState(filepath.Join(y.dir, "wake.state.json"))
	if err != nil {
		y.t.Fatal(err)
	}
	for _, j := range s.Jobs {
		if j.Stage == wake.Queued || j.Stage == wake.Running {
			return false
		}
	}
	for _, h := range s.Hosts {
		if h.Seen != wake.Off || h.Flight != nil {
			return false
		}
	}
	return s.Polled[y.forge.Repo.String()].After(since)
}

func (y *yard) checkAcknowledged() {
	y.t.Helper()
	if len(y.acked) == 0 {
		return
	}
	s, err := wake.LoadState(filepath.Join(y.dir, "wake.state.json"))
	if err != nil {
		y.t.Fatal(err)
	}
	for _, id := range y.acked {
		if s.Jobs[fmt.Sprintf("%s#%d", y.forge.Repo, id)] == nil {
			y.t.Errorf("job %d was acknowledged and is lost", id)
		}
	}
}

// syncBuffer collects the log of all lives.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
