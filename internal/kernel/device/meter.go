package device

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
)

// MeterInterval is how often a device is read while its use is measured.
const MeterInterval = 50 * time.Millisecond

// Meter reads the device while f runs, and returns what was used meanwhile. pid is the process whose memory counts.
// Energy and clock are those of the whole card. If f fails, its error is returned.
func Meter(ctx context.Context, dev Device, pid int, f func() error) (gpu.Usage, error) {
	m := meter{dev: dev, own: host.OpenProcesses(os.DirFS("/"), pid).Own}
	m.read(ctx)
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(MeterInterval)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				m.read(ctx)
			}
		}
	})
	err := f()
	close(stop)
	done.Wait()
	if err != nil {
		return gpu.Usage{}, err
	}
	m.read(ctx)
	used := gpu.UsageOf(m.readings)
	used.PeakBytes = m.peak
	return used, m.err
}

type meter struct {
	dev      Device
	own      func(pid int) bool
	readings []gpu.State
	peak     int64
	err      error
}

func (m *meter) read(ctx context.Context) {
	s, err := m.dev.State(ctx)
	if err != nil {
		m.err = err
		return
	}
	m.readings = append(m.readings, s)
	used := int64(0)
	for _, p := range s.Own {
		if m.own(p.PID) {
			used += p.MemoryBytes
		}
	}
	m.peak = max(m.peak, used)
}
