package device

import "fmt"

// Standing is how the lock of a device stands, found without acquiring the
// device: what a process that died left changed is told here, and undone by
// Acquire alone.
type Standing struct {
	Dir      string   // the folder that holds the lock
	Holder   *Holder  // who measures on the device now; nil when it is free
	Leftover string   // what a process that died left changed, in plain words; empty when nothing
	Notices  []Notice // the lock is not where others look for it, or a note cannot be read
}

// Inspect tells how the lock of a device stands. Like Acquire it makes the lock
// folder where there is none yet. For a moment it tries the lock: only that tells
// a holder who lives from the name of one who died.
func Inspect(dev Device, opts LockOptions) (Standing, error) {
	id := dev.Identity()
	l, notices, err := openLock(id.LockName(), opts)
	if err != nil {
		return Standing{}, fmt.Errorf("looking at the lock of %s: %w", id.Name, err)
	}
	defer l.close()
	s := Standing{Dir: l.dir.path, Notices: notices}
	free, err := l.try()
	if err != nil {
		return s, fmt.Errorf("looking at the lock of %s: %w", id.Name, err)
	}
	if !free {
		holder := readHolder(l.file)
		s.Holder = &holder
		return s, nil // the note, if there is one, is the holder's own
	}
	left, err := l.readUndo()
	_, controlled := dev.(Controller)
	switch {
	case err != nil:
		s.Notices = append(s.Notices, l.unreadable(id.Name, err))
	case left != nil && left.any() && controlled && !left.stale(bootID()):
		s.Leftover = fmt.Sprintf("%s died and left %s changed; to be undone: %s", left.By, id.Name, left)
	}
	return s, nil
}
