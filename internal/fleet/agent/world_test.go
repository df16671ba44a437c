package agent

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// fakePawl stands for pawl run: it adds four rounds to its journal, waits before the round that the file "hold" names, and writes a document. It
// notes when it starts, and fails if another one runs. With --build-only it waits if "hold" says build, leaves what is in "made" as builds, and writes a document if "broken" exists.
const fakePawl = `#!/bin/sh
trap 'rmdir "$world/running"; exit 5' TERM
world=WORLD
mkdir "$world/running" 2>/dev/null || { echo "two at a time" >>"$world/problems"; exit 3; }
echo "$*" >>"$world/runs"
env >"$world/env"
build=
for a in "$@"; do case $a in --out=*) out=${a#--out=} ;; --build-only) build=yes ;; --builds=*) builds=${a#--builds=} ;; esac; done
mkdir -p "$out"
if [ -n "$build" ]; then
	while [ "$(cat "$world/hold" 2>/dev/null)" = build ]; do touch "$world/held"; sleep 0.02; done
	[ ! -d "$world/made" ] || cp -r "$world/made" "$builds"
	[ ! -f "$world/broken" ] || cp code "$out/verdict.json"
	rmdir "$world/running"
	[ ! -f "$world/broken" ]
	exit
fi
journal="$out/current.journal"
[ -f "$journal" ] || printf '{"record":"open"}\n' >"$journal"
n=$(grep -c '"record":"round"' "$journal")
while [ "$n" -lt 4 ]; do
	while [ "$(cat "$world/hold" 2>/dev/null)" = "$n" ]; do touch "$world/held"; sleep 0.02; done
	sleep 0.03
	printf '{"record":"round","round":%s}\n' "$n" >>"$journal"
	n=$((n + 1))
done
cp "$journal" "$out/current.json"
rm "$journal"
cp code "$out/verdict.json"
rmdir "$world/running"
exit 1
`

// world is a host with a fake pawl, a server for files, and an engine.
type world struct {
	dir    string
	agent  *Agent
	engine *fakeEngine
	lease  job.Lease

	mu       sync.Mutex
	files    map[string][]byte
	answer   func(r *http.Request) int // a status instead of the answer; 0 for none
	requests []string
}

// fakeEngine stands for Temporal's client.
type fakeEngine struct {
	mu       sync.Mutex
	beat     func(n int) error
	complete func(n int) error
	beats    []job.Beat
	tries    int
	ended    []ending
}

type ending struct {
	token  string
	result job.Result
	err    error
}

func (e *fakeEngine) RecordActivityHeartbeat(_ context.Context, _ []byte, details ...any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.beats = append(e.beats, details[0].(job.Beat))
	if e.beat == nil {
		return nil
	}
	return e.beat(len(e.beats))
}

func (e *fakeEngine) CompleteActivity(_ context.Context, token []byte, result any, err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tries++
	if e.complete != nil {
		if err := e.complete(e.tries); err != nil {
			return err
		}
	}
	r, _ := result.(job.Result)
	e.ended = append(e.ended, ending{string(token), r, err})
	return nil
}

func (e *fakeEngine) set(beat, complete func(n int) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.beat, e.complete = beat, complete
}

func (e *fakeEngine) endings() []ending {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ended
}

var quick = pace{beat: 5 * time.Millisecond, patience: time.Second, retry: time.Millisecond, stop: 5 * time.Second, turn: 5 * time.Minute}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), files: map[string][]byte{}, engine: &fakeEngine{}}
	pawl := filepath.Join(w.dir, "pawl")
	if err := os.WriteFile(pawl, []byte(strings.Replace(fakePawl, "WORLD", w.dir, 1)), 0o700); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.agent = w.newAgent(t, server.URL)
	base, head, bundle := repository(t)
	w.files[job.BundlePath+digestOf(bundle)] = bundle
	w.lease = job.Lease{ID: "gate/1", Project: "kernels", Device: "cpu:0", Attempt: 1, Bundle: digestOf(bundle), Base: base, Head: head, Suite: "pawl.yaml", Seconds: 600}
	return w
}

