package alert_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/trend"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// history is a branch of some commits on two testbeds, in the order of commits: steps in
// one series, in many, in a whole testbed; some creep; some are measured now and then.
func history(r *rand.Rand, commits, perBed int) []result {
	type one struct {
		id, bed      int64
		level, slope float64
		every        int
	}
	var all []one
	for bed := int64(1); bed <= 2; bed++ {
		for range perBed {
			s := one{id: int64(len(all) + 1), bed: bed, level: math.Log(1000), every: 1}
			if r.IntN(6) == 0 {
				s.slope = 0.0006
			}
			if r.IntN(4) == 0 {
				s.every = 2 + r.IntN(3)
			}
			all = append(all, s)
		}
	}
	var list []result
	for c := range commits {
		bed, some := int64(0), 0
		size := 0.05 + 0.1*r.Float64()
		switch r.IntN(40) {
		case 0:
			bed = 1 + r.Int64N(2) // the machine
		case 1:
			some = 3 // one series in three
		}
		byBed := map[int64]map[int64]float64{1: {}, 2: {}}
		for i := range all {
			s := &all[i]
			if s.bed == bed || some > 0 && i%some == 0 || r.IntN(200) == 0 {
				s.level += size
			}
			s.level += s.slope
			if (c+i)%s.every == 0 {
				byBed[s.bed][s.id] = math.Exp(s.level + 0.01*r.NormFloat64())
			}
		}
		at := start.Add(time.Duration(c) * time.Hour)
		for b := int64(1); b <= 2; b++ {
			if len(byBed[b]) > 0 {
				list = append(list, result{id: int64(2*c) + b, bed: b, at: at, values: byBed[b]})
			}
		}
	}
	return list
}

// told is what is on paper, without the names that things got by chance.
type told struct {
	Events []alert.Event
	Groups []toldGroup
}

type toldGroup struct {
	Group   alert.Group
	Members [][2]int64 // series and first report
}

func (p *paper) told() told {
	var t told
	members := map[int64][][2]int64{}
	for _, e := range p.events {
		members[e.Group] = append(members[e.Group], [2]int64{e.Series, e.FirstReport})
		e.ID, e.Group = 0, 0
		t.Events = append(t.Events, e)
	}
	byPlace := func(a, b [2]int64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }
	slices.SortFunc(t.Events, func(a, b alert.Event) int {
		return cmp.Or(byPlace([2]int64{a.Series, a.FirstReport}, [2]int64{b.Series, b.FirstReport}), cmp.Compare(a.Kind, b.Kind))
	})
	for id, g := range p.groups {
		m := members[id]
		slices.SortFunc(m, byPlace)
		g.ID, g.Events = 0, nil
		t.Groups = append(t.Groups, toldGroup{g, m})
	}
	slices.SortFunc(t.Groups, func(a, b toldGroup) int {
		return cmp.Or(a.Group.At.Compare(b.Group.At), slices.CompareFunc(a.Members, b.Members, byPlace), cmp.Compare(a.Group.Worst, b.Group.Worst))
	})
	return t
}

