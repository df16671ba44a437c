package wake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// play drives a state by hand. Hosts answer with what power says.
type play struct {
	t      *testing.T
	config *Config
	state  *State
	now    time.Time
	power  map[string]Power
	did    []string // starts and stops, in order
	said   []string
	mute   bool // the forge is not asked
}

const twoHosts = `
version: 1
github: {token: {env: T}, repositories: [O/Kernels]}
hosts:
  - {name: dear, labels: [self-hosted, gpu, h100], start: a, stop: b, status: c, price_per_hour: 4, boot: 3m, halt: 2m, idle: 10m, ask: 10s, timeout: 1m}
  - {name: cheap, labels: [self-hosted, GPU, l4], start: a, stop: b, status: c, price_per_hour: 1, boot: 3m, halt: 2m, idle: 10m, ask: 10s, timeout: 1m}
budget: {hours_per_day: 8}
`

func begin(t *testing.T, text string) *play {
	t.Helper()
	c, err := ParseConfig("wake.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p := &play{t: t, config: c, state: NewState(), now: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC), power: map[string]Power{}}
	for _, h := range c.Hosts {
		p.power[h.Name] = Off
	}
	return p
}

// tell steps, and answers what is asked at once. Commands stay on their way.
func (p *play) tell(e Event) {
	p.t.Helper()
	actions, said := p.state.Step(p.config, e, p.now)
	p.said = append(p.said, said...)
	for _, a := range actions {
		if a.Kind == Ask {
			p.tell(StatusResult{Host: a.Host, Turn: a.Turn, Power: p.power[a.Host]})
			continue
		}
		p.did = append(p.did, string(a.Kind)+" "+a.Host)
	}
}

// wait lets time pass, in ticks and polls.
func (p *play) wait(d time.Duration) {
	p.t.Helper()
	for end := p.now.Add(d); p.now.Before(end); p.now = p.now.Add(5 * time.Second) {
		if !p.mute && p.now.Second() == 0 {
			p.poll()
		}
		p.tell(Tick{})
	}
}

// poll lists what is known to live.
func (p *play) poll() {
	listing := Poll{Repo: repo, Began: p.now}
	for _, j := range p.state.Jobs {
		if j.Stage.live() {
			listing.Jobs = append(listing.Jobs, *j)
		}
	}
	p.tell(listing)
}

func (p *play) job(id int64, stage Stage, labels ...string) Delivery {
	return Delivery{Job{Repo: repo, ID: id, Labels: append([]string{"self-hosted"}, labels...), Stage: stage, Created: p.now}}
}

// done ends a command, and the host is then in that power.
func (p *play) done(kind Kind, host string, power Power) {
	p.t.Helper()
	p.power[host] = power
	p.tell(Ended{Host: host, Kind: kind})
}

// restart is kill -9, and a new life from what is on disk.
func (p *play) restart() {
	p.t.Helper()
	data, err := json.Marshal(p.state)
	if err != nil {
		p.t.Fatal(err)
	}
	if p.state, err = DecodeState(data); err != nil {
		p.t.Fatal(err)
	}
	p.state.Recover(p.config, p.now)
}

func (p *play) want(what ...string) {
	p.t.Helper()
	if diff := cmp.Diff(what, p.did); diff != "" {
		p.t.Fatalf("(-want +got)\n%s\nsaid: %s", diff, strings.Join(p.said, "\n"))
	}
}

func TestWhichHostIsStarted(t *testing.T) {
	for name, c := range map[string]struct {
		jobs [][]string
		on   string // the host that is not off, and what it is where it is not on
		want []string
	}{
		"the cheapest":                        {[][]string{{"gpu"}}, "", []string{"start cheap"}},
		"the one that fits":                   {[][]string{{"gpu", "h100"}}, "", []string{"start dear"}},
		"none for labels nobody has":          {[][]string{{"gpu", "b200"}}, "", nil},
		"one that is on":                      {[][]string{{"gpu"}}, "dear", nil},
		"as many as jobs":                     {[][]string{{"gpu"}, {"gpu"}}, "", []string{"start dear", "start cheap"}},
		"not more than there are":             {[][]string{{"gpu"}, {"gpu"}, {"gpu"}}, "", []string{"start dear", "start cheap"}},
		"another where the one on is taken":   {[][]string{{"gpu"}, {"gpu"}}, "dear", []string{"start cheap"}},
		"picky jobs first, whoever was first": {[][]string{{"gpu"}, {"h100"}}, "", []string{"start dear", "start cheap"}},
		"not one that goes down":              {[][]string{{"gpu"}}, "cheap stopping", []string{"start dear"}},
		"one that comes":                      {[][]string{{"gpu"}}, "dear starting", nil},
		"one job, one host":                   {[][]string{{"l4"}, {"l4"}}, "", []string{"start cheap"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, twoHosts)
			if name, power, odd := strings.Cut(c.on, " "); odd {
				p.power[name] = Power(power)
			} else if name != "" {
				p.power[name] = On
			}
			p.tell(Tick{})
			for i, labels := range c.jobs {
				p.state.Jobs[fmt.Sprintf("%s#%d", repo, i)] = &Job{Repo: repo, ID: int64(i), Stage: Queued, Seen: p.now, Labels: labels}
			}
			p.wait(30 * time.Second)
			p.want(c.want...)
		})
	}
}

