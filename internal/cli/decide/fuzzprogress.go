package decide

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
)

// fuzzProgress shows the progress of a search: one line that is overwritten on a terminal,
// an occasional line elsewhere, JSON lines for programs.
type fuzzProgress struct {
	*progress.Display
	now     func() time.Time
	mu      sync.Mutex
	planned []runner.FuzzPlanned
	dry     bool // dry run: the plan is the result, and is printed as such
	told    time.Time
	drawn   bool      // the terminal shows a line that will be overwritten
	began   time.Time // start of the current shrinking
	shrunk  map[string][]float64
}

func newFuzzProgress(g *env.Env, asJSON bool, now func() time.Time) *fuzzProgress {
	return &fuzzProgress{
		Display: &progress.Display{IO: g.IO, Style: g.ErrStyle(), JSON: asJSON, Seen: g.Event}, now: now, shrunk: map[string][]float64{},
	}
}

// shrinking returns how many seconds it took to shrink the n-th failure of a benchmark.
func (p *fuzzProgress) shrinking(benchmark string, n int) float64 {
	if list := p.shrunk[benchmark]; n < len(list) {
		return list[n]
	}
	return 0
}

func (p *fuzzProgress) close() { p.wipe() }

func (p *fuzzProgress) event(e runner.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case runner.FuzzPlanned:
		p.planned = append(p.planned, e)
		if !p.dry {
			p.emit("plan", map[string]any{"benchmark": e.Benchmark, "points": e.Points, "replayed": e.Replayed, "seconds": e.Seconds}, "trying "+progress.DescribePlan(e))
		}
	case runner.Fuzzing:
		p.Seen(e)
		p.fuzzing(e)
	default:
		p.wipe()
		p.Event(e)
	}
}

func (p *fuzzProgress) fuzzing(e runner.Fuzzing) {
	switch {
	case e.Warning != "":
		p.emit("warning", map[string]any{"benchmark": e.Benchmark, "text": e.Warning}, p.Style.Warn("note: ")+e.Warning)
	case e.Shrinking != nil:
		p.began = p.now()
		p.emit("shrinking", map[string]any{"benchmark": e.Benchmark, "point": e.Shrinking}, fmt.Sprintf("wrong result at %s; searching for a smaller point", e.Shrinking))
	case e.Found != nil:
		p.shrunk[e.Benchmark] = append(p.shrunk[e.Benchmark], p.now().Sub(p.began).Seconds())
		p.emit("found", map[string]any{"benchmark": e.Benchmark, "found": e.Found}, fmt.Sprintf("smallest: %s", e.Found.Smallest.Point))
	case e.Result != nil && p.JSON:
		p.Line(progress.EventLine("point", map[string]any{"benchmark": e.Benchmark, "done": e.Done, "total": e.Total, "point": e.Result.Point, "status": e.Result.Status, "reason": e.Result.Reason}))
	case e.Result != nil:
		p.point(e)
	}
}

// point shows the progress, at a limited rate.
func (p *fuzzProgress) point(e runner.Fuzzing) {
	every := 5 * time.Second
	if p.ErrScreen != nil {
		every = 100 * time.Millisecond
	}
	if p.now().Sub(p.told) < every {
		return
	}
	p.told = p.now()
	text := fmt.Sprintf("%s: %d of %s, %s %s", e.Benchmark, e.Done, words.Plural(e.Total, "point"), e.Result.Point, e.Result.Status)
	if p.ErrScreen == nil {
		p.Line(text)
		return
	}
	width, _ := p.ErrScreen()
	fmt.Fprintf(p.Err, "\r\x1b[K%s", strings.TrimSpace(text[:min(len(text), max(width-1, 20))]))
	p.drawn = true
}

// emit prints a line that stays on the screen.
func (p *fuzzProgress) emit(name string, fields map[string]any, text string) {
	p.wipe()
	if p.JSON {
		p.Line(progress.EventLine(name, fields))
		return
	}
	p.Line(text)
}

func (p *fuzzProgress) wipe() {
	if p.drawn {
		fmt.Fprint(p.Err, "\r\x1b[K")
		p.drawn = false
	}
}
