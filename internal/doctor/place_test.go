package doctor_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
)

func TestSuiteFile(t *testing.T) {
	tests := []struct{ name, suite, want string }{
		{"none", "", "missing: suite: pawl.yaml does not exist | run `pawl init` to write one"},
		{"wrong", "version: 1\nharness: {command: ./h}\nmesure: {}\n", "missing: suite: pawl.yaml:3:1: unknown key \"mesure\" (did you mean \"measure\"?) | correct pawl.yaml"},
		{"odd", "version: 1\nharness: {command: ./h}\nbenchmarks: {b: {matrix: {N: [1]}, exclude: [N > 5]}}\n", "ok: suite: pawl.yaml is valid: 1 case\nwarn: suite: pawl.yaml:3:"},
		{"open", "version: 1\nharness: {command: ./h}\n", "ok: suite: pawl.yaml is valid: 0 cases, plus those that the harness lists"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			if tt.suite != "" {
				p.write("pawl.yaml", tt.suite)
			}
			r := p.examine()
			expect(t, r, "suite", tt.want)
			if first := r.First(); strings.HasPrefix(tt.want, "missing") && (first == nil || first.Name != "suite") {
				t.Errorf("first to fix: %v", first)
			}
		})
	}
}

func TestTools(t *testing.T) {
	const build = "version: 1\nbuild: {command: cmake -B b && ninja -C b}\nharness: {command: python3 h.py, format: go}\n"
	tests := []struct {
		name   string
		suite  string
		files  map[string]string
		want   map[string]string
		usable bool
	}{
		{
			"all there", build,
			map[string]string{"bin/cmake": "", "bin/ninja": "", "bin/python3": ""},
			map[string]string{"cmake": "ok: cmake: bin/cmake", "ninja": "ok: ninja: bin/ninja", "python3": "ok: python3: bin/python3", "nvcc": ""},
			true,
		},
		{
			"one is missing", build,
			map[string]string{"bin/cmake": "", "bin/python3": ""},
			map[string]string{"ninja": "missing: ninja: not found, but the build command needs it: cmake -B b && ninja -C b | sudo apt install ninja-build"},
			false,
		},
		{
			"the harness needs it", build,
			map[string]string{"bin/cmake": "", "bin/ninja": ""},
			map[string]string{"python3": "missing: python3: not found, but the harness command needs it: python3 h.py | sudo apt install python3"},
			false,
		},
		{
			"nobody knows its package", "version: 1\nharness: {command: frobnicate, format: go}\n", nil,
			map[string]string{"frobnicate": "missing: frobnicate: not found, but the harness command needs it: frobnicate"},
			false,
		},
		{
			"a recipe names a compiler", "version: 1\nbuild: {command: make}\nharness: {command: ./h}\n",
			map[string]string{"bin/make": "", "Makefile": "h: h.cu\n\tnvcc -o h h.cu # not clang, go and see\n"},
			map[string]string{
				"make": "ok: make: bin/make", "nvcc": "warn: nvcc: not found, but the build files mention it | sudo apt install nvidia-cuda-toolkit",
				"clang": "", "go": "",
			},
			true,
		},
		{
			"the build brings its own path", "version: 1\nbuild: {command: nvcc h.cu, env: {PATH: opt}}\nharness: {command: ./h}\n",
			map[string]string{"opt/nvcc": "#!/bin/sh\n"},
			map[string]string{"nvcc": "ok: nvcc: opt/nvcc"},
			true,
		},
		{
			"the build is a script that is not there", "version: 1\nbuild: {command: ./build.sh}\nharness: {command: ./h}\n", nil,
			map[string]string{"./build.sh": "missing: ./build.sh: not found, but the build command needs it: ./build.sh"},
			false,
		},
		{
			"no suite", "",
			map[string]string{"bin/cc": ""},
			map[string]string{"cc": "ok: cc: bin/cc", "nvcc": "note: nvcc: not found | sudo apt install nvidia-cuda-toolkit", "ccache": "note: ccache: not found | sudo apt install ccache"},
			false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			if tt.suite != "" {
				p.write("pawl.yaml", tt.suite)
			}
			for name, text := range tt.files {
				p.write(name, text)
			}
			r := p.examine()
			for name, want := range tt.want {
				expect(t, r, name, want)
			}
			if r.Usable() != tt.usable {
				t.Errorf("usable %v, want %v; first %v", r.Usable(), tt.usable, r.First())
			}
		})
	}
}

func TestResults(t *testing.T) {
	const gib = 1 << 30
	free := func(n int64, err error) func(string) (int64, error) {
		return func(string) (int64, error) { return n, err }
	}
	tests := []struct {
		name string
		make func(*place)
		want string
	}{
		{"room", func(*place) {}, "ok: results: results is writable, 100 GiB free"},
		{"there already", func(p *place) { p.write("results/x", "") }, "ok: results: results is writable, 100 GiB free"},
		{"little room", func(p *place) { p.Free = free(gib-1, nil) }, "warn: results: the disk of results is nearly full: 1023 MiB left | free some space"},
		{"no room", func(p *place) { p.Free = free(15<<20, nil) }, "missing: results: the disk of results is full: 15 MiB left | free some space"},
		{"not known", func(p *place) { p.Free = free(0, errors.New("no idea")) }, "note: results: results is writable; the free space on its disk is not known: no idea"},
		{"a file", func(p *place) { p.write("results", "") }, "missing: results: results is a file"},
		{"this machine's disk", func(p *place) { p.Free = nil }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			tt.make(p)
			r := p.examine()
			if tt.want == "" { // whatever there is, it can be asked for
				if got := lines(r, "results"); got == "" || strings.Contains(got, "not known") {
					t.Errorf("results: %q", got)
				}
				return
			}
			expect(t, r, "results", tt.want)
		})
	}
}

