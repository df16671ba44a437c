package correctness

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// The test binary is also the harness and the oracle of these tests: out = 3*x + S.
func TestMain(m *testing.M) {
	if mode := os.Getenv("PAWL_TEST_ORACLE"); mode != "" {
		os.Exit(play(mode))
	}
	os.Exit(m.Run())
}

type request struct {
	ID                      int
	Op, Inputs, Outputs     string
	Poison                  uint64 `json:",string"`
	Params                  map[string]any
	Timer                   string
	Naive                   bool
	Arguments               []tensor.Argument
	Benchmark, Cache, Bytes any
}

// hangs is how long a process may be silent before it counts as hung. It also limits the
// hello, which a busy machine delays, so it cannot be short.
const hangs = 20 * time.Second

// play speaks the protocol. Its mode is what goes wrong.
func play(mode string) int {
	pipe := func(name string) *os.File {
		fd, _ := strconv.Atoi(os.Getenv(name))
		return os.NewFile(uintptr(fd), name)
	}
	in, out := bufio.NewScanner(pipe("PAWL_IN")), pipe("PAWL_OUT")
	size := 0.0
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 100
		}
		say := func(format string, args ...any) {
			fmt.Fprintf(out, `{"id":%d,"op":%q,%s}`+"\n", r.ID, r.Op, fmt.Sprintf(format, args...))
		}
		refuse := func(code string) { say(`"error":{"code":%q,"message":"as the test asks"}`, code) }
		if s, ok := r.Params["S"].(float64); ok {
			size = s
		}
		switch r.Op {
		case "hello":
			feature := map[bool]string{true: "compute", false: "check"}[strings.HasPrefix(mode, "oracle")]
			say(`"protocol":1,"sdk":"test","timers":["wall"],"features":[%q]`, feature)
		case "prepare":
			if mode == "refuse" && size > 10 {
				refuse("bad_params")
				continue
			}
			say(`"timer":%q`, r.Timer)
		case "check", "compute":
			switch {
			case mode == "crash" && size > 10:
				fmt.Fprintln(os.Stderr, "segmentation fault, as the test asks")
				return 139
			case mode == "hang" && size > 10:
				time.Sleep(10 * time.Minute) // or until it is killed
			case mode == "integrity" && size > 10:
				refuse("integrity")
				continue
			case mode == "oracle-refuse" && size > 10:
				refuse("unsupported")
				continue
			case mode == "oracle-crash" && size > 10:
				return 1
			case mode == "garbage":
				if err := os.WriteFile(r.Outputs, []byte("not tensors"), 0o644); err != nil {
					return 100
				}
			case mode == "silent": // answers, and writes nothing
			case mode == "oracle-link":
				if err := os.Symlink(r.Inputs, r.Outputs); err != nil {
					return 100
				}
			case mode == "oracle-pipe":
				if err := syscall.Mkfifo(r.Outputs, 0o644); err != nil {
					return 100
				}
			case mode == "oracle-elsewhere" && filepath.Dir(r.Inputs) != filepath.Dir(r.Outputs):
				return 100
			default:
				work(r, mode, size)
			}
			say(`"supported":true,"naive":%v`, r.Naive)
		case "bye":
			fmt.Fprintf(out, `{"id":%d,"op":"bye"}`+"\n", r.ID)
			return 0
		}
	}
	return 101
}

func work(r request, mode string, size float64) {
	list, err := tensor.Load(r.Inputs, 1<<30)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	x := list[0]
	values := make([]float64, x.Len())
	x.Read(values, 0)
	for i := range values {
		values[i] = 3*values[i] + size
		if mode == "off" && i == 20 {
			values[i]++
		}
	}
	d, answer := tensor.F32, []tensor.Tensor{}
	if r.Op == "compute" {
		d = tensor.F64
	}
	y := of(d, values...)
	y.Shape = x.Shape
	answer = append(answer, y)
	if r.Naive {
		naive := of(tensor.F32, values...)
		naive.Name, naive.Shape = "out.naive", x.Shape
		answer = append(answer, naive)
	}
	if err := tensor.Save(r.Outputs, answer); err != nil {
		os.Exit(98)
	}
}

func process(t *testing.T, mode string, starts *int) Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	silence := await.Limit
	if mode == "hang" {
		silence = hangs
	}
	return Process{Dir: dir, Start: func(ctx context.Context) (*harness.Session, error) {
		*starts++
		c := harness.Command{Line: "exec " + self, Dir: dir, Env: []string{"PAWL_TEST_ORACLE=" + mode, "GORACE=atexit_sleep_ms=0"}, Silence: silence}
		return harness.Start(ctx, c, harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.CPU}})
	}}
}

