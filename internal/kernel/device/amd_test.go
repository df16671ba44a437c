package device

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/amd"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
)

func amdGPU(t *testing.T, a *devicetest.AMD) Device {
	t.Helper()
	t.Setenv("PATH", t.TempDir()) // without amd-smi
	found, err := amd.Vendor.Find(t.Context(), a.Machine())
	if err != nil {
		t.Fatal(err)
	}
	return found.Devices[0]
}

// freed is the last thing that is written to a card whose clocks are given back.
const freed = "power_dpm_force_performance_level: auto\n"

// An AMD card is locked and freed as an NVIDIA card is, and also after its owner died.
func TestAMD_ClocksAreLockedAndRestored(t *testing.T) {
	a, dir := devicetest.NewAMD(t), t.TempDir()
	dev := amdGPU(t, a)
	l := acquire(t, dev, dir)
	notices, err := l.SetClocks(t.Context(), fixed, true)
	if err != nil || !slices.Equal(codes(notices), []string{"clocks_other"}) || l.Clocks() != fixed {
		t.Fatalf("%v, %v, clocks %v", notices, err, l.Clocks())
	}
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.Writes[len(a.Writes)-1] != freed {
		t.Errorf("written: %q", a.Writes)
	}

	died := acquire(t, dev, dir)
	if _, err := died.SetClocks(t.Context(), fixed, false); err != nil {
		t.Fatal(err)
	}
	died.lock.release() // as the death of the process does, without restoring
	a.Writes = nil
	next := acquire(t, dev, dir)
	if !slices.Equal(codes(next.Notices()), []string{"restored"}) || !slices.Equal(a.Writes, []string{freed}) {
		t.Errorf("%v, written: %q", next.Notices(), a.Writes)
	}
}

func TestAMD_NoticesNameItsOwnCommands(t *testing.T) {
	a, dir := devicetest.NewAMD(t), t.TempDir()
	dev := amdGPU(t, a)
	a.Errors["power_dpm_force_performance_level"] = syscall.EACCES
	l := acquire(t, dev, dir)
	notices, err := l.SetClocks(t.Context(), fixed, false)
	if err != nil || !slices.Equal(codes(notices), []string{"clocks_denied"}) || !strings.HasSuffix(notices[0].Fix, "sudo amd-smi set --perf-determinism 1500") {
		t.Errorf("%v, %v", notices, err)
	}
	if notices, err = l.SetClocks(t.Context(), base, false); err != nil || !slices.Equal(codes(notices), []string{"clocks_unsupported"}) {
		t.Errorf("the base clock: %v, %v", notices, err)
	}
	delete(a.Errors, "power_dpm_force_performance_level")
	if _, err := l.SetClocks(t.Context(), fixed, false); err != nil {
		t.Fatal(err)
	}
	l.lock.release()
	a.Errors["power_dpm_force_performance_level"] = syscall.EACCES
	next := acquire(t, dev, dir)
	if got := next.Notices(); !slices.Equal(codes(got), []string{"restore_failed"}) || !strings.Contains(got[0].Fix, "sudo amd-smi reset --perf-determinism") {
		t.Errorf("%v", got)
	}
	delete(a.Errors, "power_dpm_force_performance_level")
	_ = next.Release(context.Background())
}

// A watcher sees a slowdown of an AMD card that began and ended between two readings.
func TestAMD_WatcherSeesASlowdown(t *testing.T) {
	a := devicetest.NewAMD(t)
	dev := amdGPU(t, a)
	w := Watch(t.Context(), dev, WatchInterval)
	a.Set(a.Card(0)+"/gpu_metrics", string(devicetest.AMDTable(8, 0, [5]uint32{0, 0, 3, 0, 0})))
	if s, err := w.Stop(); err != nil || s.Reasons.Invalidating() != gpu.HWThermal {
		t.Errorf("%v, %v", s.Reasons, err)
	}
}
