package progress

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
)

// onScreen is what a terminal shows after what was written to it. It knows as
// much of a terminal as the live picture uses.
func onScreen(t *testing.T, written string, width int) string {
	t.Helper()
	lines, row, col := []string{""}, 0, 0
	for i := 0; i < len(written); i++ {
		switch c := written[i]; c {
		case '\r':
			col = 0
		case '\n':
			row, col = row+1, 0
		case 0x1b:
			var n int
			var command byte
			if strings.HasPrefix(written[i:], "\x1b[J") {
				command = 'J'
			} else if _, err := fmt.Sscanf(written[i:], "\x1b[%d%c", &n, &command); err != nil {
				t.Fatalf("unknown sequence at %q", written[i:])
			}
			i += strings.IndexByte(written[i:], command)
			switch command {
			case 'A':
				row -= n
			case 'J':
				lines = lines[:row+1]
				lines[row] = lines[row][:min(col, len(lines[row]))]
			default:
				t.Fatalf("unknown command %q", command)
			}
		default:
			if col == width {
				row, col = row+1, 0
			}
			for len(lines) <= row {
				lines = append(lines, "")
			}
			lines[row] = lines[row][:min(col, len(lines[row]))] + string(c)
			col++
		}
		for len(lines) <= row {
			lines = append(lines, "")
		}
	}
	return strings.Join(lines, "\n")
}

// standing is a live picture whose clock stands still, so that it draws only
// when it is told something worth keeping.
func standing(out *bytes.Buffer, width *int) *liveDisplay {
	return newLive(out, func() (int, int) { return *width, 24 }, func() time.Time { return noon })
}

func TestLiveDrawsOverItself(t *testing.T) {
	var out bytes.Buffer
	width := 40
	l := standing(&out, &width)
	l.event(runner.Building{Side: "base", Command: "make -j"}, "first line")
	l.event(runner.Built{Side: "base"}, "second line")
	if got, want := onScreen(t, out.String(), width), "first line\nsecond line\nstarting the harness ...\n"; got != want {
		t.Errorf("have %q, want %q", got, want)
	}
	out.WriteString("^C") // what a terminal echoes
	l.note("interrupted")
	l.close()
	l.note("after the end")
	if got, want := onScreen(t, out.String(), width), "first line\nsecond line\ninterrupted\nafter the end\n"; got != want {
		t.Errorf("have %q, want %q", got, want)
	}
}

// A window that becomes narrower wraps what stands in it.
func TestLiveInANarrowedWindow(t *testing.T) {
	var out bytes.Buffer
	width := 30
	l := standing(&out, &width)
	l.event(runner.Building{Side: "base", Command: "make"}, "kept") // "building base: make ..." has 23 characters
	before := onScreen(t, out.String(), 30)
	width = 10
	screen := strings.ReplaceAll(before, "building base: make ...", "building b\nase: make \n...")
	out.Reset()
	l.close()
	if got, want := onScreen(t, screen+out.String(), 10), "kept\n"; got != want {
		t.Errorf("have %q, want %q", got, want)
	}
}

// A run closes the picture before its report and once more at its end.
func TestClosingTwice(t *testing.T) {
	var out bytes.Buffer
	l := newLive(&out, func() (int, int) { return 80, 24 }, time.Now)
	l.close()
	l.close()
}