// What is said of a leftover journal is what bench does with it.
func TestInterrupted(t *testing.T) {
	journal := func(t *testing.T, name string) {
		t.Helper()
		j, err := measure.CreateJournal("results/"+name+".journal", measure.Header{ID: "x", Created: noon(), Source: measure.Measured}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if err := j.AddRound(measure.Round{Index: i}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name    string
		journal string // of three rounds
		change  func(text string) string
		want    string
	}{
		{"none", "", nil, ""},
		{"of bench", "current", nil, "note: interrupted: a run was interrupted after 3 rounds: the next pawl bench saves it as results/interrupted-TIME.json"},
		{"of noise", "noise", nil, "note: interrupted: a run was interrupted after 3 rounds: the next pawl doctor --noise saves it"},
		{"of another", "mine", nil, "note: interrupted: a run was interrupted after 3 rounds: the next run with the same --out saves it"},
		{
			"empty", "current", func(string) string { return "" },
			"note: interrupted: results/current.journal is from a run that ended before its first round: the next pawl bench removes it",
		},
		{
			"cut short", "current", func(s string) string { return s[:len(s)-5] },
			"note: interrupted: a run was interrupted after 2 rounds:",
		},
		{
			"damaged", "current", func(s string) string { return strings.Replace(s, "\n", "\n{\"record\":\n", 1) },
			"missing: interrupted: an interrupted run cannot be saved:",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.write("results/other.json", "")
			if tt.journal != "" {
				journal(t, tt.journal)
			}
			if name := "results/" + tt.journal + ".journal"; tt.change != nil {
				b, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				p.write(name, tt.change(string(b)))
			}
			expect(t, p.examine(), "interrupted", tt.want)
		})
	}
}

func TestGit(t *testing.T) {
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git here")
	}
	path := os.Getenv("PATH")
	git := func(p *place, args ...string) {
		p.t.Helper()
		cmd := exec.CommandContext(p.t.Context(), program, args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			p.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	commit := func(p *place) {
		git(p, "init", "-q")
		p.write("a", "1")
		git(p, "add", "a")
		git(p, "commit", "-qm", "a")
	}
	type test struct {
		name string
		make func(*place)
		want string
	}
	tests := []test{
		{"no git", func(p *place) { p.Path = "bin" }, "warn: git: not found: pawl bench --base and the commit in the record need it | sudo apt install git"},
		{"no repository", func(*place) {}, "note: git: this folder is not in a git repository"},
		{"no commit", func(p *place) { git(p, "init", "-q") }, "note: git: the repository has no commit yet"},
		{"a commit", commit, "ok: git: at "},
		{"changes", func(p *place) { commit(p); p.write("a", "2") }, "ok: git: at "},
		{"shallow", func(p *place) { commit(p); p.write(".git/shallow", "") }, "warn: git: the repository is a shallow clone"},
	}
	if os.Getuid() == 0 { // who else may give a folder away
		tests = append(tests, test{"of another user", func(p *place) {
			commit(p)
			for _, name := range []string{".", ".git"} {
				if err := os.Chown(name, 12345, 12345); err != nil {
					p.t.Fatal(err)
				}
			}
		}, "warn: git: git does not trust this repository"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
			t.Setenv("GIT_CONFIG_SYSTEM", "/dev/null")
			t.Setenv("PATH", path)
			p.Path = path
			tt.make(p)
			r := p.examine()
			expect(t, r, "git", tt.want)
			if got := lines(r, "git"); strings.Contains(got, "uncommitted changes") != (tt.name == "changes") {
				t.Errorf("git: %q", got)
			}
		})
	}
}

func TestLockFolder(t *testing.T) {
	p := newPlace(t)
	p.write("locks", "a file")
	r := p.examine()
	expect(t, r, "lock", "missing: lock:", "PAWL_LOCK_DIR")
	if first := r.First(); first == nil || first.Name != "lock" {
		t.Errorf("first %v", first)
	}
}

func TestSuiteThatWantsAGPU(t *testing.T) {
	for _, device := range []string{"device: {kind: nvidia}", "device: {select: GPU-1}"} {
		p := newPlace(t)
		p.write("pawl.yaml", "version: 1\n"+device+"\nharness: {command: ./h}\nbuild: {command: ./h}\n")
		p.write("h", "#!/bin/sh\n")
		r := p.examine()
		expect(t, r, "nvidia", "missing: nvidia: the suite requires an NVIDIA GPU, but there is none: the driver is on holiday", "device: {kind: cpu}")
		expect(t, r, "measures on", "")
		if first := r.First(); first == nil || first.Name != "nvidia" {
			t.Errorf("first %v", first)
		}
	}
	p := newPlace(t)
	r := p.examine()
	expect(t, r, "nvidia", "note: nvidia: no NVIDIA GPU: the driver is on holiday")
	expect(t, r, "measures on", "ok: measures on: the CPU of this machine")
}
