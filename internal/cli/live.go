package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/bench"
)

// live draws the state of a run at the bottom of a terminal and keeps drawing
// it over itself; lines worth keeping scroll away above it.
type live struct {
	out    io.Writer
	screen func() (width, height int)
	now    func() time.Time

	mu      sync.Mutex
	picture picture
	drawn   []string // what is on the screen
	last    time.Time
	closed  bool
	once    sync.Once // for stop
	stop    chan struct{}
	done    chan struct{}
}

// redraw is how often the picture changes at most; a person cannot see more.
const redraw = 100 * time.Millisecond

func newLive(out io.Writer, screen func() (int, int), now func() time.Time) *live {
	l := &live{out: out, screen: screen, now: now, stop: make(chan struct{}), done: make(chan struct{})}
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
			l.draw("")
			l.mu.Unlock()
		}
	}
}

// event changes the picture, and keeps a line above it if there is one.
func (l *live) event(e bench.Event, keep string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.picture.event(e, l.now())
	if keep != "" || l.now().Sub(l.last) >= redraw {
		l.draw(keep)
	}
}

// note puts a line above the picture.
func (l *live) note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draw(text)
}

// draw replaces the picture in one write, so that no half of it is ever seen.
func (l *live) draw(keep string) {
	width, height := l.screen()
	var b strings.Builder
	b.WriteString(l.erase(width))
	if keep != "" {
		b.WriteString(keep + "\n")
	}
	if !l.closed {
		l.drawn = l.picture.lines(l.now(), width, height)
		l.last = l.now()
	}
	for _, line := range l.drawn {
		b.WriteString(line + "\n")
	}
	_, _ = io.WriteString(l.out, b.String()) // a terminal that is gone must not end a run
}

// erase goes back to where the picture began. A window that became narrower has
// wrapped its lines, and a key that was pressed may stand at the cursor.
func (l *live) erase(width int) string {
	rows := 0
	for _, line := range l.drawn {
		rows += 1 + (utf8.RuneCountInString(line)-1)/max(width, 1)
	}
	l.drawn = nil
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows)
}

// close removes the picture: what it showed is in the table that follows. A run closes it
// before it reports, and again when it is over, because not every run comes to a report.
func (l *live) close() {
	l.once.Do(func() { close(l.stop) })
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.draw("")
}
