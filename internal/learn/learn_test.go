package learn

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

var t0 = time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC)

// script is a session written down minute by minute.
type script struct {
	session journal.Session
}

func newScript(n int, s journal.Started) *script {
	began := t0.AddDate(0, 0, n)
	if s.ID == "" {
		s.ID = began.Format("20060102T150405Z") + fmt.Sprintf("-%06x", n)
	}
	first := journal.Entry{Time: began, Kind: journal.KindStarted, Actor: journal.Actor{Kind: journal.Person, Name: "Kim"}, Started: &s}
	return &script{journal.Session{Started: s, Began: began, Entries: []journal.Entry{first}}}
}

func (s *script) add(minute float64, e journal.Entry) *script {
	e.Time = s.session.Began.Add(time.Duration(minute * float64(time.Minute)))
	e.Actor = s.session.Entries[0].Actor
	s.session.Entries = append(s.session.Entries, e)
	return s
}

func (s *script) did(minute float64, d journal.Did) *script {
	return s.add(minute, journal.Entry{Kind: journal.KindDid, Did: &d})
}

func (s *script) end(minute float64, e journal.Ended) *script {
	s.session.Ended = &e
	return s.add(minute, journal.Entry{Kind: journal.KindEnded, Ended: &e})
}

func (s *script) built(minute float64, ok bool, class string) *script {
	return s.did(minute, journal.Did{Command: "build", Built: &journal.Built{OK: ok, Class: class}})
}

func (s *script) measured(minute, reference, candidate float64, source string, changes ...journal.Change) *script {
	return s.did(minute, journal.Did{Command: "bench", Source: source, Definition: "d", Changes: changes, Measured: &journal.Measured{
		Run: fmt.Sprintf("run-%g", minute), Cases: []journal.MeasuredCase{{Case: "attention/S128", Reference: reference, Candidate: candidate}},
	}})
}

func constant(name, before, after string) journal.Change {
	return journal.Change{What: journal.Constant, Name: name, Before: before, After: after}
}

// blind is a session that lost its time in the build and then optimised without a profile.
func blind() *journal.Session {
	s := newScript(0, journal.Started{Goal: "twice as fast", GPU: "sm_89", Price: 0.20, Planned: 60})
	s.did(4, journal.Did{Command: "doctor", Environment: &journal.Environment{OK: true}})
	s.built(10, false, "undefined symbol").built(70, false, "undefined symbol").built(130, true, "")
	s.measured(140, 0, 0, "").measured(141, 25_000, 208_000, "a")
	s.measured(170, 25_000, 277_000, "b", constant("BLOCK_M", "64", "128"), constant("THREADS", "128", "256"))
	s.add(172, journal.Entry{Kind: journal.KindRefused, Refused: &journal.Refused{Command: "bench", Gate: "profile-first", Why: "nothing was profiled"}})
	s.add(175, journal.Entry{Kind: journal.KindOverrode, Overrode: &journal.Overrode{Gate: "profile-first", Reason: "the tool is not here"}})
	s.end(180, journal.Ended{Outcome: journal.Nothing, Speedup: 0.09})
	return &s.session
}

