package doctor

import (
	"context"

	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

// lock reports whether the device can be acquired, and what a crash left behind.
func lock(_ context.Context, e *exam) []Finding {
	switch {
	case e.dev == nil:
		return nil
	case e.lockErr != nil:
		return []Finding{missing("lock", "%v", e.lockErr).withFix("export %s=FOLDER, the same for all users of the device", device.LockDirVar)}
	}
	var list []Finding
	if h := e.lockState.Holder; h != nil {
		list = append(list, note("lock", "in use by %s: pawl bench waits until it is free", *h))
	} else {
		list = append(list, ok("lock", "free; lock files are in %s", e.lockState.Dir))
	}
	for _, n := range e.lockState.Notices {
		list = append(list, findingOf("lock", n))
	}
	if e.lockState.Leftover != "" {
		f := warn("restore", "%s", e.lockState.Leftover).withFix("nothing to do: the next pawl bench on this device undoes it first")
		if !e.sys.admin() {
			f = f.withFix("run pawl bench once as root, or: sudo %s", device.FreeCommand(e.chosen.id))
		}
		list = append(list, f)
	}
	return list
}
