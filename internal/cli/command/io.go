package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// IO is everything of the process that a command may use, so that scripts and tests can run
// commands in memory.
type IO struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	// OutScreen and ErrScreen return the size of the terminal behind a stream; nil if the stream is
	// not a terminal.
	OutScreen, ErrScreen func() (width, height int)
	// Now and Sleep are the clock of commands that wait for other systems; nil for the real one.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error

	mu         sync.Mutex
	printAbove func(string) // prints a line while a picture is drawn on Err; nil to print it directly
}

// Say prints a line to Err, above the picture if one is drawn.
func (io *IO) Say(text string) {
	io.mu.Lock()
	over := io.printAbove
	io.mu.Unlock()
	if over != nil {
		over(text)
		return
	}
	fmt.Fprintln(io.Err, text)
}

// PrintAbove makes Say call over while a picture is drawn on Err; nil ends that.
func (io *IO) PrintAbove(over func(string)) {
	io.mu.Lock()
	defer io.mu.Unlock()
	io.printAbove = over
}

// Process returns the streams and the environment of this process.
func Process() *IO {
	return &IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		OutScreen: screen(os.Stdout), ErrScreen: screen(os.Stderr),
	}
}

// screen returns a function for the size of a terminal; nil if f is not a terminal.
func screen(f *os.File) func() (width, height int) {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return func() (int, int) {
		if w, h, err := term.GetSize(fd); err == nil && w > 0 && h > 0 {
			return w, h
		}
		return 80, 24
	}
}