// A day of one host: a job wakes it, it stays for a second one, sleeps after both.
func TestADay(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(p.job(1, Queued, "l4"))
	p.want("start cheap")
	p.wait(20 * time.Second)
	p.want("start cheap") // one at a time
	p.done(Start, "cheap", Starting)
	p.wait(time.Minute)
	p.power["cheap"] = On
	p.wait(time.Minute)
	p.tell(p.job(1, Running, "l4"))
	p.wait(2 * time.Hour)
	p.tell(p.job(1, Done))
	p.wait(9 * time.Minute)
	p.tell(p.job(2, Queued, "l4"))
	p.tell(p.job(2, Running, "l4"))
	p.tell(p.job(2, Done))
	p.wait(9 * time.Minute)
	p.want("start cheap")
	p.wait(2 * time.Minute)
	p.want("start cheap", "stop cheap")
	p.tell(p.job(3, Queued, "l4")) // too late: it goes down first
	p.wait(30 * time.Second)
	p.want("start cheap", "stop cheap")
	p.done(Stop, "cheap", Stopping)
	p.wait(time.Minute)
	p.power["cheap"] = Off
	p.wait(30 * time.Second)
	p.want("start cheap", "stop cheap", "start cheap")
}

// What comes late, twice or in another order changes nothing: a stage only rises.
func TestStagesOnlyRise(t *testing.T) {
	for name, c := range map[string]struct {
		told []Stage
		want []string
	}{
		"queued after done":            {[]Stage{Done, Queued}, nil},
		"queued after running":         {[]Stage{Running, Queued}, nil},
		"queued after both":            {[]Stage{Running, Done, Queued, Running}, nil},
		"queued twice":                 {[]Stage{Queued, Queued}, []string{"start cheap"}},
		"gone, then queued comes late": {[]Stage{Queued, Gone, Queued}, []string{"start cheap"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, twoHosts)
			p.tell(Tick{})
			for _, s := range c.told {
				if s == Gone {
					p.done(Start, "cheap", Off) // it did not come, for a while
					for range 2 {
						p.now = p.now.Add(time.Second)
						p.tell(Poll{Repo: repo, Began: p.now})
					}
					continue
				}
				p.tell(p.job(1, s, "l4"))
			}
			p.wait(time.Minute)
			p.want(c.want...)
		})
	}
	t.Run("an ended job without labels is remembered", func(t *testing.T) {
		p := begin(t, twoHosts)
		end := p.job(1, Done)
		end.Job.Labels = nil
		p.tell(end)
		p.tell(p.job(1, Queued, "l4"))
		p.want()
	})
	t.Run("a replay of last week wakes nobody", func(t *testing.T) {
		p := begin(t, twoHosts)
		old := p.job(1, Queued, "l4")
		old.Job.Created = p.now.Add(-26 * time.Hour)
		p.tell(old)
		p.want()
	})
	t.Run("nor does another repository", func(t *testing.T) {
		p := begin(t, twoHosts)
		d := p.job(1, Queued, "l4")
		d.Job.Repo = "o/other"
		p.tell(d)
		p.want()
	})
}

