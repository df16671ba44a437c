package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/seal"
	"github.com/goatnote-inc/pawl/measure"
)

// lockPoll is how often a waiting pawl checks whether the place is free.
const lockPoll = 200 * time.Millisecond

// lockRecord locks the place of the record, so that no other pawl writes the same one,
// and saves the record of a crashed run.
func (r *Setup) lockRecord(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(r.Out), 0o755); err != nil {
		return fmt.Errorf("cannot create the folder for the record: %w", err)
	}
	lock, err := openLock(r.Out)
	if err != nil {
		return err
	}
	r.AtEnd(func(context.Context) error { return lock.Close() }) // the file stays: removing it would race
	if err := r.waitForPlace(ctx, lock); err != nil {
		return err
	}
	if err := lock.Truncate(0); err == nil {
		fmt.Fprintf(lock, "process %d (%s)", os.Getpid(), r.Owner)
	}
	if r.Resume.Continue {
		return r.findPast()
	}
	return r.recover()
}

func openLock(out string) (*os.File, error) {
	dir, name := filepath.Split(out)
	lock, err := os.OpenFile(filepath.Join(dir, "."+name+".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the place of the record: %w", err)
	}
	return lock, nil
}

func (r *Setup) waitForPlace(ctx context.Context, lock *os.File) error {
	deadline := r.Now().Add(r.Wait)
	for told := false; ; {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		holder, _ := io.ReadAll(io.NewSectionReader(lock, 0, 200))
		if r.Now().After(deadline) {
			return fmt.Errorf("%s is still being written by %s: wait for it, or choose another --out", r.Out, holder)
		}
		if !told {
			told = true
			r.Emit(Waiting{What: r.Out, Holder: string(holder)})
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockPoll):
		}
	}
}

// recover writes the record of a run that crashed.
func (r *Setup) recover() error {
	journal := measure.JournalPath(r.Out)
	if _, err := os.Stat(journal); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	_ = seal.Remove(journal)    // nothing continues it any more
	if r.hasRecordOf(journal) { // its gate did not end, but it was measured
		return os.Remove(journal)
	}
	saved, old, err := measure.Finish(journal, r.interrupted(".json"))
	if errors.Is(err, measure.ErrNotRecord) {
		return removeTorn(journal)
	}
	if err != nil {
		return fmt.Errorf("cannot save the rounds of an interrupted run in %s: %w", journal, err)
	}
	if len(old.Rounds) == 0 {
		return os.Remove(saved) // it crashed before it measured anything
	}
	r.Emit(Recovered{Path: saved, Rounds: len(old.Rounds)})
	return nil
}

// interrupted returns the path to which a run that crashed is saved.
func (r *Setup) interrupted(suffix string) string {
	return filepath.Join(filepath.Dir(r.Out), "interrupted-"+r.Now().UTC().Format("20060102T150405Z")+suffix)
}

// hasRecordOf reports whether the record was made from a journal.
func (r *Setup) hasRecordOf(journal string) bool {
	for _, path := range []string{r.Out, r.Out + ".zst"} {
		if _, err := os.Stat(path); err == nil {
			id := runID(path)
			return id != "" && id == runID(journal)
		}
	}
	return false
}

// removeTorn removes a journal whose first line is incomplete. Any other file with that name is not pawl's.
func removeTorn(journal string) error {
	f, err := os.Open(journal)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", journal, err)
	}
	defer f.Close()
	begin := []byte(`{"record":"open"`)
	have := make([]byte, len(begin))
	n, _ := io.ReadFull(f, have)
	if !bytes.HasPrefix(begin, have[:n]) {
		return &UsageError{fmt.Errorf("%s exists and is not a pawl journal: move it, or choose another --out", journal)}
	}
	return os.Remove(journal)
}

// setAside moves the last record away when a new run starts, so that the record is not mistaken for
// the result of a run that crashes.
func (r *Setup) setAside() error {
	for _, suffix := range []string{"", ".zst"} {
		if err := os.Rename(r.Out+suffix, previous(r.Out)+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("cannot move the last record aside: %w", err)
		}
	}
	return nil
}

// putBack undoes setAside if nothing was measured.
func (r *Setup) putBack() error {
	journal := measure.JournalPath(r.Out)
	err := errors.Join(r.journal.End(r.ending), os.Remove(journal))
	_ = seal.Remove(journal)
	for _, suffix := range []string{"", ".zst"} {
		if e := os.Rename(previous(r.Out)+suffix, r.Out+suffix); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// previous returns the path to which the last record moves when a new run starts.
func previous(out string) string {
	dir, name := filepath.Split(out)
	if name == "current.json" {
		return filepath.Join(dir, "previous.json")
	}
	return filepath.Join(dir, "previous-"+name) // a record of another kind must not replace it
}
