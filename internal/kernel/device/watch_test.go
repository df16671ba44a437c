package device

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
)

// scripted is a device whose n-th reading is what read says.
type scripted struct {
	fakeHost
	n    atomic.Int64
	read func(n int64) (gpu.State, error)
}

func (s *scripted) State(context.Context) (gpu.State, error) { return s.read(s.n.Add(1)) }

// What showed up for a tenth of a second only is in the merged state.
func TestWatchSeesWhatHappensBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stranger := gpu.Process{PID: 9, Name: "stranger"}
		dev := &scripted{read: func(n int64) (gpu.State, error) {
			s := gpu.State{At: time.Unix(n, 0), SMClockMHz: 1000 + float64(n), TemperatureC: 50}
			if n == 4 {
				s.Reasons, s.TemperatureC, s.Processes = gpu.HWThermal, 91, []gpu.Process{stranger}
			}
			return s, nil
		}}
		w := Watch(t.Context(), dev, WatchInterval)
		time.Sleep(time.Second)
		synctest.Wait()
		got, err := w.Stop()
		if err != nil {
			t.Fatal(err)
		}
		if w.reads != 12 { // at 0.0, 0.1, ... 1.0 s, and the last
			t.Errorf("%d readings in one second, want 12", w.reads)
		}
		want := gpu.State{
			At: time.Unix(12, 0), SMClockMHz: 1012, TemperatureC: 91, Reasons: gpu.HWThermal, Processes: []gpu.Process{stranger},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
		if again, _ := w.Stop(); !cmp.Equal(again, got) || w.reads != 12 {
			t.Errorf("a second Stop reads again: %+v", again)
		}
	})
}

// A slow reading must not turn into a load: at most one percent of the time.
func TestWatchRestsAfterSlowReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := &scripted{read: func(int64) (gpu.State, error) {
			time.Sleep(50 * time.Millisecond)
			return gpu.State{}, nil
		}}
		w := Watch(t.Context(), dev, WatchInterval)
		time.Sleep(time.Minute)
		if _, err := w.Stop(); err != nil {
			t.Fatal(err)
		}
		if busy := time.Duration(w.reads-1) * 50 * time.Millisecond; busy > 650*time.Millisecond || w.reads < 10 {
			t.Errorf("%d readings, %v of a minute", w.reads, busy)
		}
	})
}

func TestWatchTellsOfFailedReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := errors.New("the GPU is lost")
		dev := &scripted{read: func(n int64) (gpu.State, error) {
			if n == 3 {
				return gpu.State{Reasons: gpu.HWSlowdown}, lost
			}
			return gpu.State{SMClockMHz: 1000}, nil
		}}
		w := Watch(t.Context(), dev, WatchInterval)
		time.Sleep(time.Second)
		got, err := w.Stop()
		if !errors.Is(err, lost) {
			t.Errorf("error %v, want %v", err, lost)
		}
		if want := (gpu.State{SMClockMHz: 1000, Reasons: gpu.HWSlowdown}); !cmp.Equal(got, want) {
			t.Errorf("state %+v, want %+v", got, want)
		}
	})
}

// NVML sets the bit for a hardware slowdown also while clocks change. That is no slowdown; two readings in a row are.
func TestWatch_CountsASlowdownFromTheSecondReading(t *testing.T) {
	for name, tt := range map[string]struct {
		readings map[int64]gpu.Reasons
		want     gpu.Reasons
	}{
		"one reading":       {map[int64]gpu.Reasons{4: gpu.HWSlowdown, 7: gpu.HWSlowdown}, 0},
		"two in a row":      {map[int64]gpu.Reasons{4: gpu.HWSlowdown, 5: gpu.HWSlowdown}, gpu.HWSlowdown},
		"one, and the heat": {map[int64]gpu.Reasons{4: gpu.HWSlowdown | gpu.HWThermal}, gpu.HWSlowdown | gpu.HWThermal},
		"a power cap":       {map[int64]gpu.Reasons{4: gpu.SWPowerCap}, gpu.SWPowerCap},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := Watch(t.Context(), &scripted{read: func(n int64) (gpu.State, error) {
					return gpu.State{Reasons: tt.readings[n]}, nil
				}}, WatchInterval)
				time.Sleep(time.Second)
				if got, err := w.Stop(); err != nil || got.Reasons != tt.want {
					t.Errorf("%v: reasons %v, want %v", err, got.Reasons, tt.want)
				}
			})
		})
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		dev := &scripted{read: func(int64) (gpu.State, error) { return gpu.State{}, ctx.Err() }}
		w := Watch(ctx, dev, WatchInterval)
		cancel()
		synctest.Wait()
		if _, err := w.Stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// BenchmarkWatch reports what watching the host costs, in percent of one core.
func BenchmarkWatch(b *testing.B) {
	dev := host.Open(os.DirFS("/"), time.Now)
	cpu := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	var busy, wall time.Duration
	for b.Loop() {
		before, began := cpu(), time.Now()
		w := Watch(b.Context(), dev, WatchInterval)
		time.Sleep(3 * time.Second)
		if _, err := w.Stop(); err != nil {
			b.Fatal(err)
		}
		busy, wall = busy+cpu()-before, wall+time.Since(began)
	}
	b.ReportMetric(100*busy.Seconds()/wall.Seconds(), "cpu-%")
}
