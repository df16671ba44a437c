package fleet

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/measure"
)

// outage is a part of the fleet that is away for a while, again and again, each time with gates under way, until enough gates were hit.
type outage struct {
	name  string
	seed  uint64
	part  string
	away  time.Duration
	gates int // at a time
	hits  int // in all
}

// restarted is pawld in an outage that stops it with SIGTERM. Everything else is killed with SIGKILL.
const restarted = "pawld restarted"

// The two halves of the longest outages run side by side.
var outages = []outage{
	{"Temporal away for 20 s", 1, "temporal-server", 20 * time.Second, 10, 50},
	{"PostgreSQL away for 20 s", 2, postgres, 20 * time.Second, 10, 50},
	{restarted, 3, "pawld", 0, 10, 50},
	{"Temporal away for 5 minutes", 4, "temporal-server", 5 * time.Minute, 5, 25},
	{"Temporal away for 5 minutes", 5, "temporal-server", 5 * time.Minute, 5, 25},
}

// agents are the agents of all hosts of a lab.
const agents = "pawl-agent"

// kills are outages that end at once.
var kills = []outage{
	{"the agent", 44, agents, 0, 10, 100},
	{"pawld", 29, "pawld", 0, 1, 20},
	{"Temporal", 57, "temporal-server", 0, 1, 20},
	{"PostgreSQL", 55, postgres, 0, 1, 20},
}

// hit is a gate that an outage hits, and what became of it.
type hit struct {
	Outage string  `json:"outage"`
	Seed   uint64  `json:"seed"`
	Number int     `json:"number"` // of the outage
	Truth  string  `json:"truth"`
	Calls  int     `json:"calls"` // of the kernel that had ended before the last seconds; -1: the gate did not exist yet
	Lead   float64 `json:"lead"`  // the last seconds before the outage, in which the gate ran freely
	More   int     `json:"more"`  // calls after which the kernel waits for the end of the outage; 0: it does not wait

	Over      bool    `json:"over"`  // the gate had ended before the outage
	Phase     string  `json:"phase"` // of the gate on its host at the outage; empty if no host had it
	Kept      int     `json:"kept"`  // rounds that its host had then
	Lost      int     `json:"lost"`  // of them, those that are not in the record, or changed
	Verdict   string  `json:"verdict"`
	Rounds    int     `json:"rounds"`    // in the record
	Cut       int     `json:"cut"`       // calls that were cut off
	Repeated  int     `json:"repeated"`  // calls that ended and are not in the record, beside a first side without a second one
	Published int     `json:"published"` // results in the database
	Attempts  int     `json:"attempts"`
	After     float64 `json:"after"` // seconds from the end of the outage to that of the gate

	repository
	cmd  *exec.Cmd
	said bytes.Buffer
	end  time.Time // set when done has its error
	done chan error
}

// maxLead is the longest time for which a gate runs freely before an outage.
const maxLead = 1500 * time.Millisecond

// TestLabOutages takes parts of a fleet away at seeded moments of gates whose result is known. It adds a line for each gate to
// fleet-outages.jsonl, and continues there when it is started again.
//
//	PAWL_LAB=FOLDER go test ./e2e/fleet -run LabOutages -parallel 5 -timeout 3h -v
func TestLabOutages(t *testing.T) { labOutages(t, "fleet-outages", outages) }

// TestLabKills does the same with kill -9, and adds its lines to fleet-kills.jsonl.
//
//	PAWL_LAB=FOLDER go test ./e2e/fleet -run LabKills -parallel 4 -timeout 3h -v
func TestLabKills(t *testing.T) { labOutages(t, "fleet-kills", kills) }