func TestProcesses(t *testing.T) {
	for _, tt := range []struct {
		subject, oracle         string
		passed, failed, skipped int
		fault, reason, err      string
		starts                  int // of the subject
	}{
		{subject: "right", oracle: "oracle", passed: 3, starts: 1},
		{subject: "off", oracle: "oracle", passed: 1, failed: 2, reason: "the max error 1", starts: 1},
		{subject: "refuse", oracle: "oracle", passed: 1, skipped: 2, reason: "not supported: as the test asks", starts: 1},
		{subject: "crash", oracle: "oracle", passed: 1, failed: 2, fault: "crashed", reason: "segmentation fault, as the test asks", starts: 2},
		{subject: "hang", oracle: "oracle", passed: 2, failed: 1, fault: "hung", reason: "no message for 20s", starts: 2},
		{subject: "integrity", oracle: "oracle", passed: 1, failed: 2, fault: "integrity", reason: "as the test asks", starts: 2},
		{subject: "garbage", oracle: "oracle", failed: 3, fault: "no outputs", reason: "its outputs cannot be read", starts: 3},
		{subject: "silent", oracle: "oracle", failed: 3, fault: "no outputs", reason: "no such file", starts: 3},
		{subject: "right", oracle: "oracle-refuse", passed: 1, skipped: 2, reason: "not supported by the oracle: as the test asks", starts: 1},
		{subject: "right", oracle: "oracle-crash", passed: 1, err: "the oracle returned no result for S40", starts: 1},
		{subject: "right", oracle: "oracle-link", err: "it is a link, not a file", starts: 0},
		{subject: "right", oracle: "oracle-pipe", err: "not a regular file", starts: 0},
		{subject: "right", oracle: "oracle-elsewhere", passed: 3, starts: 1},
		{subject: "right", oracle: "right", err: "the oracle does not support compute", starts: 0},
	} {
		t.Run(tt.subject+" "+tt.oracle, func(t *testing.T) {
			t.Parallel()
			var starts, oracles int
			subject := &HarnessSubject{Process: process(t, tt.subject, &starts), Implementation: "candidate"}
			reference := &CommandReference{process(t, tt.oracle, &oracles)}
			defer subject.Close(context.Background())
			defer reference.Close(context.Background())
			points := []float64{5, 40, 50}
			if tt.subject == "hang" { // one that hangs is enough
				points = []float64{5, 40, 6}
			}
			p := plan(sizes(Normal, points...)...)
			p.Dir, p.MostShrunk = t.TempDir(), -1
			r, err := Run(t.Context(), p, subject, reference, quiet)
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if r.Passed != tt.passed || r.Failed != tt.failed || r.Skipped != tt.skipped || starts != tt.starts {
				t.Errorf("%d passed, %d failed, %d skipped, %d starts: %+v", r.Passed, r.Failed, r.Skipped, starts, r.Results)
			}
			for i, x := range r.Results {
				if points[i] > 10 && (!strings.Contains(x.Reason, tt.reason) || x.Fault != tt.fault) {
					t.Errorf("%v: %q, %q", points[i], x.Reason, x.Fault)
				}
			}
			for _, dir := range []string{p.Dir, subject.Dir, reference.Dir} {
				if left, _ := filepath.Glob(filepath.Join(dir, "*")); left != nil {
					t.Errorf("files are left: %v", left)
				}
			}
		})
	}
}

// A failure is made small through real processes, and one that crashes too.
func TestProcessesShrink(t *testing.T) {
	for mode, want := range map[string]float64{"off": 21, "crash": 11} {
		var starts, oracles int
		subject := &HarnessSubject{Process: process(t, mode, &starts), Implementation: "candidate"}
		reference := &CommandReference{process(t, "oracle", &oracles)}
		p := plan(sizes(Normal, 300)...)
		p.Dir, p.Tolerance = t.TempDir(), suite.Tolerance{Atol: new(1e-3)}
		r, err := Run(t.Context(), p, subject, reference, quiet)
		if err != nil || len(r.Found) != 1 || get(r.Found[0].Smallest.Point, "S") != want || !r.Found[0].Again || oracles != 1 {
			t.Errorf("%s: %+v, %v, %d oracles", mode, r.Found, err, oracles)
		}
		if err := subject.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := reference.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingStarts(t *testing.T) {
	subject := &HarnessSubject{Process: Process{Dir: t.TempDir(), Start: func(ctx context.Context) (*harness.Session, error) {
		return harness.Start(ctx, harness.Command{Line: "exit 127", Dir: t.TempDir()}, harness.Hello{})
	}}}
	p := plan(sizes(Normal, 3)...)
	p.Dir = t.TempDir()
	r, err := Run(t.Context(), p, subject, reference(t), quiet)
	if err == nil || !strings.Contains(err.Error(), "start the kernel's process") || r.Tested() {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestImplementationReference(t *testing.T) {
	r, err := Run(t.Context(), plan(sizes(Normal, 3, 4)...), &kernel{}, ImplementationReference{Subject: &kernel{}, Dir: t.TempDir()}, quiet)
	if err != nil || r.Passed != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	broken := &kernel{mistake: func(Task, []float64, int) error { return &FaultError{"crashed", "boom"} }}
	_, err = Run(t.Context(), plan(sizes(Normal, 3)...), &kernel{}, ImplementationReference{Subject: broken, Dir: t.TempDir()}, quiet)
	if err == nil || !strings.Contains(err.Error(), "the reference implementation itself fails for S3: boom") {
		t.Errorf("%v", err)
	}
}