// What a poll lists again after it was gone counts; a single miss does not.
func TestPolls(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(p.job(1, Running, "l4"))
	list := func(jobs ...Job) {
		p.now = p.now.Add(time.Minute)
		p.tell(Poll{Repo: repo, Began: p.now.Add(-time.Second), Jobs: jobs})
	}
	stage := func() Stage { return p.state.Jobs[repo+"#1"].Stage }
	list()
	if stage() != Running {
		t.Errorf("one listing without it: %s", stage())
	}
	list(p.job(1, Queued, "l4").Job)
	if stage() != Running {
		t.Errorf("a stale listing: %s", stage())
	}
	list()
	list()
	if stage() != Gone {
		t.Errorf("two listings without it: %s", stage())
	}
	list(p.job(1, Running, "l4").Job)
	if stage() != Running {
		t.Errorf("listed again: %s", stage())
	}
	p.tell(Poll{Repo: repo, Began: p.now.Add(-time.Hour)})
	p.tell(Poll{Repo: repo, Began: p.now.Add(-time.Hour)})
	if stage() != Running {
		t.Errorf("listings from before it was heard of: %s", stage())
	}
}

func TestNoStartWithoutAFreshLook(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(Tick{})
	p.power["cheap"] = On // somebody switched it on, behind our back
	p.now = p.now.Add(30 * time.Second)
	p.tell(p.job(1, Queued, "l4"))
	p.wait(time.Minute)
	p.want()
	p.power["dear"] = Unknown
	p.tell(p.job(2, Queued, "h100"))
	p.wait(5 * time.Minute)
	p.want() // who cannot be asked is not started
}

// An answer that was asked for before a command says nothing about after it.
func TestStaleAnswers(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(p.job(1, Queued, "l4"))
	p.want("start cheap")
	h := p.state.Hosts["cheap"]
	before := h.turn - 1
	p.done(Start, "cheap", On)
	h.asking = true
	p.tell(StatusResult{Host: "cheap", Turn: before, Power: Stopping})
	if h.Seen == Stopping {
		t.Error("an answer of before the start counts")
	}
}

func TestFailedStarts(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(p.job(1, Queued, "l4"))
	var waits []time.Duration
	for range 6 {
		failed := p.now
		p.tell(Ended{Host: "cheap", Kind: Start, Why: "no capacity"})
		n := len(p.did)
		for len(p.did) == n && p.now.Sub(failed) < 3*time.Hour {
			p.wait(5 * time.Second)
		}
		waits = append(waits, p.now.Sub(failed).Round(30*time.Second))
	}
	want := []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, time.Hour, time.Hour}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(p.said, func(s string) bool { return strings.Contains(s, "giving up for 1h0m0s after 5 attempts") }) {
		t.Errorf("the pause is not reported: %q", p.said)
	}
}

// A host that fails leaves its jobs to another that fits.
func TestAnotherHostTakesOver(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(p.job(1, Queued, "gpu"))
	p.want("start cheap")
	p.tell(Ended{Host: "cheap", Kind: Start, Why: "no capacity"})
	p.wait(30 * time.Second)
	p.want("start cheap", "start dear")
}

// A host that is on and takes no job costs money for nothing.
func TestAHostThatTakesNoJob(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(p.job(1, Queued, "l4"))
	p.done(Start, "cheap", On)
	p.wait(9 * time.Minute)
	p.want("start cheap")
	p.wait(2 * time.Minute)
	p.want("start cheap", "stop cheap")
	if p.state.Hosts["cheap"].Failures != 1 {
		t.Error("it is not counted as a start that failed")
	}
}

