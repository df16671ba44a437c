package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
)

// liveDisplay draws the state of a run at the bottom of a terminal and keeps overwriting it. Lines that
// should stay scroll away above it.
type liveDisplay struct {
	out    io.Writer
	screen func() (width, height int)
	now    func() time.Time

	mu      sync.Mutex
	picture progressView
	drawn   []string // lines on the screen
	last    time.Time
	closed  bool
	once    sync.Once // guards stop
	stop    chan struct{}
	done    chan struct{}
}

// redraw is the minimum time between two drawings; faster changes are not visible.
const redraw = 100 * time.Millisecond

func newLive(out io.Writer, screen func() (int, int), now func() time.Time) *liveDisplay {
	l := &liveDisplay{out: out, screen: screen, now: now, stop: make(chan struct{}), done: make(chan struct{})}
	go l.tick()
	return l
}

// tick updates the times in the picture while no events arrive.
func (l *liveDisplay) tick() {
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

// event updates the picture and, if keep is not empty, prints that line above it.
func (l *liveDisplay) event(e runner.Event, keep string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.picture.event(e, l.now())
	if keep != "" || l.now().Sub(l.last) >= redraw {
		l.draw(keep)
	}
}

// note prints a line above the picture.
func (l *liveDisplay) note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draw(text)
}

// draw replaces the picture in one write, so that it never appears half drawn.
func (l *liveDisplay) draw(keep string) {
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
	_, _ = io.WriteString(l.out, b.String()) // a closed terminal must not end a run
}

// erase returns the codes that move back to the start of the picture and clear it. A narrower window
// has wrapped its lines, and a pressed key may have echoed at the cursor.
func (l *liveDisplay) erase(width int) string {
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

// close removes the picture, because the table that follows shows the same. A run calls it before its
// report, and again at the end, because not every run reaches the report.
func (l *liveDisplay) close() {
	l.once.Do(func() { close(l.stop) })
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.draw("")
}
