package harness_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// The test binary is also the harness: one that behaves, or misbehaves in the
// way its environment names (misbehave_test.go).
func TestMain(m *testing.M) {
	if mode := os.Getenv("PAWL_TEST_HARNESS"); mode != "" {
		os.Exit(play(mode))
	}
	os.Exit(m.Run())
}

func command(t *testing.T, mode string) harness.Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return harness.Command{Line: "exec " + self, Dir: t.TempDir(), Env: []string{"PAWL_TEST_HARNESS=" + mode, "GORACE=atexit_sleep_ms=0"}, Silence: await.Limit, Grace: await.Limit}
}

var hello = harness.Hello{Pawl: "test", Device: harness.HelloDevice{Kind: gpu.CPU}}

var spin = harness.Prepare{Benchmark: "spin", Implementation: "candidate", Params: map[string]any{"us": 50}, Cache: measure.Hot, Timer: measure.TimerWall, Seed: 7}

// measureOnce is what a round does with one case.
func measureOnce(ctx context.Context, c harness.Command) (harness.Measured, error) {
	s, err := harness.Start(ctx, c, hello)
	if err != nil {
		return harness.Measured{}, err
	}
	defer s.Kill()
	if _, err := s.Cases(ctx); err != nil {
		return harness.Measured{}, err
	}
	if _, err := s.Prepare(ctx, spin); err != nil {
		return harness.Measured{}, err
	}
	m, err := s.Measure(ctx, "spin/us50", harness.Measure{Samples: 5})
	if err != nil {
		return m, err
	}
	return m, s.Bye(ctx)
}