func labOutages(t *testing.T, name string, list []outage) {
	t.Helper()
	folder := labFolder(t)
	file := filepath.Join(folder, name+".jsonl")
	t.Cleanup(func() {
		text := outageTable(list, testrun.Rows[hit](t, file))
		t.Log("\n" + text)
		must(t, os.WriteFile(filepath.Join(folder, name+".md"), []byte(text), 0o600))
	})
	var mu sync.Mutex
	known := testrun.Rows[hit](t, file)
	for _, o := range list {
		t.Run(fmt.Sprintf("%s, seed %d", o.name, o.seed), func(t *testing.T) {
			t.Parallel()
			l := &outageLab{}
			hits, next := 0, 0
			for _, h := range known {
				if h.Seed == o.seed {
					hits, next = hits+count(!h.Over), max(next, h.Number+1)
				}
			}
			for n := next; hits < o.hits; n++ {
				if l.world == nil {
					l.open(t, o.gates)
				}
				list := l.strike(t, o, n)
				for _, h := range list {
					hits += count(!h.Over)
				}
				mu.Lock()
				appendRows(t, file, list)
				mu.Unlock()
			}
		})
	}
}

func appendRows(t *testing.T, path string, list []*hit) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer f.Close()
	for _, h := range list {
		must(t, json.NewEncoder(f).Encode(h))
	}
}

// outageLab is a fleet, and its hosts of one model.
type outageLab struct {
	world *world
	model string
	hosts []*island
}

func (l *outageLab) open(t *testing.T, hosts int) {
	t.Helper()
	l.world, l.model = newWorld(t), "pool"
	for n := range hosts {
		l.hosts = append(l.hosts, l.world.newIsland(t, l.model, strconv.Itoa(n)))
	}
}

// strike starts gates, takes a part of the fleet away and brings it back, and waits for the gates to end.
func (l *outageLab) strike(t *testing.T, o outage, n int) []*hit {
	t.Helper()
	random := rand.New(rand.NewPCG(o.seed, uint64(n)))
	var list []*hit
	for range o.gates {
		list = append(list, newHit(t, o, n, random))
	}
	for _, h := range list {
		if h.Calls >= 0 {
			h.setHold(t, h.Calls)
			l.start(t, h)
		}
	}
	for _, h := range list {
		await.TrueWithin(t, patience, "the kernel to wait", func() bool { return h.Calls < 0 || h.made() > h.Calls })
	}
	last := slices.SortedFunc(slices.Values(list), func(a, b *hit) int { return cmp.Compare(b.Lead, a.Lead) })
	moment := time.Now().Add(maxLead)
	for _, h := range last {
		time.Sleep(time.Until(moment.Add(-time.Duration(h.Lead * float64(time.Second)))))
		h.setHold(t, h.until())
		if h.Calls < 0 {
			l.start(t, h)
		}
	}
	time.Sleep(time.Until(moment))
	for _, h := range list {
		h.Over = len(h.done) > 0
	}
	l.leave(t, o)
	there := l.look(t)
	time.Sleep(o.away)
	l.comeBack(o)
	back := time.Now()
	await.TrueWithin(t, patience, "the fleet to answer", func() bool {
		_, _, err := l.world.run(t, l.world.dir, "pawl", "fleet", "devices")
		return err == nil
	})
	time.Sleep(time.Duration(random.Int64N(int64(5 * time.Second))))
	for _, h := range list {
		h.setHold(t, -1)
	}
	for _, h := range list {
		l.check(t, o, h, back, there)
	}
	return list
}

// newHit draws a gate and the moment at which the outage hits it.
func newHit(t *testing.T, o outage, n int, random *rand.Rand) *hit {
	t.Helper()
	h := &hit{
		Outage: o.name, Seed: o.seed, Number: n, Truth: []string{"regression", "improvement", "maintained"}[random.IntN(3)], Calls: random.IntN(13) - 1,
		Lead: random.Float64() * maxLead.Seconds(), More: max(0, random.IntN(8)-3), repository: newRepository(t), done: make(chan error, 1),
	}
	h.commit(t, map[string]string{"regression": "120", "improvement": "80", "maintained": "100.0"}[h.Truth])
	return h
}

// until returns after how many calls the kernel waits during the outage; -1 if it does not wait.
func (h *hit) until() int {
	if h.More == 0 {
		return -1
	}
	return max(h.Calls, 0) + h.More
}

// setHold lets the kernel wait after so many calls, or not at all if calls is negative.
func (h *hit) setHold(t *testing.T, calls int) {
	t.Helper()
	if calls < 0 {
		_ = os.Remove(h.hold)
		return
	}
	must(t, os.WriteFile(h.hold+".new", []byte(strconv.Itoa(calls)), 0o600))
	must(t, os.Rename(h.hold+".new", h.hold)) // the kernel may read it at any time
}

