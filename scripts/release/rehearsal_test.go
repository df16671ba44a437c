package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
)

// rehearsed is the version of the rehearsal.
const rehearsed = "9.8.7"

// A release is built twice, in two folders with different histories, and has the same bytes. Then each of its files is
// installed into a clean place and used as its quick start says.
func TestRehearsal(t *testing.T) {
	testrun.NightlyOnly(t)
	testrun.SkipRace(t) // it starts processes, which the detector does not see
	for _, tool := range []string{"mmdebstrap", "bwrap", "helm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("the rehearsal needs %s: %v", tool, err)
		}
	}
	first, second := buildTwice(t)
	if diff := cmp.Diff(sizes(t, first), sizes(t, second)); diff != "" {
		t.Fatalf("the folders differ:\n%s", diff)
	}
	for name := range sizes(t, first) {
		if a, b := readFile(t, filepath.Join(first, name)), readFile(t, filepath.Join(second, name)); !bytes.Equal(a, b) {
			t.Errorf("two builds of %s differ", name)
		}
	}
	t.Run("verify", func(t *testing.T) { rehearseVerify(t, first) })
	t.Run("archive of pawl", func(t *testing.T) { rehearseArchive(t, first) })
	t.Run("archive of pawl-agent", func(t *testing.T) {
		bin := unpackArchive(t, first, "pawl-agent")
		clean(t, bin).run(t, "pawl-agent --help | grep -q once")
	})
	t.Run("archive of pawld", func(t *testing.T) { rehearseDemo(t, first) })
	t.Run("wheel", func(t *testing.T) { rehearseWheel(t, first) })
	t.Run("chart", func(t *testing.T) { rehearseChart(t, first) })
	t.Run("image of pawl", func(t *testing.T) { rehearseImage(t, first) })
	t.Run("image of pawld", func(t *testing.T) { rehearseServerImage(t, first) })
}

const commit = "git -c user.name=A -c user.email=a@example.com commit --quiet"

// buildTwice builds a release in two clones, the second of which has one commit more.
func buildTwice(t *testing.T) (first, second string) {
	t.Helper()
	root := filepath.Join("..", "..")
	dirs := []string{filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other", "deep", "two")}
	for i, dir := range dirs {
		s := &shell{dir: ".", env: os.Environ()}
		s.run(t, fmt.Sprintf("git clone --quiet --no-hardlinks '%s' '%s'", root, dir))
		if root, s.dir = dir, dir; i == 1 {
			s.run(t, commit+" --allow-empty -m 'another commit'")
		}
		started := time.Now()
		// Debian may have newer packages than the list of the repository. The clones take them, and the next release must.
		out := s.run(t, "make release VERSION="+rehearsed+" || { cp dist/*/packages.* deploy/image/ && rm -r dist && "+
			commit+" -a -m pins && make release VERSION="+rehearsed+"; }")
		t.Logf("%s\nbuilt in %.0f s", out, time.Since(started).Seconds())
	}
	return filepath.Join(dirs[0], "dist", rehearsed), filepath.Join(dirs[1], "dist", rehearsed)
}

func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		list[e.Name()] = info.Size()
	}
	return list
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// clean returns a shell in an empty folder, with a home and an environment of its own and only bin before the system's
// programs.
func clean(t *testing.T, bin string) *shell {
	t.Helper()
	dir := t.TempDir()
	return &shell{dir: dir, env: []string{
		"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + t.TempDir(), "LC_ALL=C", "PAWL_LOCK_DIR=" + t.TempDir(),
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
	}}
}

// quickStart types docs/tutorial/quick-benchmarks.md, whose benchmark prints fixed times.
func (s *shell) quickStart(t *testing.T) {
	t.Helper()
	steps := testrun.Steps(string(readFile(t, filepath.Join("..", "..", "docs", "tutorial", "quick-benchmarks.md"))))
	judged := false
	for _, step := range steps {
		if name, ok := strings.CutPrefix(step.Command, "cat "); ok {
			s.write(t, name, []byte(step.Output))
			continue
		}
		command := step.Command
		if strings.HasPrefix(command, "pawl ") {
			command += "; [ $? -eq 1 ]"
		}
		got := s.run(t, command)
		for line := range strings.Lines(step.Output) {
			if strings.HasPrefix(line, "FAIL: ") || strings.HasPrefix(line, "wrote ") {
				judged = true
				if !strings.Contains(got, line) {
					t.Errorf("$ %s prints no line %q:\n%s", step.Command, line, got)
				}
			}
		}
	}
	if !judged {
		t.Error("the page has no verdict")
	}
}