func TestABootThatTakesTooLong(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(p.job(1, Queued, "l4"))
	p.done(Start, "cheap", Starting)
	p.wait(3*time.Minute + 10*time.Second)
	p.want("start cheap", "stop cheap")
	p.done(Stop, "cheap", Off)
	p.wait(40 * time.Second)
	p.want("start cheap", "stop cheap", "start cheap")
	p.done(Start, "cheap", Off) // the maker's API lags, for long
	p.wait(2*time.Minute + 50*time.Second)
	p.want("start cheap", "stop cheap", "start cheap")
	p.wait(4 * time.Minute)
	p.want("start cheap", "stop cheap", "start cheap", "start cheap")
}

func TestAStopWithoutEffect(t *testing.T) {
	p := begin(t, twoHosts)
	p.power["cheap"] = On
	p.wait(11 * time.Minute)
	p.want("stop cheap")
	p.done(Stop, "cheap", On)
	p.wait(110 * time.Second)
	p.want("stop cheap")
	p.wait(30 * time.Second)
	p.want("stop cheap", "stop cheap")
	p.tell(Ended{Host: "cheap", Kind: Stop, Why: "busy"})
	p.wait(time.Minute)
	p.want("stop cheap", "stop cheap", "stop cheap")
}

// A machine that hangs while it shuts down is stopped again and again. A job that still runs on it ends first.
func TestStep_StopsAgainWhateverTheStatusSays(t *testing.T) {
	for _, after := range []Power{On, Stopping, Starting, Unknown} {
		t.Run(string("then "+after), func(t *testing.T) {
			p := begin(t, twoHosts)
			p.power["cheap"] = On
			p.wait(11 * time.Minute)
			p.want("stop cheap")
			p.done(Stop, "cheap", after)
			p.wait(3 * time.Minute)
			p.want("stop cheap", "stop cheap")
			p.done(Stop, "cheap", after)
			p.tell(p.job(1, Running, "l4"))
			p.wait(time.Hour)
			p.want("stop cheap", "stop cheap")
			p.tell(p.job(1, Done))
			p.wait(11 * time.Minute) // a host that is on has to be idle first
			p.want("stop cheap", "stop cheap", "stop cheap")
			p.done(Stop, "cheap", Off)
			p.wait(time.Hour)
			p.want("stop cheap", "stop cheap", "stop cheap")
		})
	}
}

// Jobs always wait, and none of them for long. A host that is on and takes none of them is replaced.
func TestStep_StopsAHostThatTakesNoneOfManyShortJobs(t *testing.T) {
	p := begin(t, twoHosts)
	p.power["cheap"], p.mute = On, true
	for id := range int64(24) { // a listing each half minute, a new job each three minutes
		p.tell(Poll{Repo: repo, Began: p.now, Jobs: []Job{p.job(id/6, Queued, "gpu").Job}})
		p.wait(30 * time.Second)
	}
	slices.Sort(p.did)
	p.want("start dear", "stop cheap")
}

// Only the lists that may have jobs of a host are needed to call it idle. One that is missing for long is shown.
func TestStep_ListsOfOtherHostsMayBeMissing(t *testing.T) {
	p := begin(t, strings.Replace(twoHosts, "[O/Kernels]", "[O/Kernels, o/other]", 1))
	p.config.Hosts[0].Lists, p.config.Hosts[1].Lists = []string{"o/other"}, []string{repo}
	p.power["cheap"], p.power["dear"] = On, On
	p.wait(20 * time.Minute)
	p.want("stop cheap")
	p.done(Stop, "cheap", Off)
	p.wait(time.Minute)
	sum := Summarize(p.config, p.state, p.now)
	if !sum.Hosts[0].Failing || sum.Hosts[1].Failing {
		t.Errorf("%+v", sum.Hosts)
	}
}

// Who does not hear the forge does not know that no job runs.
func TestNothingIsIdleWithoutTheForge(t *testing.T) {
	p := begin(t, twoHosts)
	p.power["cheap"] = On
	p.wait(5 * time.Minute)
	p.mute = true
	p.wait(time.Hour)
	p.want()
	p.mute = false
	p.wait(2 * time.Minute)
	p.want("stop cheap")
}