func TestTell(t *testing.T) {
	tale := Tell(blind(), t0)
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.005 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("minutes", tale.Minutes, 180)
	near("dollars", tale.Dollars, 0.60)
	near("build", *tale.Build, 130)
	near("reference", *tale.Reference, 141)
	near("start", tale.Start, 0.12)
	near("end", tale.Speedup, 0.09)
	near("gain", *tale.Gain, math.Log(208.0/277))
	if tale.Bottleneck != nil {
		t.Errorf("a bottleneck after %v minutes, and nothing was profiled", *tale.Bottleneck)
	}
	if tale.Stops != 1 || tale.Overrides != 1 || tale.Wrong != 1 {
		t.Errorf("%d stops, %d overrides, %d wrong", tale.Stops, tale.Overrides, tale.Wrong)
	}
	want := []Span{{"assess", 4}, {"build", 126}, {"baseline", 11}, {"optimise", 39}}
	if d := cmp.Diff(want, tale.Spans); d != "" {
		t.Error(d)
	}
	var words []string
	for _, m := range tale.Marks {
		words = append(words, fmt.Sprintf("%.0f %s %s", m.Minute, m.Kind, m.Word))
	}
	wantWords := []string{
		"10 mistake build broken 120 min",
		"170 mistake no profile, 2 variables at once, 1.33x slower",
		"172 stop profile-first",
		"175 override past profile-first",
	}
	if d := cmp.Diff(wantWords, words); d != "" {
		t.Error(d)
	}
}

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		name string
		with func(*script)
		want string
	}{
		{"another host", func(s *script) {
			s.did(5, journal.Did{Command: "build", Host: "a"}).did(20, journal.Did{Command: "build", Host: "b"})
		}, "lost host lost"},
		{"a host that died", func(s *script) { s.end(30, journal.Ended{Outcome: journal.Lost}) }, "lost host lost"},
		{"the environment late", func(s *script) {
			s.did(55, journal.Did{Command: "doctor", Environment: &journal.Environment{Problems: []string{"ABI"}}})
		}, "mistake environment looked at late"},
		{"the environment at once", func(s *script) {
			s.did(3, journal.Did{Command: "doctor", Environment: &journal.Environment{Problems: []string{"ABI"}}})
		}, ""},
		{"a wrong result", func(s *script) {
			s.did(5, journal.Did{Command: "fuzz", Checked: &journal.Checked{Points: 3, Failed: 1, Worst: 4.72}})
			s.did(6, journal.Did{Command: "fuzz", Checked: &journal.Checked{Points: 3, Failed: 1, Worst: 4.72}})
		}, "mistake wrong by 4.72"},
		{"not a number", func(s *script) {
			s.did(5, journal.Did{Command: "fuzz", Checked: &journal.Checked{Points: 3, NotFinite: true}})
		}, "mistake NaN"},
		{"a short broken build", func(s *script) { s.built(1, false, "").built(20, true, "") }, ""},
		{"another definition", func(s *script) {
			s.measured(5, 0, 10, "a")
			m := s.session.Entries[1].Did.Measured
			s.did(9, journal.Did{Command: "bench", Definition: "e", Measured: m})
		}, "mistake measured with something else"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(0, journal.Started{})
			c.with(s)
			got := ""
			for _, m := range Tell(&s.session, t0.Add(time.Hour)).Marks {
				if m.Kind != MarkMissed { // those are of TestMissedStops
					got += string(m.Kind) + " " + m.Word
				}
			}
			if got != c.want {
				t.Errorf("marks are %q, want %q", got, c.want)
			}
		})
	}
}

// A session that was held without gates shows where they would have spoken; one in which
// they spoke has told so itself.
func TestMissedStops(t *testing.T) {
	s := newScript(0, journal.Started{})
	s.built(12, false, "").built(20, false, "")
	count := func() (n int) {
		for _, m := range Tell(&s.session, t0.Add(time.Hour)).Marks {
			if m.Kind == MarkMissed && m.Word == "environment" {
				n++
			}
		}
		return n
	}
	if got := count(); got != 1 {
		t.Errorf("the gate of the environment would have stopped it %d times, want the first alone", got)
	}
	s.add(25, journal.Entry{Kind: journal.KindRefused, Refused: &journal.Refused{Command: "build", Gate: "environment"}})
	if got := count(); got != 0 {
		t.Errorf("%d missed stops beside a real one", got)
	}
}

// Whatever a session is made of, its minutes are split without one lost or doubled.
func TestSpansAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s, minute := newScript(0, journal.Started{}), 0.0
		for range r.IntN(20) {
			minute += r.ExpFloat64() * 10
			switch r.IntN(6) {
			case 0:
				s.built(minute, r.IntN(2) == 0, "")
			case 1:
				s.measured(minute, 1, 2, "x")
			case 2:
				s.add(minute, journal.Entry{Kind: journal.KindNoted, Noted: &journal.Noted{Text: "hm"}})
			case 3:
				s.add(minute-30, journal.Entry{Kind: journal.KindRefused, Refused: &journal.Refused{Gate: "no-such"}}) // a clock set back
			case 4:
				s.did(minute, journal.Did{Command: "profile", Profiled: &journal.Profiled{Bottleneck: "memory"}, Host: fmt.Sprint(r.IntN(2))})
			case 5:
				s.did(minute, journal.Did{Command: "device show", Limits: &journal.Limits{}})
			}
		}
		s.end(minute+5, journal.Ended{Outcome: journal.Better})
		tale, sum := Tell(&s.session, t0), 0.0
		for _, span := range tale.Spans {
			sum += span.Minutes
		}
		if math.Abs(sum-tale.Minutes) > 1e-6 {
			t.Fatalf("spans of %v come to %v minutes of %v", tale.Spans, sum, tale.Minutes)
		}
	}
}

