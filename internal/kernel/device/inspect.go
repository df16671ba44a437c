package device

import "fmt"

// LockStatus is the state of a device's lock, read without acquiring the device. It
// reports changes that a dead process left behind; only Acquire undoes them.
type LockStatus struct {
	Dir      string   // the folder that holds the lock
	Holder   *Holder  // the process that measures on the device; nil if the device is free
	Leftover string   // changes that a dead process left behind, in plain words; empty if none
	Notices  []Notice // the lock is not in the default folder, or a note cannot be read
}

// Inspect returns the state of a device's lock. Like Acquire it creates the lock
// folder if it does not exist. It briefly tries to take the lock: only that
// distinguishes a live holder from the name of a dead one.
func Inspect(dev Device, opts LockOptions) (LockStatus, error) {
	id := dev.Identity()
	l, notices, err := openLock(id.LockName(), opts)
	if err != nil {
		return LockStatus{}, fmt.Errorf("cannot inspect the lock of %s: %w", id.Name, err)
	}
	defer l.close()
	s := LockStatus{Dir: l.dir.path, Notices: notices}
	free, err := l.try()
	if err != nil {
		return s, fmt.Errorf("cannot inspect the lock of %s: %w", id.Name, err)
	}
	if !free {
		holder := readHolder(l.file)
		s.Holder = &holder
		return s, nil // a note, if any, belongs to the holder
	}
	left, err := l.readUndo()
	_, controlled := dev.(Controller)
	switch {
	case err != nil:
		s.Notices = append(s.Notices, l.unreadable(id, err))
	case left != nil && left.any() && controlled && !left.stale(bootID()):
		s.Leftover = fmt.Sprintf("%s died and left %s changed; to restore: %s", left.By, id.Name, left)
	}
	return s, nil
}
