package github_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
)

// Two writers share a pull request while everything goes wrong that GitHub documents, and
// some that it does not. Whatever the schedule, in the end there is one report with both
// sections as they were written last, and the checks are where they belong.
func TestWritersConvergeUnderFaults(t *testing.T) {
	schedules := 200
	if testing.Short() || testrun.Race {
		schedules = 8
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 4}
	t.Cleanup(transport.CloseIdleConnections)
	hit := map[string]int{}
	var took time.Duration
	for seed := range schedules {
		sc := newSchedule(t, uint64(seed), transport)
		sc.run()
		sc.verify()
		for kind, n := range sc.hit {
			hit[kind] += n
		}
		took += sc.world.time().Sub(newWorld().now)
		sc.server.Close()
		if t.Failed() {
			t.Fatalf("schedule %d:\n%s", seed, strings.Join(sc.log, "\n"))
		}
	}
	for _, f := range faults {
		if hit[f.kind] == 0 && schedules == 200 {
			t.Errorf("no schedule had a fault %q", f.kind)
		}
	}
	t.Logf("%d schedules, %s of their time; faults: %v", schedules, took.Round(time.Minute), hit)
}

// faults are what can go wrong. What is true of only some requests says so.
var faults = []struct {
	kind string
	for_ func(r *http.Request) bool
	make func(now time.Time) githubtest.Fault
}{
	{"403 of forks", isWrite, answer(403, "", "Resource not accessible by integration")},
	{"404", isWrite, answer(404, "", "Not Found")},
	{"409", isWrite, answer(409, "", "Conflict")},
	{"422", isWrite, answer(422, "", "Validation Failed")},
	{"429 with Retry-After", any_, answer(429, "Retry-After: 7", "slow down")},
	{"429 without", any_, answer(429, "", "slow down")},
	{"secondary limit", any_, answer(403, "", "You have exceeded a secondary rate limit.")},
	{"limit used up", any_, func(now time.Time) githubtest.Fault {
		return answer(403, "X-Ratelimit-Remaining: 0|X-Ratelimit-Reset: "+strconv.FormatInt(now.Add(40*time.Second).Unix(), 10), "API rate limit exceeded")(now)
	}},
	{"502", any_, answer(502, "", "<html>")},
	{"502 after the effect", any_, func(time.Time) githubtest.Fault { return githubtest.Fault{Status: 502, AfterEffect: true} }},
	{"cut before", any_, func(time.Time) githubtest.Fault { return githubtest.Fault{} }},
	{"answer lost", any_, func(time.Time) githubtest.Fault { return githubtest.Fault{AfterEffect: true} }},
	{"answer broken", any_, func(time.Time) githubtest.Fault { return githubtest.Fault{Truncate: true} }},
	{"done twice", func(r *http.Request) bool { return r.Method == http.MethodPost }, func(time.Time) githubtest.Fault { return githubtest.Fault{Twice: true} }},
}

func any_(*http.Request) bool { return true }
func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "graphql")
}

func answer(status int, headers, message string) func(time.Time) githubtest.Fault {
	h := http.Header{}
	for line := range strings.SplitSeq(headers, "|") {
		if k, v, ok := strings.Cut(line, ": "); ok {
			h.Set(k, v)
		}
	}
	return func(time.Time) githubtest.Fault {
		return githubtest.Fault{Status: status, Header: h, Body: fmt.Sprintf(`{"message":%q}`, message)}
	}
}

// schedule is one way things can go.
type schedule struct {
	t         *testing.T
	rng       *dice
	world     *world
	server    *githubtest.Server
	transport http.RoundTripper
	pull      int
	remarked  bool
	hit       map[string]int
	mu        sync.Mutex
	log       []string
}

// dice are thrown by the writers and by the server, one at a time: but only a lock tells
// the race detector so.
type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (d *dice) IntN(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(n)
}

func (d *dice) Float64() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.Float64()
}