func rehearseVerify(t *testing.T, dist string) {
	t.Helper()
	s := clean(t, "/usr/bin")
	script, err := filepath.Abs(filepath.Join("..", "verify-release"))
	if err != nil {
		t.Fatal(err)
	}
	s.run(t, "sh '"+script+"' '"+dist+"'")
	var statement struct {
		Subject []struct {
			Name   string
			Digest map[string]string
		}
	}
	if err := json.Unmarshal(readFile(t, filepath.Join(dist, "provenance.json")), &statement); err != nil {
		t.Fatal(err)
	}
	for _, subject := range statement.Subject {
		if want := digestOf(readFile(t, filepath.Join(dist, subject.Name))); "sha256:"+subject.Digest["sha256"] != want {
			t.Errorf("%s has the digest %s, not %v", subject.Name, want, subject.Digest)
		}
	}
	if want := len(sizes(t, dist)) - 2; len(statement.Subject) != want { // but for itself and checksums.txt
		t.Errorf("%d subjects, want %d", len(statement.Subject), want)
	}
}

// unpackArchive unpacks a program for this machine and returns the folder.
func unpackArchive(t *testing.T, dist, program string) string {
	t.Helper()
	dir := t.TempDir()
	archive := filepath.Join(dist, fmt.Sprintf("%s_%s_linux_%s.tar.gz", program, rehearsed, runtime.GOARCH))
	(&shell{dir: dir, env: os.Environ()}).run(t, "tar -xzf '"+archive+"' && test -x "+program+" && test -f LICENSE")
	binary := readFile(t, filepath.Join(dir, program))
	for _, no := range []string{"vcs.revision=", "vcs.time=", filepath.Dir(filepath.Dir(dist))} {
		if bytes.Contains(binary, []byte(no)) {
			t.Errorf("%s holds %s: its checksum could not stand in the commit that is tagged", program, no)
		}
	}
	return dir
}

func rehearseArchive(t *testing.T, dist string) {
	t.Helper()
	s := clean(t, unpackArchive(t, dist, "pawl"))
	if got := s.run(t, "pawl --version"); got != "pawl "+rehearsed+"\n" {
		t.Errorf("it calls itself %q", got)
	}
	s.quickStart(t)
}

// freeAddress returns an address of this machine on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// fetch returns the status and the text of a page; 0 if there is no answer.
func fetch(t *testing.T, url string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

// serve starts a server and stops it when the test ends.
func (s *shell) serve(t *testing.T, as *syscall.SysProcAttr, argv ...string) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), argv[0], argv[1:]...)
	var log bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = s.dir, s.env, &log, &log, as
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("%v: %v\n%s", argv, err, log.String())
		}
	})
}

// rehearseDemo starts the demo of the server.
func rehearseDemo(t *testing.T, dist string) {
	t.Helper()
	bin := unpackArchive(t, dist, "pawld")
	s := clean(t, bin)
	if got := s.run(t, "pawld --version"); got != "pawld "+rehearsed+"\n" {
		t.Errorf("it calls itself %q", got)
	}
	address := freeAddress(t)
	s.env = append(s.env, "TMPDIR="+t.TempDir())
	s.serve(t, nil, filepath.Join(bin, "pawld"), "demo", "--days", "15", "--addr", address)
	await.True(t, "the page of the demo", func() bool {
		status, text := fetch(t, "http://"+address+"/p/demo")
		return status == http.StatusOK && strings.Contains(text, "demo")
	})
}