func (l *outageLab) start(t *testing.T, h *hit) {
	t.Helper()
	h.cmd = l.world.command(t, h.dir, "pawl", "run", "--base", "HEAD~1", "--on", l.model)
	h.cmd.Stderr = &h.said
	must(t, h.cmd.Start())
	go func() {
		err := h.cmd.Wait()
		h.end = time.Now()
		h.done <- err
	}()
}

// leave stops a part of the fleet.
func (l *outageLab) leave(t *testing.T, o outage) {
	t.Helper()
	switch {
	case o.part == agents:
		for _, i := range l.hosts {
			must(t, i.cmd.Process.Kill())
		}
		for _, i := range l.hosts {
			_ = i.cmd.Wait()
		}
	case o.name == restarted:
		serve := l.world.started[o.part]
		must(t, serve.Process.Signal(syscall.SIGTERM))
		_ = serve.Wait()
	default:
		l.world.kill(o.part)
	}
}

func (l *outageLab) comeBack(o outage) {
	if o.part != agents {
		l.world.again(o.part)
		return
	}
	for _, i := range l.hosts {
		i.cmd = i.start()
	}
}

// found is what a host has of a gate at an outage.
type found struct {
	phase string
	run   *measure.Run
}

// look returns what the hosts have, by the IDs of gates.
func (l *outageLab) look(t *testing.T) map[string]found {
	t.Helper()
	all := map[string]found{}
	for _, i := range l.hosts {
		files, err := filepath.Glob(filepath.Join(i.state, "leases", "*", "*lease.json")) // that of a build is before that of its measurement
		must(t, err)
		for _, file := range files {
			var f struct{ Lease job.Lease }
			text, err := os.ReadFile(file)
			if err != nil { // delivered meanwhile
				continue
			}
			must(t, json.Unmarshal(text, &f))
			dir := filepath.Dir(file)
			at := found{"measuring", readJournal(t, filepath.Join(dir, "out", "current.json"))}
			if f.Lease.Build {
				at.phase = "building"
			} else if _, err := os.Stat(filepath.Join(dir, "result.json")); err == nil {
				at.phase = "delivering"
			}
			all[f.Lease.Gate] = at
		}
	}
	return all
}

// readJournal reads what there is of a run. It is empty before the first round.
func readJournal(t *testing.T, path string) *measure.Run {
	t.Helper()
	run, err := measure.Load(path)
	if err == nil {
		return run
	}
	if text, _ := os.ReadFile(measure.JournalPath(path)); bytes.Contains(text, []byte(`{"record":"round"`)) {
		t.Errorf("a journal with rounds cannot be read: %v\n%s", err, text)
	}
	return &measure.Run{}
}

// lostRounds counts the rounds of a run that a later record of it does not have, byte for byte.
func lostRounds(t *testing.T, kept, whole *measure.Run) (lost int) {
	t.Helper()
	text := func(run *measure.Run, n int) string {
		if n >= len(run.Rounds) {
			return ""
		}
		all := []any{run.Rounds[n]}
		for _, c := range run.Cases {
			for _, r := range c.Rounds {
				if r.Round == run.Rounds[n].Index {
					all = append(all, c.CaseKey, r)
				}
			}
		}
		text, err := json.Marshal(all)
		must(t, err)
		return string(text)
	}
	for n := range kept.Rounds {
		if was, is := text(kept, n), text(whole, n); was != is {
			t.Errorf("round %d was and is\n%s\n%s", n, was, is)
			lost++
		}
	}
	return lost
}