func look(t *testing.T, p *paper) alert.ScanStats {
	t.Helper()
	l, err := alert.Scan(t.Context(), p, 1)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// However reports come in, and however often somebody looks, what is found is what one
// look at everything finds: events, groups, machines.
func TestLookingOftenIsLookingOnce(t *testing.T) {
	projects, perBed := 50, 10 // 1,000 series
	if os.Getenv("PAWL_LAB") != "" {
		projects *= 10
	}
	var events, groups, machines, anew, many int
	for n := range projects {
		r := rand.New(rand.NewPCG(uint64(n), 5))
		reports := history(r, 40+r.IntN(60), perBed)
		late := r.IntN(2) == 0 // some reports come after later ones
		often := newPaper()
		for i := 0; i < len(reports); {
			next := min(len(reports), i+1+r.IntN(60))
			part := slices.Clone(reports[i:next])
			if late && next < len(reports) && r.IntN(2) == 0 { // one waits for the next portion
				k := r.IntN(len(part))
				reports[next-1] = part[k]
				part = slices.Delete(part, k, k+1)
				next--
			}
			r.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
			for _, x := range part {
				often.add(x)
			}
			anew += look(t, often).Anew
			i = next
		}
		once := newPaper()
		for _, x := range often.reports {
			once.add(x)
		}
		look(t, once)
		want, got := once.told(), often.told()
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("project %d (-once +often):\n%s", n, diff)
		}
		events += len(got.Events)
		groups += len(got.Groups)
		for _, g := range got.Groups {
			if g.Group.Machine != 0 {
				machines++
			}
			if len(g.Members) > 1 {
				many++
			}
		}
		if l := look(t, often); l != (alert.ScanStats{}) {
			t.Fatalf("a look at nothing: %+v", l)
		}
	}
	t.Logf("%d series: %d events in %d groups, %d of them of several series, %d machines; %d looks from the beginning", projects*2*perBed, events, groups, many, machines, anew)
	if events == 0 || many == 0 || machines == 0 || anew == 0 {
		t.Error("the histories have not everything that there is to be found")
	}
}

// steady is one series with a step.
func steady(r *rand.Rand, n, at int, size float64) []result {
	var list []result
	for i := range n {
		v := 1000 * math.Exp(0.01*r.NormFloat64())
		if i >= at {
			v *= 1 + size
		}
		list = append(list, result{id: int64(i + 1), bed: 1, at: start.Add(time.Duration(i) * time.Hour), values: map[int64]float64{1: v}})
	}
	return list
}

func only(t *testing.T, p *paper) alert.Event {
	t.Helper()
	if len(p.events) != 1 {
		t.Fatalf("%d events: %+v", len(p.events), p.events)
	}
	for _, e := range p.events {
		return e
	}
	panic("unreachable")
}

func TestWhatPeopleSaidStays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	reports := steady(r, 60, 30, 0.1)
	p := newPaper()
	for _, x := range reports[:40] {
		p.add(x)
	}
	look(t, p)
	e := only(t, p)
	if e.FirstReport != 31 || !e.Worse || e.From != "c1767330000" || e.Group == 0 {
		t.Fatalf("%+v", e)
	}
	was := e
	e.State = client.EventAcknowledged
	p.events[e.ID] = e
	// The four points before the step turn out to have been slow, too: the step moves.
	for id := int64(27); id <= 30; id++ {
		x := p.reports[id]
		p.remove(id)
		x.values = map[int64]float64{1: 1100}
		p.add(x)
	}
	for _, x := range reports[40:] {
		p.add(x)
	}
	if l := look(t, p); l.Anew != 1 {
		t.Errorf("points changed under it: %+v", l)
	}
	e = only(t, p)
	if e.ID != was.ID || e.State != client.EventAcknowledged || e.FirstReport != 27 || e.Group != was.Group {
		t.Errorf("was %+v, is %+v", was, e)
	}
}

func TestWhatIsNotThereAnyMoreGoes(t *testing.T) {
	for state, stays := range map[client.EventState]bool{client.EventNew: false, client.EventAcknowledged: true, client.EventFalseAlarm: true} {
		r := rand.New(rand.NewPCG(3, 3))
		p := newPaper()
		for _, x := range steady(r, 40, 30, 0.1) {
			p.add(x)
		}
		look(t, p)
		e := only(t, p)
		e.State = state
		p.events[e.ID] = e
		for id := int64(31); id <= 40; id++ { // measured anew, and it was nothing
			x := p.reports[id]
			p.remove(id)
			x.values = map[int64]float64{1: 1000}
			p.add(x)
		}
		look(t, p)
		if kept := len(p.events) == 1 && len(p.groups) == 1; kept != stays {
			t.Errorf("%s: %d events, %d groups", state, len(p.events), len(p.groups))
		}
	}
}

