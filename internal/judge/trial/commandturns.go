package trial

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/measure"
)

// Python programs that measure with timeit.Timer, as torch.utils.benchmark does, with pytest-benchmark or with our pytest
// plugin take turns too: the recorder asks before a block or a few samples, and says when they are done. While a program waits
// for its turn, no clock of its own runs.

// commandsTakeTurns reports whether all sides are programs that take turns and do their work in one thread, as their
// last run showed.
func (t *trial) commandsTakeTurns() bool {
	if !t.Turns || len(t.Sides) < 2 || len(t.Cores) < 2 {
		return false
	}
	for _, s := range t.Sides {
		if c, ok := s.Runner.(*Commands); !ok || c.Format != Python || !c.cores.timed.Turns || !c.cores.oneThread() {
			return false
		}
	}
	return true
}

// commandsTogether runs the commands of all sides at once, and lets them measure in turns.
func (t *trial) commandsTogether(ctx context.Context, order []int, round *measure.Round) (results []measure.Result, err error) {
	at := t.commandPlace(round.Index)
	var runs []*measure.Run
	var state measure.Side
	err = t.watched(ctx, strings.Join(round.Order, " and "), round.Index, &state, func() (err error) {
		runs, err = t.runTogether(ctx, order, round, at)
		return err
	})
	for i := range round.Sides {
		round.Sides[i].Before, round.Sides[i].After = state.Before, state.After
	}
	if err != nil {
		return nil, err
	}
	for i, n := range order {
		c, _ := t.Sides[n].Runner.(*Commands)
		got, err := c.report(runs[i], Request{
			Round:    round.Index,
			Measured: func(r measure.Result) { t.Emit(CaseMeasured{Round: round.Index, Side: c.Side, Result: r}) },
		})
		if err != nil {
			return results, &SideError{Side: c.Side, Err: err}
		}
		results = append(results, got...)
	}
	t.noteCore(results, at)
	return results, nil
}

// runTogether runs the commands and returns what they measured. If one breaks, the others are stopped: they would wait for it.
func (t *trial) runTogether(ctx context.Context, order []int, round *measure.Round, at place) ([]*measure.Run, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	table := newTable(len(order))
	runs, sides := make([]*measure.Run, len(order)), make([]measure.Side, len(order))
	var all sync.WaitGroup
	for i, n := range order {
		own := at
		own.seat = table.seats[i]
		all.Go(func() {
			defer own.seat.leave()
			c, _ := t.Sides[n].Runner.(*Commands)
			began := t.Now()
			run, err := c.runAt(ctx, own)
			sides[i] = measure.Side{Implementation: c.Side, Started: began, Seconds: t.Now().Sub(began).Seconds()}
			if err != nil {
				sides[i].Error = firstLine(err.Error())
				stop(&SideError{Side: c.Side, Err: err}) // only the first one counts
			}
			runs[i] = run
		})
	}
	all.Wait()
	round.Sides = append(round.Sides, sides...)
	if slices.Contains(runs, nil) {
		return nil, context.Cause(ctx)
	}
	return runs, nil
}

// table is where programs take turns, AB BA AB BA. A turn begins once all other programs wait for theirs or have left. A program that
// starts a new call waits until the others have finished theirs, so that the same calls are measured side by side.
type table struct {
	seats  []*seat
	events chan event
}

type seat struct {
	table  *table
	index  int
	answer *os.File // a byte in it begins a turn; it is the size that the other program said
}

// event is what a program says: that it waits for its turn, or for that of a new call, that its turn is over, or that it has left.
type event struct {
	seat int
	what byte
}

const (
	asks   = '?'
	starts = '!'
	done   = '.'
	left   = 'x'
	// A turn that also says how many samples it held ends with a letter: A for 1, B for 2, C for 4.
	sized, maxSized = 'A', 'Z'
)

func newTable(seats int) *table {
	t := &table{events: make(chan event)}
	for i := range seats {
		t.seats = append(t.seats, &seat{table: t, index: i})
	}
	go t.serve()
	return t
}

// serve gives turns until all have left.
func (t *table) serve() {
	waiting, turn := map[int]byte{}, -1 // for what they wait
	present := map[int]bool{}
	var pass, next []int // of this pass, those who have not had their turn; of the next one, all
	var size byte        // of the turns of this call, as the first program said; 0 if unknown
	for i := range t.seats {
		present[i] = true
		next = append(next, i)
	}
	for len(present) > 0 {
		e := <-t.events
		if e.what >= sized && e.what <= maxSized {
			size = cmp.Or(size, e.what-sized+1)
			e.what = done
		}
		switch e.what {
		case asks, starts:
			waiting[e.seat] = e.what
		case left:
			delete(present, e.seat)
			delete(waiting, e.seat)
		}
		if e.seat == turn && (e.what == done || e.what == left) {
			turn = -1
		}
		if turn >= 0 || len(waiting) == 0 || len(waiting) < len(present) {
			continue
		}
		if !slices.Contains(slices.Collect(maps.Values(waiting)), asks) { // all start a new call
			for i := range waiting {
				waiting[i] = asks
			}
			pass, size = nil, 0
		}
		for turn < 0 {
			if len(pass) == 0 {
				pass = next
				next = slices.Clone(next)
				slices.Reverse(next)
			}
			if turn, pass = pass[0], pass[1:]; waiting[turn] != asks {
				turn = -1
			}
		}
		delete(waiting, turn)
		_, _ = t.seats[turn].answer.Write([]byte{size}) // it fails if the program has just ended
	}
}

// take makes the pipes through which the recorder asks for turns. The caller must close them with the returned function after the
// program has ended.
func (s *seat) take(path string) (closePipes func(), err error) {
	var pipes [2]*os.File
	for i, name := range []string{path + ".ask", path + ".answer"} {
		if err = unix.Mkfifo(name, 0o600); err == nil {
			pipes[i], err = os.OpenFile(name, os.O_RDWR, 0) // for both, or opening it would wait for the program
		}
		if err != nil {
			_ = pipes[0].Close() // nil is no file
			return nil, fmt.Errorf("cannot make a pipe for turns: %w", err)
		}
	}
	s.answer = pipes[1]
	var reader sync.WaitGroup
	reader.Go(func() {
		buffer := make([]byte, 64)
		for {
			n, err := pipes[0].Read(buffer)
			if err != nil {
				return
			}
			for _, b := range buffer[:n] {
				if b == asks || b == starts || b == done || b >= sized && b <= maxSized {
					s.table.events <- event{s.index, b}
				}
			}
		}
	})
	return func() {
		_, _ = pipes[0].Close(), pipes[1].Close()
		reader.Wait()
	}, nil
}

// leave says that the program takes no more turns.
func (s *seat) leave() { s.table.events <- event{s.index, left} }
