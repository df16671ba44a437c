package trial_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// The test binary is also a harness: one whose runs take as long as PAWL_RUN_NS
// says, and which writes down what it is asked.
func TestMain(m *testing.M) {
	if side := os.Getenv("PAWL_TEST_SIDE"); side != "" {
		os.Exit(playHarness(side))
	}
	os.Exit(m.Run())
}

func playHarness(side string) int {
	in, out := os.NewFile(3, "in"), os.NewFile(4, "out")
	log, err := os.OpenFile(os.Getenv("PAWL_TEST_LOG"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return 1
	}
	prepared, batch := "", 1
	for s := bufio.NewScanner(in); s.Scan(); {
		var q struct {
			ID        int
			Op        string
			Benchmark string
			Samples   int
			Batch     int
			Warmup    bool
			doubted
		}
		if json.Unmarshal(s.Bytes(), &q) != nil {
			return 2
		}
		what := q.Op
		if q.Warmup {
			what = "warm"
		}
		fmt.Fprintf(log, "%s %s %s%d\n", side, what, q.Benchmark, q.Samples)
		reply := fmt.Sprintf(`"id":%d,"op":%q`, q.ID, q.Op)
		switch {
		case q.Op == "hello" && os.Getenv("PAWL_TEST_TAKES_NS") != "":
			reply += `,"protocol":1,"timers":["wall"],"features":["check","run","keep"]`
		case q.Op == "hello":
			reply += `,"protocol":1,"timers":["wall"],"features":["verify"]`
		case q.Op == "run":
			q.run()
			reply += fmt.Sprintf(`,"iterations":%d`, q.Iterations)
		case q.Op == "prepare" && q.Benchmark == "refused":
			reply += `,"error":{"code":"no_memory","message":"no room"}`
		case q.Op == "prepare":
			prepared, batch = q.Benchmark, 1
			reply += `,"timer":"wall"`
		case q.Op == "measure" && !q.Warmup && slices.Contains(strings.Fields(os.Getenv("PAWL_TEST_CRASH")), prepared):
			return 7
		case q.Op == "measure":
			if q.Warmup {
				burn(os.Getenv("PAWL_TEST_THREADS"))
			} else {
				wake(os.Getenv("PAWL_TEST_WAKES"))
				logCores(os.Getenv("PAWL_TEST_CORES"))
			}
			if q.Batch > 0 && prepared != "single" {
				batch = q.Batch
			}
			samples := strings.Repeat(","+os.Getenv("PAWL_RUN_NS"), q.Samples)[1:]
			reply += fmt.Sprintf(`,"count":%d,"batch":%d,"samples":[%s]%s%s`, q.Samples, batch, samples, os.Getenv("PAWL_TEST_VALUES"), q.keep())
		}
		fmt.Fprintf(out, "{%s}\n", reply)
		if q.Op == "bye" {
			return 0
		}
	}
	return 3
}

// protocolPlan is a plan whose sides are real processes.
func protocolPlan(t *testing.T, cases []string, extra map[string][]string, sides ...string) (trial.Plan, *bench, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	b := &bench{}
	p := b.plan()
	p.Growth, p.Turns, p.Now, p.Watch = []int{2}, true, time.Now, nil
	for _, name := range sides {
		env := append([]string{"PAWL_TEST_SIDE=" + name, "PAWL_TEST_LOG=" + log, "PAWL_RUN_NS=2000000", "GORACE=atexit_sleep_ms=0"}, extra[name]...)
		s := trial.Side{Name: name, Runner: trial.Sessions{
			Command: func(trial.Case) harness.Command {
				return harness.Command{Line: "exec " + self, Env: env, Dir: t.TempDir(), Silence: time.Minute}
			},
		}}
		for _, c := range cases {
			s.Cases = append(s.Cases, trial.Case{
				Key: measure.CaseKey{Benchmark: c, Implementation: name}, Implementation: "candidate",
				Timer: measure.TimerWall, Samples: 10, Warmup: 20,
			})
		}
		p.Sides = append(p.Sides, s)
	}
	return p, b, log
}

// The values of all turns of a round belong together. Those of the warm-up do not count.
func TestTurns_CollectValues(t *testing.T) {
	values := []string{`PAWL_TEST_VALUES=,"values":[{"metric":"tok/s","unit":"tok/s","better":"higher","samples":[7]}]`}
	p, b, log := protocolPlan(t, []string{"a", "refused"}, map[string][]string{"candidate": values}, "candidate", "base")
	if _, err := trial.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	turns := len(asked(t, log)) / 2 / 2 // of a side, in a round
	for _, r := range b.results {
		switch reports := r.Case.Implementation == "candidate" && r.Case.Benchmark == "a"; {
		case !reports && len(r.Values) > 0:
			t.Errorf("%s has values %v", r.Case, r.Values)
		case reports && (len(r.Values) != 1 || len(r.Values[0].Samples) != turns):
			t.Errorf("%s has values %v in %d turns", r.Case, r.Values, turns)
		}
	}
}

// asked lists who was asked to measure how many samples, in time order.
func asked(t *testing.T, log string) []string {
	t.Helper()
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var turns []string
	for line := range strings.Lines(string(content)) {
		if side, rest, ok := strings.Cut(strings.TrimSpace(line), " measure "); ok {
			turns = append(turns, side+rest)
		}
	}
	return turns
}

// Runs of 2 ms: four fit a turn, ten samples are 4 + 4 + 2, and the order turns
// around after every turn.
func TestSidesTakeTurns(t *testing.T) {
	p, b, log := protocolPlan(t, []string{"k"}, nil, "a", "b")
	out, err := trial.Run(t.Context(), p)
	if err != nil || out.Rounds != 2 {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	turns := asked(t, log)
	if len(turns) != 12 {
		t.Fatalf("turns %v", turns)
	}
	for round, order := range []([]string){b.rounds[0].Order, b.rounds[1].Order} {
		x, y := order[0], order[1]
		want := []string{x + "4", y + "4", y + "4", x + "4", x + "2", y + "2"}
		if got := turns[6*round : 6*round+6]; !slices.Equal(got, want) {
			t.Errorf("round %d: turns %v, want %v", round, got, want)
		}
	}
	for _, r := range b.results {
		if len(r.Round.Samples) != 10 || r.Round.SamplesPerTurn != 4 || len(r.Round.Warmup) < 20 || r.Round.Unsteady {
			t.Errorf("%s: %d samples in turns of %d after %d of warm-up, unsteady %v", r.Case, len(r.Round.Samples), r.Round.SamplesPerTurn, len(r.Round.Warmup), r.Round.Unsteady)
		}
	}
	for _, r := range b.rounds {
		if len(r.Sides) != 2 || r.Sides[0].Started.IsZero() || r.Sides[0].Seconds <= 0 {
			t.Errorf("sides of round %d: %+v", r.Index, r.Sides)
		}
	}
}

func TestTurnsOfThreeSidesAndARefusedCase(t *testing.T) {
	p, b, log := protocolPlan(t, []string{"k", "refused"}, nil, "a", "b", "c")
	if out, err := trial.Run(t.Context(), p); err != nil || out.State != measure.Complete {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	if turns := asked(t, log); len(turns) != 2*3*3 {
		t.Errorf("turns %v", turns)
	}
	refused := 0
	for _, r := range b.results {
		if r.Round.Error != "" {
			refused++
		}
	}
	if len(b.results) != 12 || refused != 6 {
		t.Errorf("%d results, %d refused; want 12 and 6", len(b.results), refused)
	}
}

// Every case is measured on every side that has it, whoever begins.
func TestSidesWithUnequalCases(t *testing.T) {
	p, b, _ := protocolPlan(t, []string{"k", "mine"}, nil, "a", "b")
	p.Sides[1].Cases = p.Sides[1].Cases[:1]
	if _, err := trial.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range b.results {
		count[r.Case.String()]++
	}
	if count["k/a"] != 2 || count["k/b"] != 2 || count["mine/a"] != 2 || len(count) != 3 {
		t.Errorf("results %v", count)
	}
}

// Cases whose environment differs run in processes of their own.
func TestEnvironmentMakesAProcess(t *testing.T) {
	p, b, _ := protocolPlan(t, []string{"k", "slow"}, nil, "a", "b")
	for i := range p.Sides {
		sessions, _ := p.Sides[i].Runner.(trial.Sessions)
		plain := sessions.Command
		sessions.Command = func(c trial.Case) harness.Command {
			cmd := plain(c)
			if c.Key.Benchmark == "slow" {
				cmd.Env = append(slices.Clone(cmd.Env), "PAWL_RUN_NS=9000000")
			}
			return cmd
		}
		p.Sides[i].Runner = sessions
	}
	if _, err := trial.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.results {
		want := 2e6
		if r.Case.Benchmark == "slow" {
			want = 9e6
		}
		if r.Round.Samples[0] != want {
			t.Errorf("%s took %v, want %v", r.Case, r.Round.Samples[0], want)
		}
	}
}

// A case that costs a side its process is broken. The others go on, and it is not tried again.
func TestOneBadCaseIsOneBadCase(t *testing.T) {
	for _, turns := range []bool{true, false} {
		p, b, _ := protocolPlan(t, []string{"a", "bad", "b", "worse", "c"}, map[string][]string{"one": {"PAWL_TEST_CRASH=bad worse"}}, "one", "two")
		p.Turns = turns
		out, err := trial.Run(t.Context(), p)
		if err != nil || out.State != measure.Complete {
			t.Fatalf("turns %t: outcome %+v, %v", turns, out, err)
		}
		good, lost := map[string]int{}, map[string]int{}
		for _, r := range b.results {
			switch name := r.Case.Benchmark + " " + r.Case.Implementation; {
			case strings.HasPrefix(r.Round.Error, trial.Lost+"harness"):
				lost[name]++
			case r.Round.Error == "" && len(r.Round.Samples) == 10:
				good[name]++
			}
		}
		if len(lost) != 2 || lost["bad one"] != 1 || lost["worse one"] != 1 {
			t.Errorf("turns %t: lost %v", turns, lost)
		}
		if n := out.Rounds; good["a one"] != n || good["b two"] != n || good["c one"] != n || good["bad two"] != 1 {
			t.Errorf("turns %t: measured %v in %d rounds", turns, good, n)
		}
	}
}

// Turns or not, a side that loses one process after the other is named, and the others are ended.
func TestABrokenSideInTurns(t *testing.T) {
	p, b, _ := protocolPlan(t, []string{"a", "b", "c", "d", "e", "f"}, map[string][]string{"two": {"PAWL_TEST_CRASH=a b c d e f"}}, "one", "two")
	out, err := trial.Run(t.Context(), p)
	if err == nil || !strings.HasPrefix(err.Error(), "two: harness") || out.State != measure.Failed {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	if len(b.rounds) != 1 || b.rounds[0].Dropped == "" {
		t.Errorf("rounds %+v, want the broken one kept and not counted", b.rounds)
	}
}

// Without turns every side has the device for itself.
func TestOneSideAfterTheOther(t *testing.T) {
	p, b, log := protocolPlan(t, []string{"k"}, nil, "a", "b")
	p.Turns = false
	if _, err := trial.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if turns := asked(t, log); len(turns) != 4 || !strings.HasSuffix(turns[0], "10") {
		t.Errorf("turns %v, want one of ten samples a side and round", turns)
	}
	for _, r := range b.results {
		if r.Round.SamplesPerTurn != 0 {
			t.Errorf("%s has turns of %d", r.Case, r.Round.SamplesPerTurn)
		}
	}
}
