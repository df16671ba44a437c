package doctor_test

import (
	_ "embed"
	"os"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

//go:embed testdata/harness.sh
var harnessScript string

// harness puts a suite and a harness that speaks the protocol into the folder.
func (p *place) harness(suite string) {
	p.t.Helper()
	p.write("pawl.yaml", suite)
	p.write("harness.sh", harnessScript)
}

func TestHarness(t *testing.T) {
	const minimal = "version: 1\nharness: {command: ./harness.sh}\n"
	tests := []struct {
		name   string
		suite  string
		files  map[string]string // beside the harness; an empty text removes
		want   map[string]string // finding: how it starts
		usable bool
	}{
		{
			"it answers", minimal, nil,
			map[string]string{
				"program":   "ok: program: ./harness.sh",
				"candidate": "ok: candidate: sh 1 answers and brings 1 benchmark; timers: wall",
				"suite":     "ok: suite: pawl.yaml is valid: 2 cases",
			},
			true,
		},
		{
			"it is not there", minimal,
			map[string]string{"harness.sh": ""},
			map[string]string{
				"program":   "missing: program: ./harness.sh does not exist, and the suite does not say how to build it | correct harness.command",
				"candidate": "note: candidate: not started: it is not built yet",
			},
			false,
		},
		{
			"it is not executable", minimal,
			map[string]string{"harness.sh": "echo"},
			map[string]string{"program": "missing: program: ./harness.sh is not executable | chmod +x harness.sh"},
			false,
		},
		{
			"it is not built yet", "version: 1\nbuild: {command: ./build.sh}\nharness: {command: ./harness.sh}\n",
			map[string]string{"harness.sh": "", "build.sh": "#!/bin/sh\n"},
			map[string]string{
				"program":   `note: program: ./harness.sh is not built yet: pawl bench builds it with "./build.sh"`,
				"candidate": "note: candidate: not started: it is not built yet",
			},
			true,
		},
		{
			"an output of the build is missing", "version: 1\nbuild: {command: ./build.sh, outputs: ['*.so']}\nharness: {command: ./harness.sh}\n",
			map[string]string{"build.sh": "#!/bin/sh\n"},
			map[string]string{"candidate": "note: candidate: not started: it is not built yet"},
			true,
		},
		{
			"whether it is built cannot be told", "version: 1\nbuild: {command: ./build.sh}\nharness: {command: tool run}\n",
			map[string]string{"build.sh": "#!/bin/sh\n", "bin/tool": "#!/bin/sh\nexit 1\n"},
			map[string]string{"candidate": "note: candidate: not started: it is not built yet"},
			true,
		},
		{
			"it crashes", minimal,
			map[string]string{"harness.sh": "#!/bin/sh\necho no luck >&2\nexit 7\n"},
			map[string]string{"candidate": `missing: candidate: harness "./harness.sh" crashed while asked to say hello: exit status 7`},
			false,
		},
		{
			"it crashes, and bench would build it anew", "version: 1\nbuild: {command: ./build.sh}\nharness: {command: ./harness.sh}\n",
			map[string]string{"build.sh": "#!/bin/sh\n", "harness.sh": "#!/bin/sh\nexit 7\n"},
			map[string]string{"candidate": `warn: candidate: as currently built: harness "./harness.sh" crashed`},
			true,
		},
		{
			"it speaks another version", "version: 1\nharness: {command: ./harness.sh, env: {VERSION: 9}}\n", nil,
			map[string]string{"candidate": `missing: candidate: harness "./harness.sh" speaks another protocol version`},
			false,
		},
		{
			"it lists what no suite may have", "version: 1\nharness: {command: ./harness.sh, env: {BENCHMARK: pawl.calibration}}\n", nil,
			map[string]string{"candidate": `missing: candidate: pawl.yaml:2:10: the harness lists a benchmark`},
			false,
		},
		{
			"it does not list a benchmark of the suite", minimal + "benchmarks: {other: {matrix: {N: [1]}}}\n", nil,
			map[string]string{"candidate": "ok: candidate: sh 1 answers and brings 1 benchmark; timers: wall\nwarn: candidate: the harness does not list benchmark \"other\""},
			true,
		},
		{
			"it has no such timer", minimal + "measure: {timer: device}\n", nil,
			map[string]string{"candidate": "ok: candidate: sh 1 answers and brings 1 benchmark; timers: wall\nwarn: candidate: the suite requests the timer device, which this harness does not have: b/N1 would fail | set in the suite: measure: {timer: wall}"},
			true,
		},
		{
			"there is none", "version: 1\ntrust: checked\nbenchmarks: {b: {matrix: {N: [1]}, arguments: {n: {value: N}}, launch: {file: k.so, kernel: k}}}\n", nil,
			map[string]string{"candidate": "note: candidate: not started: the suite has no harness: pawl's own launcher runs the kernel"},
			true,
		},
		{
			"a plain command", "version: 1\nharness: {command: ./harness.sh, format: go}\n", nil,
			map[string]string{"candidate": "note: candidate: not started: it is a command whose output is read (go)"},
			true,
		},
		{
			"a reference with a harness of its own", minimal + "implementations: {other: {harness: {command: ./other.sh}}}\nbenchmarks: {b: {matrix: {N: [1]}}}\n",
			map[string]string{"other.sh": "#!/bin/sh\nexit 3\n"},
			map[string]string{
				"candidate": "ok: candidate:",
				"other":     `missing: other: harness "./other.sh" crashed`,
				"program":   "ok: program: ./harness.sh\nok: program: ./other.sh",
			},
			false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.harness(tt.suite)
			for name, text := range tt.files {
				if err := os.RemoveAll(name); err != nil {
					t.Fatal(err)
				}
				if text != "" {
					p.write(name, text)
				}
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

// A harness calls itself what it likes; a terminal must not obey it.
func TestHarnessCannotPaintTheTerminal(t *testing.T) {
	p := newPlace(t)
	p.harness("version: 1\nharness: {command: ./harness.sh}\n")
	p.write("harness.sh", strings.ReplaceAll(harnessScript, "sh 1", `\\u001b[31mred`))
	r := p.examine()
	expect(t, r, "candidate", "ok: candidate: [31mred answers")
}

// While another pawl measures, nothing is started on its device.
func TestHarnessIsNotStartedBesideARun(t *testing.T) {
	p := newPlace(t)
	p.harness("version: 1\nharness: {command: ./harness.sh}\n")
	p.write("results/current.journal", "")
	inv, err := p.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lease, err := device.Acquire(t.Context(), inv.Devices[0], device.LockOptions{Dir: p.LockDir, Owner: "pawl bench"})
	if err != nil {
		t.Fatal(err)
	}
	r := p.examine()
	expect(t, r, "candidate", "note: candidate: not started: another pawl is measuring on the device")
	expect(t, r, "lock", "note: lock: in use by process", "(pawl bench)", "waits until it is free")
	expect(t, r, "interrupted", "note: interrupted: results/current.journal is being written, or")
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	r = p.examine()
	expect(t, r, "candidate", "ok: candidate:")
	expect(t, r, "lock", "ok: lock: free; lock files are in locks")
}
