package server

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// fault is one way to disturb a server under load, and to let it go on.
type fault struct {
	name      string
	few, many int    // times in CI and in the lab
	cannot    string // why it cannot happen on this machine
	strike    func(*load)
}

// faults returns all faults. disk says why there is no small disk to fill.
func faults(disk error) []fault {
	list := []fault{
		{name: "kill -9 of `pawld`", few: 2, many: 100, strike: (*load).killServer},
		{name: "kill -9 of PostgreSQL", few: 2, many: 100, strike: (*load).killPostgres},
		{name: "full disk", few: 1, many: 20, strike: (*load).fillDisk},
		{name: "clock of `pawld` moved by an hour", few: 2, many: 20, strike: (*load).moveServerClock},
		{name: "clock of PostgreSQL moved by an hour", few: 2, many: 20, strike: (*load).movePostgresClock},
	}
	if disk != nil {
		list[2].cannot = "no small disk can be mounted here: " + disk.Error()
	}
	if faketime() == "" {
		list[4].cannot = "libfaketime is not installed"
	}
	return list
}

// TestFaults disturbs a server under 32 writers, in a random order that PAWL_SEED chooses. After each fault
// every report that was acknowledged before is there, once. In the end what is there is what was
// acknowledged, files can be read back, every point was looked at, and fsck finds nothing.
func TestFaults(t *testing.T) {
	dir, mountErr := smallDisk(t)
	random := rand.New(rand.NewPCG(seed(), 24))
	var schedule []fault
	for _, f := range faults(mountErr) {
		t.Run(f.name, func(t *testing.T) {
			if f.cannot != "" {
				t.Skip(f.cannot)
			}
		})
		times := testrun.Times(f.few, 5*f.few)
		if os.Getenv("PAWL_LAB") != "" {
			times = f.many
		}
		for range times {
			if f.cannot == "" {
				schedule = append(schedule, f)
			}
		}
	}
	random.Shuffle(len(schedule), func(i, j int) { schedule[i], schedule[j] = schedule[j], schedule[i] })
	l := newLoad(t, dir, random)
	counts := map[string]*count{}
	for _, f := range schedule {
		c := counts[f.name]
		if c == nil {
			c = &count{}
			counts[f.name] = c
		}
		before, began := l.sent.Load(), time.Now()
		l.more(64)
		f.strike(l)
		lost, doubled := l.compare()
		*c = count{c.times + 1, c.reports + int(l.sent.Load()-before), c.lost + lost, c.doubled + doubled}
		l.keep(counts, mountErr)
		t.Logf("%s in %.1f s", f.name, time.Since(began).Seconds())
		if t.Failed() {
			break
		}
	}
	began := time.Now()
	l.finish()
	t.Logf("finished in %.1f s", time.Since(began).Seconds())
	t.Logf("seed %d, %d faults, %d reports\n%s", seed(), len(schedule), l.sent.Load(), faultTable(counts, mountErr))
}

// count is what came of one kind of fault.
type count struct {
	times, reports, lost, doubled int
}

func faultTable(counts map[string]*count, disk error) string {
	var s strings.Builder
	s.WriteString("| fault | times | reports acknowledged around it | lost | doubled |\n| --- | ---: | ---: | ---: | ---: |\n")
	var all count
	for _, f := range faults(disk) {
		if c := counts[f.name]; c != nil {
			fmt.Fprintf(&s, "| %s | %d | %d | %d | %d |\n", f.name, c.times, c.reports, c.lost, c.doubled)
			all = count{all.times + c.times, all.reports + c.reports, all.lost + c.lost, all.doubled + c.doubled}
		}
	}
	fmt.Fprintf(&s, "| all | %d | %d | %d | %d |\n", all.times, all.reports, all.lost, all.doubled)
	return s.String()
}

// smallDisk mounts a disk for a server and its database, so that filling it disturbs nothing else. Where that is
// not possible, it returns a folder and the reason.
func smallDisk(t *testing.T) (string, error) {
	t.Helper()
	dir := t.TempDir()
	if os.Getuid() != 0 {
		return dir, os.ErrPermission
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2g,mode=755", "tmpfs", dir).CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	return dir, nil
}

// faketime returns the path of libfaketime, or "".
func faketime() string {
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(found) == 0 {
		return ""
	}
	return found[0]
}