// newAgent returns an agent as a new process on the same host would be.
func (w *world) newAgent(t testing.TB, server string) *Agent {
	t.Helper()
	a := &Agent{
		state: filepath.Join(w.dir, "state"), pawl: filepath.Join(w.dir, "pawl"), engine: w.engine, http: newHTTP(),
		log: slog.New(slog.NewTextHandler(t.Output(), nil)), pace: quick, turn: make(chan struct{}, 1),
		id: identity{Server: server, Agent: "1", Namespace: "ns", Devices: []string{"cpu:0"}, Key: "key"},
	}
	if err := os.MkdirAll(filepath.Join(a.state, "leases"), 0o700); err != nil {
		t.Fatal(err)
	}
	return a
}

func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r.Method+" "+r.URL.Path)
	if w.answer != nil {
		if code := w.answer(r); code != 0 {
			http.Error(rw, "as told", code)
			return
		}
	}
	if r.Header.Get("Authorization") != "Bearer key" || r.Header.Get(job.LeaseHeader) == "" {
		http.Error(rw, "no key", http.StatusUnauthorized)
		return
	}
	if r.Method == http.MethodPut {
		body, _ := io.ReadAll(r.Body)
		w.files[r.URL.Path] = body
		rw.WriteHeader(http.StatusNoContent)
		return
	}
	_, _ = rw.Write(w.files[r.URL.Path])
}

func digestOf(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }

// repository returns two commits and a bundle of them.
func repository(t testing.TB) (base, head string, bundle []byte) {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgSign=false"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "--quiet", "--initial-branch=main")
	write("code", "base")
	run("add", "-A")
	run("commit", "--quiet", "-m", "base")
	base = run("rev-parse", "HEAD")
	write("code", "head")
	// What a hostile repository tries: a filter, a submodule, configuration and hooks in the tree.
	write(".gitattributes", "* filter=evil\n*.bin filter=lfs\n")
	write(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c 'touch evil'\n\tupdate = !touch evil\n")
	write("post-checkout", "#!/bin/sh\ntouch evil\n")
	run("-c", "filter.evil.clean=cat", "add", "-A")
	run("update-index", "--add", "--cacheinfo", "160000,"+base+",x")
	run("commit", "--quiet", "-m", "head")
	head = run("rev-parse", "HEAD")
	file := filepath.Join(t.TempDir(), "bundle")
	run("bundle", "create", "--quiet", file, "HEAD")
	bundle, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return base, head, bundle
}

// keep takes a lease as the activity does.
func (w *world) keep(t testing.TB, l job.Lease, token string) *leaseDir {
	t.Helper()
	if err := check(l); err != nil {
		t.Fatal(err)
	}
	d, err := w.agent.keep(l, []byte(token))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// hold makes pawl wait before a round; "" lets it go on.
func (w *world) hold(t testing.TB, round string) {
	t.Helper()
	path := filepath.Join(w.dir, "hold")
	if round == "" {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(path, []byte(round), 0o600); err != nil {
		t.Fatal(err)
	}
}

// held waits until pawl waits.
func (w *world) held(t testing.TB) {
	t.Helper()
	for !exists(filepath.Join(w.dir, "held")) {
		time.Sleep(time.Millisecond)
		if t.Context().Err() != nil {
			t.Fatal("pawl never started")
		}
	}
	if err := os.Remove(filepath.Join(w.dir, "held")); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func (w *world) lines(name string) []string {
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// documents returns the files of a delivered archive.
func (w *world) documents(t testing.TB, digest string) map[string]string {
	t.Helper()
	w.mu.Lock()
	packed := w.files[job.DocumentPath+digest]
	w.mu.Unlock()
	if digestOf(packed) != digest {
		t.Fatalf("the archive %s was not delivered", digest)
	}
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		found[f.Name] = string(text)
	}
	return found
}

// leases lists what is left in the agent's folder.
func (w *world) leases(t testing.TB) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(w.agent.state, "leases", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}