// A running job keeps the host it is on; where that is not known, every one it fits.
func TestRunningJobsKeepHosts(t *testing.T) {
	for name, c := range map[string]struct {
		runners string // of cheap
		runner  string
		want    []string
	}{
		"nobody knows which":              {"", "", nil},
		"a name that nobody claims":       {"", "box-7", nil},
		"cheap claims it":                 {"runners: ['l4-*'], ", "l4-3", []string{"stop dear"}},
		"cheap claims others, not this":   {"runners: ['l4-*'], ", "box-7", []string{"stop cheap"}},
		"cheap's, as dear is not claimed": {"runners: [box-7], ", "box-7", []string{"stop dear"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, strings.Replace(twoHosts, "name: cheap, ", "name: cheap, "+c.runners, 1))
			p.power["cheap"], p.power["dear"] = On, On
			d := p.job(1, Running, "gpu")
			d.Job.Runner = c.runner
			p.tell(d)
			p.wait(15 * time.Minute)
			p.want(c.want...)
		})
	}
}

// After a crash a command of before may still run; nothing is done to its host until it
// has ended, or its time is over, and then what it did must show.
func TestAfterACrash(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(p.job(1, Queued, "l4"))
	p.want("start cheap")
	p.did = nil
	p.now = p.now.Add(10 * time.Second)
	p.restart()
	answer := func(power Power, busy bool) []Action {
		p.t.Helper()
		p.now = p.now.Add(10 * time.Second)
		asked, _ := p.state.Step(p.config, Tick{}, p.now)
		i := slices.IndexFunc(asked, func(a Action) bool { return a.Host == "cheap" })
		if i < 0 || asked[i].Kind != Ask {
			t.Fatalf("it is not asked, but %v", asked)
		}
		then, _ := p.state.Step(p.config, StatusResult{Host: "cheap", Turn: asked[i].Turn, Power: power, Busy: busy}, p.now)
		return slices.DeleteFunc(then, func(a Action) bool { return a.Host != "cheap" })
	}
	if got := answer(Off, true); got != nil {
		t.Errorf("the old start still runs: %v", got)
	}
	if got := answer(Off, false); got != nil {
		t.Errorf("what it did may not show yet: %v", got)
	}
	if got := answer(Off, false); len(got) != 1 || got[0].Kind != Start {
		t.Errorf("it came to nothing: %v", got)
	}
	p.restart()
	p.now = p.now.Add(time.Minute) // the timeout of a command: what holds the lock is no command
	answer(Off, true)
	if got := answer(Off, true); len(got) != 1 || got[0].Kind != Start {
		t.Errorf("a background process keeps the lock for good: %v", got)
	}
}

// What went through before a crash is not done again after it, however the maker's API lags.
func TestACrashAfterACommand(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(p.job(1, Queued, "l4"))
	p.done(Start, "cheap", Off)
	p.restart()
	p.wait(2 * time.Minute)
	p.want("start cheap")
	p.power["cheap"] = On
	p.tell(p.job(1, Done))
	p.wait(12 * time.Minute)
	p.want("start cheap", "stop cheap")
	p.done(Stop, "cheap", On)
	p.restart()
	p.wait(110 * time.Second)
	p.want("start cheap", "stop cheap")
	p.wait(time.Minute)
	p.want("start cheap", "stop cheap", "stop cheap")
}

// After a time away the state still has jobs that others have served since. They are no
// sign that a host takes none.
func TestJobsServedWhileAway(t *testing.T) {
	p := begin(t, twoHosts)
	p.tell(p.job(1, Queued, "l4"))
	p.done(Start, "cheap", On)
	p.wait(time.Minute)
	p.now = p.now.Add(20 * time.Minute)
	p.restart()
	p.mute = true
	p.wait(20 * time.Second)
	p.tell(Poll{Repo: repo, Began: p.now})
	p.wait(20 * time.Second)
	p.want("start cheap", "stop cheap")
	if n := p.state.Hosts["cheap"].Failures; n != 0 {
		t.Errorf("%d failures; said %q", n, p.said)
	}
}