// many writes a folder of sessions, and gives their tales in order.
func many(t testing.TB, n int) (journal.Folder, []Tale) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, filepath.FromSlash(journal.Dir))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tales := map[string]Tale{}
	var list []Tale
	r := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		s := newScript(0, journal.Started{ID: fmt.Sprintf("20260101T000000Z-%06x", i), Goal: "faster", GPU: "sm_89", Benchmark: "attention"})
		s.session.Began = t0.Add(time.Duration(i) * time.Hour)
		s.did(3, journal.Did{Command: "doctor", Environment: &journal.Environment{OK: true}}).built(12, true, "").measured(20, 25_000, 208_000, "a")
		s.did(25, journal.Did{Command: "profile", Source: "a", Profiled: &journal.Profiled{Bottleneck: "memory", Findings: []journal.Found{
			{Rule: "narrow-loads", Fixes: []journal.Fix{{ID: "narrow-loads/1", Gain: 0.2}}},
		}}})
		for try := range 4 {
			minute := float64(26 + 5*try)
			s.add(minute, journal.Entry{Kind: journal.KindNoted, Noted: &journal.Noted{Fix: fmt.Sprintf("narrow-loads/%d", 1+(i+try)%4)}})
			s.measured(minute+4, 25_000, 170_000+20_000*r.Float64(), fmt.Sprint("b", try), constant("BLOCK_M", fmt.Sprint(try), fmt.Sprint(try+1)))
		}
		s.end(50, journal.Ended{Outcome: journal.Better})
		path := filepath.Join(dir, s.session.ID+".jsonl")
		if err := os.WriteFile(path, []byte(s.session.ID), 0o644); err != nil {
			t.Fatal(err)
		}
		tales[path] = Tell(&s.session, t0)
		list = append(list, tales[path])
	}
	f := journal.Folder{Root: root}
	kept := keptTales(f, t0)
	kept.Read = func(path string) (told, bool) { return told{Tale: tales[path]}, true }
	if _, err := kept.All(); err != nil {
		t.Fatal(err)
	}
	return f, list
}

// Ten thousand sessions of four attempts are told in under 100 ms once their tales are kept.
func BenchmarkTenThousandSessions(b *testing.B) {
	f, _ := many(b, 10_000)
	time.Sleep(time.Second) // then the folder is quiet
	if _, _, err := Tales(f, t0); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		tales, problems, err := Tales(f, t0)
		if err != nil || len(problems) > 0 || len(tales) != 10_000 {
			b.Fatal(len(tales), problems, err)
		}
		if err := Tie(tales).Terminal(&bytes.Buffer{}, reportStyle); err != nil {
			b.Fatal(err)
		}
	}
}

// A session that never ended is not kept, and is told each time, also from a quiet folder.
func TestSessionsWithoutAnEndAreToldEachTime(t *testing.T) {
	f, _ := many(t, 2)
	w, err := f.Start(journal.Started{Goal: "cut off"}, journal.Actor{Kind: journal.Person})
	if err != nil {
		t.Fatal(err)
	}
	from := w.Session().Path
	dir := filepath.Dir(filepath.Dir(from))
	if err := os.Rename(from, filepath.Join(dir, filepath.Base(from))); err != nil {
		t.Fatal(err)
	}
	hour := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir, hour, hour); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if tales, problems, err := Tales(f, t0); err != nil || len(problems) > 0 || len(tales) != 3 {
			t.Fatalf("%d tales: %v %v", len(tales), problems, err)
		}
	}
}

func TestKeptTalesAreTheSame(t *testing.T) {
	f, want := many(t, 3)
	tales, problems, err := Tales(f, t0)
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	if diff := cmp.Diff(want, tales); diff != "" {
		t.Error(diff)
	}
}
