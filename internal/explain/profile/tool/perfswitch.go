package tool

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// counterSwitch turns the counters of a running perf stat on and off: perf reads commands from one
// pipe and acknowledges them on another.
type counterSwitch struct {
	commands, answers         *os.File
	commandsPath, answersPath string
	read                      *bufio.Reader
}

// switchTimeout is how long perf may take to acknowledge: it does so at once, or is dead.
const switchTimeout = 30 * time.Second

// newSwitch creates the two pipes. It holds both ends open, so that neither side blocks while opening.
func newSwitch(stem string) (_ *counterSwitch, err error) {
	s := &counterSwitch{commandsPath: stem + ".perf.commands", answersPath: stem + ".perf.answers"}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	for path, file := range map[string]**os.File{s.commandsPath: &s.commands, s.answersPath: &s.answers} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("cannot create a pipe to perf: %w", err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			return nil, fmt.Errorf("cannot create a pipe to perf at %s: %w", path, err)
		}
		if *file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
			return nil, fmt.Errorf("cannot open a pipe to perf: %w", err)
		}
	}
	s.read = bufio.NewReaderSize(s.answers, 64)
	return s, nil
}

// option returns perf's argument for the pipes.
func (s *counterSwitch) option() string { return "fifo:" + s.commandsPath + "," + s.answersPath }

// send sends a command and waits until perf acknowledges it.
func (s *counterSwitch) send(command string) error {
	deadline := time.Now().Add(switchTimeout)
	if err := errors.Join(s.commands.SetWriteDeadline(deadline), s.answers.SetReadDeadline(deadline)); err != nil {
		return fmt.Errorf("cannot tell perf to %s its counters: %w", command, err)
	}
	if _, err := s.commands.WriteString(command + "\n"); err != nil {
		return fmt.Errorf("cannot tell perf to %s its counters: %w", command, err)
	}
	answer, err := s.read.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("perf did not %s its counters: %w: is it older than 5.10?", command, err)
	}
	if string(bytes.Trim(answer, "\x00\n")) != "ack" { // perf also sends the terminating NUL
		return fmt.Errorf("unexpected answer %q of perf to %s", answer, command)
	}
	return nil
}

func (s *counterSwitch) close() {
	for _, f := range []*os.File{s.commands, s.answers} {
		if f != nil {
			_ = f.Close()
		}
	}
	_ = os.Remove(s.commandsPath) // not needed any more
	_ = os.Remove(s.answersPath)
}
