package agent

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/measure"
)

func TestPrepare_RunsNothingOfTheRepository(t *testing.T) {
	w := newWorld(t)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[filter \"evil\"]\n\tsmudge = touch "+w.dir+"/evil\n\tclean = cat\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("GIT_DIR", filepath.Join(w.dir, "elsewhere"))
	d := w.keep(t, w.lease, "token")
	for range 2 { // the second attempt uses the same workspace
		if err := w.agent.prepare(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if exists(filepath.Join(w.dir, "evil")) || exists(d.file("work/evil")) || exists(filepath.Join(w.dir, "elsewhere")) {
		t.Error("something of the repository ran")
	}
	if hooks, _ := filepath.Glob(d.file("work/.git/hooks/*")); len(hooks) > 0 {
		t.Errorf("hooks %v", hooks)
	}
	config, err := os.ReadFile(d.file("work/.git/config"))
	if err != nil || strings.Contains(string(config), "submodule") {
		t.Errorf("configuration %q, %v", config, err)
	}
	if text, err := os.ReadFile(d.file("work/code")); err != nil || string(text) != "head" {
		t.Errorf("code %q, %v", text, err)
	}
	if exists(d.file("bundle")) {
		t.Error("the bundle stays")
	}
}

func TestCheck_RefusesWordsThatCannotBeUsed(t *testing.T) {
	good := job.Lease{ID: "x", Device: "cpu:0", Bundle: strings.Repeat("a", 64), Base: strings.Repeat("b", 40), Head: strings.Repeat("c", 64), Suite: "a/pawl.yaml", Seconds: 1}
	if err := check(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*job.Lease){
		"no name":               func(l *job.Lease) { l.ID = "" },
		"a bundle's path":       func(l *job.Lease) { l.Bundle = "../../etc/passwd" },
		"a branch as base":      func(l *job.Lease) { l.Base = "main" },
		"an option as base":     func(l *job.Lease) { l.Base = "--upload-pack=x" + strings.Repeat("a", 25) },
		"a short head":          func(l *job.Lease) { l.Head = "abc" },
		"letters in upper case": func(l *job.Lease) { l.Head = strings.Repeat("C", 40) },
		"a suite outside":       func(l *job.Lease) { l.Suite = "../pawl.yaml" },
		"an absolute suite":     func(l *job.Lease) { l.Suite = "/etc/passwd" },
		"an option as suite":    func(l *job.Lease) { l.Suite = "-x" },
		"two lines as suite":    func(l *job.Lease) { l.Suite = "a\nb" },
		"no suite":              func(l *job.Lease) { l.Suite = "" },
		"unknown trust":         func(l *job.Lease) { l.Trust = "full" },
		"no time":               func(l *job.Lease) { l.Seconds = 0 },
	} {
		l := good
		change(&l)
		if check(l) == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestKeep_OtherWorkHasAnotherFolder(t *testing.T) {
	w := newWorld(t)
	first := w.keep(t, w.lease, "token").path
	again := w.lease
	again.Attempt, again.Seconds = 2, 10
	if got := w.keep(t, again, "token").path; got != first {
		t.Error("the next attempt has another folder")
	}
	for name, change := range map[string]func(*job.Lease){
		"device": func(l *job.Lease) { l.Device = "cpu:1" }, "head": func(l *job.Lease) { l.Head = l.Base }, "name": func(l *job.Lease) { l.ID = "gate/2" },
		"suite": func(l *job.Lease) { l.Suite = "b.yaml" }, "trust": func(l *job.Lease) { l.Trust = "checked" },
	} {
		l := w.lease
		change(&l)
		if w.keep(t, l, "token").path == first {
			t.Errorf("another %s shares the folder: rounds would mix", name)
		}
	}
}

func TestTidy_KeepsTheNewestLostLeases(t *testing.T) {
	w := newWorld(t)
	under := w.keep(t, w.lease, "token")
	for i := range 9 {
		l := w.lease
		l.ID = fmt.Sprint("lost/", i)
		d := w.keep(t, l, "token")
		if err := os.Mkdir(d.file("work"), 0o500); err != nil { // a build made it read-only
			t.Fatal(err)
		}
		if err := d.lose(); err != nil {
			t.Fatal(err)
		}
	}
	w.agent.tidy()
	if left := w.leases(t); len(left) != keptLeases+1 || !slices.Contains(left, under.path) {
		t.Errorf("left %v", left)
	}
}

func TestRoundCounter_ReadsOnlyWhatIsNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "current.journal")
	c := &roundCounter{path: path}
	if c.count() != 0 {
		t.Error("rounds without a journal")
	}
	text, want := `{"record":"open"}`+"\n", int64(0)
	for range 100 {
		text += `{"record":"round","results":"` + strings.Repeat("x", 997) + `"}` + "\n" + `{"record":"calibration"}` + "\n"
		want++
	}
	for cut := 1; cut < len(text); cut += 997 { // written in parts that end anywhere
		if err := os.WriteFile(path, []byte(text[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		c.count()
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.count(); got != want {
		t.Errorf("%d rounds, want %d", got, want)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := c.count(); got != want {
		t.Errorf("%d rounds after the journal became a document, want %d", got, want)
	}
}

func TestEnroll_KeepsTheKeyBeforeItIsSent(t *testing.T) {
	state, asked := t.TempDir(), []job.Enrollment{}
	fail := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in job.Enrollment
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		asked = append(asked, in)
		if fail { // the answer is lost
			http.Error(w, "gone", http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(job.Enrolled{Agent: "7", Namespace: "ns", Tier: tier.Checked})
	}))
	defer server.Close()
	a := &Agent{state: state, http: newHTTP(), log: slog.New(slog.DiscardHandler), pace: quick}
	o := Options{Server: server.URL, State: state, Code: "code\n", Model: "cpu", Devices: []string{"cpu:0"}}
	if _, err := a.enrolled(t.Context(), o); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("a refusal: %v", err)
	}
	fail = false
	id, err := a.enrolled(t.Context(), o)
	if err != nil || id.Agent != "7" || id.Namespace != "ns" || id.Tier != tier.Checked || len(asked) != 2 || asked[0].Key != asked[1].Key || asked[1].Code != "code" {
		t.Fatalf("%+v, %v after %+v", id, err, asked)
	}
	if digestOf([]byte(id.Key)) != asked[1].Key {
		t.Error("the hash is not that of the key")
	}
	info, err := os.Stat(filepath.Join(state, "agent.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, %v", info.Mode(), err)
	}
	o.Code = ""
	if again, err := a.enrolled(t.Context(), o); err != nil || again.Key != id.Key || again.Tier != tier.Checked || len(asked) != 2 {
		t.Errorf("the next start: %+v, %v", again, err)
	}
	o.Devices = []string{"cpu:1"}
	if _, err := a.enrolled(t.Context(), o); err == nil || !strings.Contains(err.Error(), "enroll again") {
		t.Errorf("other devices: %v", err)
	}
}

func TestEnroll_RefusesAddressesThatShowTheKey(t *testing.T) {
	for _, address := range []string{"", "pawl.example.com", "http://pawl.example.com", "http://10.0.0.1:80", "ftp://127.0.0.1"} {
		a := &Agent{state: t.TempDir(), http: newHTTP(), log: slog.New(slog.DiscardHandler), pace: quick}
		if _, err := a.enrolled(t.Context(), Options{Server: address, Code: "x", Model: "cpu", Devices: []string{"cpu:0"}}); err == nil || exists(a.identityFile()) {
			t.Errorf("%q was accepted: %v", address, err)
		}
	}
}

func TestChildEnv_PassesNoSecrets(t *testing.T) {
	got := childEnv([]string{"PATH=/bin", "PAWL_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x", "GIT_DIR=x", "CUDA_VISIBLE_DEVICES=0", "HOME=/root"}, job.Lease{Device: "GPU-1"})
	want := []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "PATH=/bin", "HOME=/root", "CUDA_VISIBLE_DEVICES=GPU-1", "ROCR_VISIBLE_DEVICES=GPU-1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := childEnv([]string{"CUDA_VISIBLE_DEVICES=3"}, job.Lease{Device: "slurm-0"}); !slices.Contains(got, "CUDA_VISIBLE_DEVICES=3") {
		t.Errorf("%q: want the GPU that the batch system chose", got)
	}
	const part, cpu = "PAWL_OPENCL_DEVICE=gfx942", "PAWL_OPENCL_CPU=unprotected"
	if got := childEnv([]string{cpu}, job.Lease{Device: "opencl:gfx942"}); !slices.Contains(got, part) || slices.Contains(got, cpu) {
		t.Errorf("%q: want the device that the lease names, and no OpenCL on a CPU for a gate", got)
	}
	if got := childEnv(nil, job.Lease{Device: "opencl:gfx942@gpu2", Calibrate: 7}); !slices.Contains(got, part) || !slices.Contains(got, cpu) {
		t.Errorf("%q: want a calibration to run on every device", got)
	}
}

func TestFindDevice(t *testing.T) {
	pawl := filepath.Join(t.TempDir(), "pawl")
	for answer, want := range map[string][2]string{
		`{"device":{"uuid":"GPU-1","name":"NVIDIA H100 80GB HBM3"}}`: {"GPU-1", "h100"},
		`{"device":{"uuid":"GPU-2","name":"NVIDIA A100-SXM4-40GB"}}`: {"GPU-2", "a100-sxm4-40gb"},
		`{"device":{"uuid":"GPU-3","name":""}}`:                      {"GPU-3", "gpu"},
		`{"no_device":"none"}`:                                       {"cpu:", "cpu"},
	} {
		if err := os.WriteFile(pawl, []byte("#!/bin/sh\necho '"+answer+"'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		id, model, err := findDevice(t.Context(), pawl)
		if !exists("/etc/machine-id") && want[1] == "cpu" {
			continue
		}
		if err != nil || !strings.HasPrefix(id, want[0]) || model != want[1] {
			t.Errorf("%s: %s, %s, %v", answer, id, model, err)
		}
	}
}

func TestReadRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "current.json")
	if readRun(file) != nil {
		t.Error("a run without a record")
	}
	if err := measure.Save(file, &measure.Run{Rounds: []measure.Round{{}, {Index: 1}}, Header: measure.Header{Device: gpu.Identity{Driver: "570"}}}); err != nil {
		t.Fatal(err)
	}
	if run := readRun(file); run == nil || len(run.Rounds) != 2 || run.Device.Driver != "570" {
		t.Errorf("run %+v", run)
	}
}