// rehearseWheel installs the wheel into a virtual environment without a network.
func rehearseWheel(t *testing.T, dist string) {
	t.Helper()
	s := newShell(t)
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	s.run(t, "python3 -m venv .venv && .venv/bin/pip install -q '"+dist+"'/pawl_perf-"+rehearsed+"-*_"+machine+".whl")
	if got := s.run(t, ".venv/bin/pawl --version"); got != "pawl "+rehearsed+"\n" {
		t.Errorf("it calls itself %q", got)
	}
	testInstalled(t, s)
	clean(t, filepath.Join(s.dir, ".venv", "bin")).quickStart(t)
}

// rehearseChart renders the chart for the image of the release.
func rehearseChart(t *testing.T, dist string) {
	t.Helper()
	helm, err := exec.LookPath("helm")
	if err != nil {
		t.Fatal(err)
	}
	values, err := filepath.Abs(filepath.Join("..", "..", "deploy", "helm", "ci", "volume.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := clean(t, filepath.Dir(helm))
	out := s.run(t, "helm template pawl '"+dist+"'/pawld-"+rehearsed+".tgz --kube-version=1.31.0 -f '"+values+"' --set image.tag="+rehearsed)
	for _, want := range []string{"helm.sh/chart: pawld-" + rehearsed, "kind: Deployment", ":" + rehearsed} {
		if !strings.Contains(out, want) {
			t.Errorf("the chart renders no %q:\n%s", want, out)
		}
	}
}

// container unpacks an image into a folder and returns it with the image.
func container(t *testing.T, dist, name string) (root string, got image) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "root")
	got = readImage(t, readFile(t, filepath.Join(dist, fmt.Sprintf("%s_%s_linux_%s.oci.tar", name, rehearsed, runtime.GOARCH))))
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, l := range got.layers {
		cmd := exec.CommandContext(t.Context(), "tar", "-xf", "-", "-C", root)
		cmd.Stdin = bytes.NewReader(l)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return root, got
}

// rehearseImage types the quick start in a container without a network.
func rehearseImage(t *testing.T, dist string) {
	t.Helper()
	root, got := container(t, dist, "pawl")
	work := got.config.Config.WorkingDir
	s := clean(t, "")
	s.dir = filepath.Join(root, work)
	s.in = []string{"bwrap", "--unshare-all", "--die-with-parent", "--bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", work, "--clearenv"}
	for _, variable := range append(s.env[2:], append(got.config.Config.Env, "HOME=/tmp", "PAWL_LOCK_DIR=/tmp")...) {
		name, value, _ := strings.Cut(variable, "=")
		s.in = append(s.in, "--setenv", name, value)
	}
	if got := s.run(t, got.config.Config.Cmd[0]+" --version"); got != "pawl "+rehearsed+"\n" {
		t.Errorf("it calls itself %q", got)
	}
	s.run(t, "pawl-agent --help >/dev/null && test ! -e /etc/resolv.conf && git --version && ! ls /etc/apt/sources.list")
	s.quickStart(t)
}

// rehearseServerImage starts the server of the image on a database of this machine, as the user of the image.
func rehearseServerImage(t *testing.T, dist string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can be a client of another account")
	}
	root, got := container(t, dist, "pawld")
	c := got.config.Config
	state := filepath.Join(root, "run", "pawld") // a container runtime makes it: it is a volume
	if err := errors.Join(os.MkdirAll(state, 0o755), os.Chown(state, serverUser, serverUser)); err != nil {
		t.Fatal(err)
	}
	pg, err := pgtemp.Start(t.Context(), pgtemp.Options{Dir: filepath.Join(t.TempDir(), "pg"), Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(t.Context()), true) })
	address := freeAddress(t)
	s := &shell{dir: "/", env: append(slices.Clone(c.Env), "PAWLD_LISTEN="+address, "PAWLD_URL=http://"+address, "PAWLD_DATABASE_URL="+pg.URL("postgres"))}
	as := &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: serverUser, Gid: serverUser}}
	s.serve(t, as, append(slices.Clone(c.Entrypoint), c.Cmd...)...)
	await.True(t, "the page of the server", func() bool {
		status, _ := fetch(t, "http://"+address+"/")
		return status == http.StatusOK
	})
}
