package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/bench"
	"github.com/goatnote-inc/pawl/internal/report"
)

// live draws the state of a run at the bottom of a terminal and keeps drawing
// it over itself; lines worth keeping scroll away above it.
type live struct {
	out   io.Writer
	width func() int
	style report.Style
	now   func() time.Time

	mu      sync.Mutex
	picture picture
	drawn   int // lines on the screen
	last    time.Time
	stop    chan struct{}
	done    chan struct{}
}

// redraw is how often the picture changes at most; a person cannot see more.
const redraw = 100 * time.Millisecond

func newLive(io *IO, style report.Style, now func() time.Time) *live {
	l := &live{out: io.Err, width: io.Width, style: style, now: now, stop: make(chan struct{}), done: make(chan struct{})}
	go l.tick()
	return l
}

// tick keeps the clock in the picture running while nothing happens.
func (l *live) tick() {
	defer close(l.done)
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-t.C:
			l.mu.Lock()
			l.draw()
			l.mu.Unlock()
		}
	}
}

func (l *live) event(e bench.Event, keep string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.picture.event(e, l.now())
	if keep != "" {
		if _, isRound := e.(bench.Measuring); !isRound || strings.Contains(keep, "warning") {
			l.erase()
			fmt.Fprintln(l.out, keep)
		}
	}
	if keep != "" || l.now().Sub(l.last) >= redraw {
		l.draw()
	}
}

func (l *live) draw() {
	l.erase()
	lines := l.picture.lines(l.now(), l.width(), l.style)
	for _, line := range lines {
		fmt.Fprintln(l.out, line)
	}
	l.drawn, l.last = len(lines), l.now()
}

func (l *live) erase() {
	if l.drawn > 0 {
		fmt.Fprintf(l.out, "\x1b[%dA\x1b[J", l.drawn)
		l.drawn = 0
	}
}

func (l *live) close() {
	close(l.stop)
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
}
