package server

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// plan is one death to try.
type plan struct {
	point, victim string
	times         int
}

// places are those of the server and of pawl push. Runs have others, which TestResume_AtFailpoints kills at.
func places() []string {
	return slices.DeleteFunc(failpoint.Names(), func(name string) bool { return strings.HasPrefix(name, "run.") })
}

// everything is every place with everybody who can die there. What pawl push does before
// it has reached a server is no matter of a database.
func everything() []plan {
	var all []plan
	for _, name := range places() {
		all = append(all, plan{name, self, 1})
		if !strings.HasPrefix(name, "spool.") {
			all = append(all, plan{name, postgres, 1})
		}
	}
	return all
}

// tally is what came of all tries at one place.
type tally struct {
	self, postgres, lost, doubled, fsck, other int
}

// TestCrashes kills pawld, or PostgreSQL, or pawl push at named places. Whatever was
// acknowledged is there afterwards, once, with all its points; what was not arrives by
// sending it again; events are those of the points; fsck finds nothing. A place that is
// not reached fails the test.
//
// CI tries ten of them, always the same (PAWL_SEED chooses others), the night all of them.
// With PAWL_LAB it is all of them ten times, and a table is written there.
func TestCrashes(t *testing.T) {
	lab := os.Getenv("PAWL_LAB")
	plans, worlds := everything(), 1
	random := rand.New(rand.NewPCG(seed(), 8))
	random.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
	if lab != "" {
		worlds = atoi("PAWL_LAB_WORLDS", 6)
		times := atoi("PAWL_LAB_TIMES", 10)
		for i := range plans {
			plans[i].times = times
		}
	}
	if only := os.Getenv("PAWL_FAILPOINTS"); only != "" { // to look at some
		plans = slices.DeleteFunc(plans, func(p plan) bool { return !strings.HasPrefix(p.point, only) })
	} else if lab == "" {
		plans = plans[:testrun.Times(10, len(plans))]
	}
	t.Logf("seed %d", seed())
	b := &board{tallies: map[string]*tally{}, lab: lab}
	t.Run("worlds", func(t *testing.T) {
		for n := range worlds {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				for {
					p, ok := b.next(&plans)
					if !ok {
						return
					}
					b.try(t, w, p, rand.New(rand.NewPCG(seed(), uint64(w.tries+1000*n))))
				}
			})
		}
	})
	t.Logf("%d tries\n%s", b.tries, b.table())
}

// A place that no errand leads to would be one that nobody tries.
func TestEveryPlaceHasAnErrand(t *testing.T) {
	for _, name := range places() {
		if _, ok := errandOf(name); !ok {
			t.Errorf("no errand leads to %s", name)
		}
	}
}

// seed is what random choices start from.
func seed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("PAWL_SEED"), 10, 64); err == nil {
		return n
	}
	return 1
}

func atoi(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// board is shared by all worlds.
type board struct {
	lab     string // where the table is written; empty for nowhere
	mu      sync.Mutex
	tries   int
	tallies map[string]*tally
}

// next takes a plan: every one once before any twice.
func (b *board) next(plans *[]plan) (plan, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(*plans) == 0 {
		return plan{}, false
	}
	p := (*plans)[0]
	*plans = (*plans)[1:]
	if p.times--; p.times > 0 {
		*plans = append(*plans, p)
	}
	b.tries++
	return p, true
}

func (b *board) try(t *testing.T, w *world, p plan, random *rand.Rand) {
	t.Helper()
	began := time.Now()
	y := newTry(t, w, p.point, p.victim)
	nth := 1
	if !y.errand.once {
		nth += random.IntN(3)
	}
	y.crash(nth)
	o := y.check()
	if !o.whole() {
		t.Errorf("%s:%d:%s in %s: %v", p.point, nth, p.victim, y.slug, o)
	}
	y.forget()
	t.Logf("%s:%d:%s in %.1f s", p.point, nth, p.victim, time.Since(began).Seconds())
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.tallies[p.point]
	if one == nil {
		one = &tally{}
		b.tallies[p.point] = one
	}
	if p.victim == self {
		one.self++
	} else {
		one.postgres++
	}
	one.lost, one.doubled = one.lost+o.lost, one.doubled+o.doubled
	if o.fsck != "" {
		one.fsck++
	}
	if len(o.bad) > 0 {
		one.other++
	}
	if b.lab != "" { // after each: it takes long
		if err := os.WriteFile(filepath.Join(b.lab, "server-crashes.md"), []byte(b.table()), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// table is in the order of the list of places.
func (b *board) table() string {
	var s strings.Builder
	s.WriteString("| place | kills of the process | kills of PostgreSQL | reports or points lost | doubled | fsck not clean | anything else |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	var all tally
	for _, name := range places() {
		one := b.tallies[name]
		if one == nil {
			continue
		}
		fmt.Fprintf(&s, "| `%s` | %d | %d | %d | %d | %d | %d |\n", name, one.self, one.postgres, one.lost, one.doubled, one.fsck, one.other)
		all.self, all.postgres, all.lost = all.self+one.self, all.postgres+one.postgres, all.lost+one.lost
		all.doubled, all.fsck, all.other = all.doubled+one.doubled, all.fsck+one.fsck, all.other+one.other
	}
	fmt.Fprintf(&s, "| all %d | %d | %d | %d | %d | %d | %d |\n", len(b.tallies), all.self, all.postgres, all.lost, all.doubled, all.fsck, all.other)
	return s.String()
}