// A group that people were told of is not news when another series joins it, when it
// falls apart, or when it moves.
func TestToldOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	p := newPaper()
	for _, x := range steady(r, 40, 30, 0.1) {
		p.add(x)
	}
	look(t, p)
	g := p.groups[only(t, p).Group]
	g.Told = start
	p.groups[g.ID] = g
	for i, x := range steady(r, 40, 30, 0.2) {
		x.id, x.values = int64(100+i), map[int64]float64{2: x.values[1]}
		p.add(x)
	}
	look(t, p)
	if len(p.groups) != 1 || len(p.events) != 2 {
		t.Fatalf("%d groups, %d events", len(p.groups), len(p.events))
	}
	if now := p.groups[g.ID]; !now.Told.Equal(start) || now.Series != 2 || math.Abs(now.Worst-0.2) > 0.02 {
		t.Errorf("%+v", now)
	}
}

func TestAMemoryOfAnotherVersionIsLeftAside(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	p := newPaper()
	for _, x := range steady(r, 80, 30, 0.1) {
		p.add(x)
	}
	look(t, p)
	want := p.told()
	for name, spoil := range map[string]func(*alert.SeriesState){
		"version": func(k *alert.SeriesState) { k.Version = trend.Version + 1 },
		"bytes":   func(k *alert.SeriesState) { k.State = []byte("{") },
		"digest": func(k *alert.SeriesState) {
			k.State = []byte(`{"digest":7,"trend":{"version":1,"points":50,"progress":{"start":40}}}`)
		},
		"points": func(k *alert.SeriesState) { k.State = []byte(`{"digest":7,"trend":{"version":1,"points":-50}}`) },
	} {
		spoil(&p.series[1].known)
		p.dirty = []int64{1}
		if l := look(t, p); l.Anew != 1 {
			t.Errorf("%s: %+v", name, l)
		}
		if diff := gocmp.Diff(want, p.told()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A machine that moved as a whole is told from a commit also where one series of another
// moved by chance at the same place. That one stands alone.
func TestAStrayDoesNotHideTheMachine(t *testing.T) {
	for strays, machine := range map[int]int64{0: 1, 1: 1, 2: 0} {
		r := rand.New(rand.NewPCG(6, 6))
		p := newPaper()
		for c := range 60 {
			at := start.Add(time.Duration(c) * time.Hour)
			for bed := int64(1); bed <= 2; bed++ {
				values := map[int64]float64{}
				for n := range int64(10) {
					v := 1000 * math.Exp(0.005*r.NormFloat64())
					if c >= 30 && (bed == 1 || n < int64(strays)) {
						v *= 1.06
					}
					values[bed*100+n] = v
				}
				p.add(result{id: int64(2*c) + bed, bed: bed, at: at, values: values})
			}
		}
		look(t, p)
		var got int64
		for _, g := range p.groups {
			if g.Machine != 0 {
				got = g.Machine
				if g.Series != 10 {
					t.Errorf("%d strays: the machine's group has %d series", strays, g.Series)
				}
			}
		}
		if want := 1 + min(strays, int(machine)); got != machine || len(p.groups) != want {
			t.Errorf("%d strays: testbed %d is blamed in %d groups, want %d in %d", strays, got, len(p.groups), machine, want)
		}
	}
}

// A drift says how many commits it lies between; runs of one commit count once.
func TestADriftCountsItsCommits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	p := newPaper()
	for i := range 240 {
		v := 1000 * math.Exp(0.0015*float64(i/2)+0.004*r.NormFloat64())
		p.add(result{id: int64(i + 1), bed: 1, at: start.Add(time.Duration(i/2) * time.Hour), values: map[int64]float64{1: v}})
	}
	look(t, p)
	e := only(t, p)
	if want := int(e.At.Sub(e.Since) / time.Hour); e.Kind != "drift" || e.Commits != want || want < 60 {
		t.Errorf("a %s over %d commits, want %d", e.Kind, e.Commits, want)
	}
}