func newSchedule(t *testing.T, seed uint64, transport http.RoundTripper) *schedule {
	t.Helper()
	server, err := githubtest.Listen("127.0.0.1:0", t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	s := &schedule{t: t, rng: &dice{rng: rand.New(rand.NewPCG(seed, 7))}, world: newWorld(), server: server, transport: transport, hit: map[string]int{}}
	server.Now = s.world.time
	server.ListLag = time.Duration(s.rng.IntN(2000)) * time.Millisecond
	s.pull = server.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
	server.AddComment(s.pull, "eve", "<!-- pawl:report -->\nnot ours")
	s.remarked = seed%4 == 0
	rate, left := s.rng.Float64()*0.4, 30
	server.Fault(func(r *http.Request, _ int) *githubtest.Fault {
		if left == 0 || s.rng.Float64() >= rate {
			return nil
		}
		f := faults[s.rng.IntN(len(faults))]
		if !f.for_(r) {
			return nil
		}
		left--
		s.hit[f.kind]++
		fault := f.make(s.world.time())
		s.note("%s %s: %s", r.Method, r.URL.Path, f.kind)
		return &fault
	})
	return s
}

func (s *schedule) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, s.world.time().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (s *schedule) run() { s.world.run(func() { s.write("left") }, func() { s.write("right") }) }

// write is what a publishing job does, twice: its start, its report, its end.
func (s *schedule) write(who string) {
	ctx := s.t.Context()
	began := s.world.time()
	c, err := github.New(github.Config{
		BaseURL: s.server.URL, Repo: s.server.Repo,
		Token: func(context.Context) (string, error) { return s.server.Token, nil },
		Waiting: forge.Waiting{
			HTTP: &http.Client{Timeout: 10 * time.Minute, Transport: &wire{s.world, func() time.Duration {
				if s.rng.IntN(10) == 0 {
					return time.Duration(s.rng.IntN(1200)) * time.Millisecond
				}
				return time.Duration(10+s.rng.IntN(300)) * time.Millisecond
			}, s.transport}},
			Sleep: s.world.sleep, Now: s.world.time, Random: s.rng.Float64,
			Log: func(format string, args ...any) { s.note(who+": "+format, args...) },
		},
	})
	if err != nil {
		s.t.Error(err)
		return
	}
	start := forge.Check{SHA: sha('a'), Status: forge.InProgress, Title: "measuring", Summary: "soon", Started: began}
	end := forge.Check{SHA: sha('a'), Status: forge.Completed, Conclusion: forge.Failure, Title: "slower", Summary: "| x |"}
	for _, name := range []string{"pawl / " + who, "pawl"} {
		start.Name = name
		s.insist(who+" starts "+name, func() error { _, err := c.SetCheck(ctx, start); return err })
	}
	for _, text := range []string{"first", "last"} {
		s.meet()
		s.insist(who+" reports "+text, func() error {
			_, err := c.Report(ctx, s.pull, forge.Section{Key: "suite/" + who, Body: text + " words of " + who})
			return err
		})
	}
	for _, name := range []string{"pawl / " + who, "pawl"} {
		end.Name, end.Annotations = name, s.remarks(name)
		s.insist(who+" ends "+name, func() error { _, err := c.SetCheck(ctx, end); return err })
	}
}

// meet lets both writers go on at about the same time: to write one after the other is
// no test.
func (s *schedule) meet() {
	const every = 10 * time.Minute
	now := s.world.time()
	_ = s.world.sleep(s.t.Context(), now.Truncate(every).Add(every).Sub(now)+time.Duration(s.rng.IntN(500))*time.Millisecond)
}

// remarks are more than one request takes; only one writer of some schedules has them.
func (s *schedule) remarks(name string) []forge.Annotation {
	if name != "pawl / left" || !s.remarked {
		return nil
	}
	var all []forge.Annotation
	for i := range 53 {
		all = append(all, forge.Annotation{Path: "k.cu", Line: i + 1, EndLine: i + 1, Level: forge.Fault, Message: fmt.Sprint("case ", i)})
	}
	return all
}

// insist runs a job again that failed, as people do. What it fails with must be one of
// the errors that say what to do.
func (s *schedule) insist(what string, job func() error) {
	for range 40 {
		err := job()
		s.note("%s: %v", what, err)
		if err == nil {
			return
		}
		known := false
		for _, e := range []error{github.ErrForbidden, github.ErrGone, github.ErrInvalid, github.ErrMoved, github.ErrBusy} {
			known = known || errors.Is(err, e)
		}
		if !known {
			s.t.Errorf("%s: an error without a kind: %v", what, err)
		}
		_ = s.world.sleep(s.t.Context(), 30*time.Second)
	}
	s.t.Errorf("%s: never done", what)
}

func (s *schedule) verify() {
	t := s.t
	if got := reports(s.server, s.pull); len(got) != 1 {
		t.Errorf("%d reports", len(got))
	} else {
		for _, who := range []string{"left", "right"} {
			if n := strings.Count(got[0].Body, "last words of "+who); n != 1 || strings.Contains(got[0].Body, "first words of "+who) {
				t.Errorf("section %s is there %d times:\n%s", who, n, got[0].Body)
			}
		}
	}
	if theirs := s.server.Comments(s.pull)[0]; theirs.Edited || theirs.Author != "eve" {
		t.Error("a stranger's comment was changed")
	}
	for _, name := range []string{"pawl", "pawl / left", "pawl / right"} {
		runs := s.server.CheckRuns(sha('a'), name)
		for i, k := range runs {
			if k.Status != forge.Completed || k.Conclusion != forge.Failure {
				t.Errorf("check %s, run %d of %d: %s %s", name, i+1, len(runs), k.Status, k.Conclusion)
			}
		}
		if d := cmp.Diff(s.remarks(name), runs[len(runs)-1].Annotations, cmpopts.SortSlices(func(a, b forge.Annotation) bool { return a.Line < b.Line })); d != "" {
			t.Errorf("annotations of check %s: %s", name, d)
		}
	}
}