func TestSession(t *testing.T) {
	want := harness.Measured{Count: 5, Batch: 2, Samples: measure.Samples{1, 2, 3, 4, 5}, Wall: measure.Samples{2, 3, 4, 5, 6}}
	for _, mode := range []string{"good", "parts", "chatty"} {
		t.Run(mode, func(t *testing.T) {
			got, err := measureOnce(t.Context(), command(t, mode))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMeasure_SumsOfAllParts(t *testing.T) {
	got, err := measureOnce(t.Context(), command(t, "sums"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(harness.Sums{1, 2, 3, 4, 5}, got.Sums); diff != "" {
		t.Error(diff)
	}
}

func TestMeasure_ValuesOfAllParts(t *testing.T) {
	got, err := measureOnce(t.Context(), command(t, "values"))
	if err != nil {
		t.Fatal(err)
	}
	want := []measure.Values{
		{Metric: "tok/s", Unit: "tok/s", Better: measure.Higher, Samples: measure.Samples{7, 8, 9}},
		{Metric: "errors", Unit: "errors", Better: measure.Lower, Samples: measure.Samples{0, -1}},
	}
	if diff := cmp.Diff(want, got.Values); diff != "" {
		t.Error(diff)
	}
}

// A shell or a sandbox around a program says by its exit status how the program ended.
func TestKilledInsideAnother(t *testing.T) {
	t.Parallel()
	_, err := harness.Start(t.Context(), harness.Command{Line: "sh -c 'kill -SEGV $$'; exit $?", Dir: t.TempDir()}, harness.Hello{})
	if err == nil || !strings.Contains(err.Error(), "exit status 139 (segmentation fault)") {
		t.Errorf("got %v", err)
	}
}

func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode string
		kind harness.Kind
		want []string // what the message must tell
	}{
		{"crash", harness.Crashed, []string{"asked to measure spin/us50", "exit status 7", "about to crash"}},
		{"killed", harness.Crashed, []string{"asked to measure spin/us50", "signal 9 (killed)"}},
		{"crash-early", harness.Crashed, []string{"asked to say hello", "exit status 3", "pawl_main()"}},
		{"hang", harness.Hung, []string{"no message for 300ms", "killed", "harness.timeout"}},
		{"garbage", harness.Garbage, []string{`"Result: 42 GFLOP/s`, "print to stdout"}},
		{"not-an-object", harness.Garbage, []string{`"[1,2,3]"`}},
		{"wrong-type", harness.Garbage, []string{"measure spin/us50"}},
		{"wrong-id", harness.OutOfOrder, []string{"expected id 4", "got id 3"}},
		{"wrong-op", harness.OutOfOrder, []string{`op "measure"`, `op "prepare"`}},
		{"unasked", harness.OutOfOrder, []string{"expected id 3"}},
		{"too-few", harness.BadCount, []string{"expected 5 samples, got 4"}},
		{"count-lie", harness.BadCount, []string{"reports 5 samples but sent 4"}},
		{"no-samples", harness.BadCount, []string{"expected 5 samples, got 0"}},
		{"beside-lie", harness.BadCount, []string{`5 samples, but 3 readings in "wall"`}},
		{"zero-sample", harness.BadSample, []string{"sample 3 of 5 is 0 ns", "batched"}},
		{"negative-sample", harness.BadSample, []string{"is -1 ns"}},
		{"other-timer", harness.Garbage, []string{`timer "wall"`, `"sundial"`}},
		{"version-2", harness.BadVersion, []string{"version 2", "old-sdk 0.1"}},
		{"version-refused", harness.BadVersion, []string{"speaks another protocol version", "update the SDK"}},
		{"endless", harness.BadCount, []string{"more than 20000 samples"}},
		{"drip", harness.Hung, []string{"still not done after 1s"}},
		{"refuse", harness.Refused, []string{"prepare spin", "no room for 7 TiB"}},
		{"lost-device", harness.LostDevice, []string{"lost its device while asked to prepare spin", "an illegal memory access", "compute-sanitizer"}},
		{"dies-after-bye", harness.Crashed, []string{"exit after bye", "exit status 9"}},
		{"closes-pipe", harness.Garbage, []string{"closed its end"}},
		{"value-name", harness.BadSample, []string{"cannot be the name of a reported metric"}},
		{"value-time", harness.BadSample, []string{`"time" cannot be the name`}},
		{"value-unit", harness.BadSample, []string{"needs a unit"}},
		{"value-units", harness.BadSample, []string{`in "s"`, `then in "ms"`}},
		{"value-better", harness.BadSample, []string{"lower or higher is better"}},
		{"value-none", harness.BadSample, []string{"has no values"}},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			c := command(t, tt.mode)
			switch tt.mode {
			case "hang":
				c.Silence = 300 * time.Millisecond
			case "closes-pipe":
				c.Grace = 300 * time.Millisecond
			case "endless":
				c.Most = 20_000
			case "drip":
				c.Limit = time.Second
			}
			_, err := measureOnce(t.Context(), c)
			e, ok := errors.AsType[*harness.Error](err)
			if !ok {
				t.Fatalf("have %v, want a harness.Error", err)
			}
			if e.Kind != tt.kind {
				t.Errorf("kind %q, want %q", e.Kind, tt.kind)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the message does not say %q:\n%v", want, err)
				}
			}
			if strings.ContainsRune(err.Error(), '\x1b') {
				t.Error("an escape sequence reaches the terminal")
			}
		})
	}
}

func TestNotAHarness(t *testing.T) {
	for line, want := range map[string]string{"./does-not-exist": "was not found", "exit 0": "harness.format"} {
		t.Run(line, func(t *testing.T) {
			_, err := harness.Start(t.Context(), harness.Command{Line: line, Dir: t.TempDir(), Silence: await.Limit}, hello)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("have %v, want a hint at %q", err, want)
			}
		})
	}
	_, err := harness.Start(t.Context(), harness.Command{Line: "true", Dir: "/does/not/exist"}, hello)
	if e, ok := errors.AsType[*harness.Error](err); !ok || e.Kind != harness.NotStarted {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// A harness and all it started die when the context ends, when it hangs, and
// when the session is killed.
func TestNothingIsLeftRunning(t *testing.T) {
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "child.pid")
	c := command(t, "grandchild")
	c.Env = append(c.Env, "PAWL_TEST_PIDFILE="+pidFile)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() {
		_, err := measureOnce(ctx, c)
		ended <- err
	}()
	var pid []byte
	await.True(t, "the grandchild to start", func() bool {
		pid, _ = os.ReadFile(pidFile)
		return len(pid) > 0
	})
	cancel(errors.New("enough"))
	err := await.Receive(t, "the session to end", ended)
	if err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("have %v, want the cause of the cancellation", err)
	}
	await.True(t, "process "+string(pid)+" to die with the session", func() bool { return !exists("/proc/" + string(pid) + "/fd/0") })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestOutputStaysTheUsers(t *testing.T) {
	var log strings.Builder
	c := command(t, "chatty")
	c.Log = &log
	if _, err := measureOnce(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "hello from stdout") || !strings.Contains(log.String(), "hello from stderr") {
		t.Errorf("log: %q", log.String())
	}
}

// A program of its own may know a reference by its name, or only as its candidate. A harness that
// also has the candidate may not: that would be measured in its place.
func TestPrepareOfAReference(t *testing.T) {
	reference := spin
	reference.Implementation = "ref"
	for alone, want := range map[bool]string{true: "", false: "has no implementation"} {
		c := command(t, "candidate-only")
		c.Alone = alone
		s, err := harness.Start(t.Context(), c, hello)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Prepare(t.Context(), reference)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("alone %t: %v", alone, err)
		}
		s.Kill()
	}
}