// check waits for the end of a gate and compares what is left of it with what was planted.
func (l *outageLab) check(t *testing.T, o outage, h *hit, back time.Time, there map[string]found) {
	t.Helper()
	err := await.ReceiveWithin(t, 20*time.Minute, "a gate to end", h.done)
	h.After = max(0, h.end.Sub(back).Seconds())
	_, rest, _ := strings.Cut("\n"+h.said.String(), "\ngate ")
	id, _, _ := strings.Cut(rest, "\n")
	kept := there[id]
	h.Phase = kept.phase
	said := fmt.Sprintf("%s, outage %d, after %d calls, %.1f s and %d calls more, %s:\n%s", h.Outage, h.Number, h.Calls, h.Lead, h.More, h.Phase, h.said.String())
	want := 0
	if h.Truth == "regression" {
		want = 1
	}
	if code := exitCode(t, err); code != want {
		t.Errorf("exit code %d, want %d: %s", code, want, said)
		return
	}
	results := filepath.Join(h.dir, "results")
	if h.Verdict = verdictOf(t, results); h.Verdict != h.Truth {
		t.Errorf("verdict %s, want %s: %s", h.Verdict, h.Truth, said)
	}
	run, err := measure.Load(filepath.Join(results, "current.json"))
	must(t, err)
	if kept.run != nil {
		h.Kept, h.Lost = len(kept.run.Rounds), lostRounds(t, kept.run, run)
	}
	ended := countLines(h.ended)
	cut := 1 // a call of a round that did not end
	if o.part == agents {
		cut = 2 // the round may have ended a moment before it was written
	}
	h.Rounds, h.Cut, h.Repeated = len(run.Rounds), h.made()-ended, max(0, ended-2*len(run.Rounds)-cut)
	if h.Lost > 0 || h.Repeated > 0 || ended < 2*h.Rounds {
		t.Errorf("%d of %d rounds lost, %d calls ended for %d rounds: %s", h.Lost, h.Kept, ended, h.Rounds, said)
	}
	if text, err := os.ReadFile(h.problems()); err == nil {
		t.Errorf("%s: %s", text, said)
	}
	l.checkPublished(t, h, id, want, said)
}

// checkPublished looks for the one result of a gate in the database.
func (l *outageLab) checkPublished(t *testing.T, h *hit, id string, exit int, said string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), l.world.pg.URL("postgres"))
	must(t, err)
	defer db.Close(t.Context())
	var state string
	var rounds, code int
	must(t, db.QueryRow(t.Context(), `select g.state, g.attempt, count(p.gate), coalesce(sum(p.rounds), 0), coalesce(sum(p.exit), 0) from pawl.gate g
		left join pawl.publication p on p.gate = g.id where g.id = $1 group by g.state, g.attempt`, id).Scan(&state, &h.Attempts, &h.Published, &rounds, &code))
	if state != "done" || h.Published != 1 || rounds != h.Rounds || code != exit {
		t.Errorf("gate %s is %s with %d results of %d rounds and exit code %d, want one of %d and %d: %s", id, state, h.Published, rounds, code, h.Rounds, exit, said)
	}
}

// outageTable counts what became of all gates.
func outageTable(list []outage, rows []hit) string {
	var b strings.Builder
	b.WriteString("| | times | gates hit | wrong or no verdict | rounds finished before | of them lost | rounds measured again | results lost | results doubled | calls cut off | second attempts " +
		"| gate ended after that, median and longest |\n| --- |" + strings.Repeat(" ---: |", 11) + "\n")
	phases := map[string]int{}
	for i, o := range list {
		if i > 0 && o.name == list[i-1].name { // two halves
			continue
		}
		times, after := map[[2]uint64]bool{}, []float64{}
		var gates, wrong, kept, gone, repeated, lost, doubled, cut, second int
		for _, h := range rows {
			if h.Outage != o.name || h.Over {
				continue
			}
			times[[2]uint64{h.Seed, uint64(h.Number)}] = true
			after = append(after, h.After)
			gates++
			phases[h.Phase]++
			kept, gone = kept+h.Kept, gone+h.Lost
			repeated += (h.Repeated + 1) / 2
			cut += h.Cut
			wrong += count(h.Verdict != h.Truth)
			lost += count(h.Published == 0)
			doubled += count(h.Published > 1)
			second += count(h.Attempts > 1)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.0f s, %.0f s |\n",
			o.name, len(times), gates, wrong, kept, gone, repeated, lost, doubled, cut, second, quantile(after, 0.5), quantile(after, 1))
	}
	fmt.Fprintf(&b, "\nAt that moment the server had %d gates; hosts built %d, measured %d and delivered %d.\n", phases[""], phases["building"], phases["measuring"], phases["delivering"])
	return b.String()
}

func count(holds bool) int {
	if holds {
		return 1
	}
	return 0
}
