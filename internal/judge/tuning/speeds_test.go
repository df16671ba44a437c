package tuning

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/stats"
)

// Live: while a machine changes its speed every few seconds, searches with other seeds get a quarter of the points each.
// The choice of each is measured against that of one search through all points, while the machine is left alone.
// PAWL_LAB_TRIES is another number of searches than 10.
func TestTuneSpeeds(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("set PAWL_LAB: it measures for minutes")
	}
	tries := 10
	if text := os.Getenv("PAWL_LAB_TRIES"); text != "" {
		var err error
		if tries, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	const target = "matmul/N256"
	o := liveExample(t, "matmul-c")
	factor := probeSpeed(t)
	stop := startBurning(t)
	all := liveSearch(t, o, Options{Case: target, Strategy: "exhaustive", Journal: filepath.Join(o.Dir, "tuning", "all.jsonl")})
	best := liveFinal(t, o, target, all)
	stop()
	var ratios []float64
	for try := range tries {
		o.Seed = uint64(100 + try)
		stop := startBurning(t)
		found := liveSearch(t, o, Options{Case: target, Evals: all.Header.Space.Points / 4, Journal: filepath.Join(o.Dir, "tuning", "journal.jsonl")})
		chosen := liveFinal(t, o, target, found)
		stop()
		ratio, spread := inTurns(t, o, target, chosen, best)
		fmt.Printf("try %d: %s against %s: %+.1f %%, spread %.1f %%\n", try+1, inWords(chosen), inWords(best), 100*(ratio-1), 100*spread)
		ratios = append(ratios, ratio)
	}
	slices.Sort(ratios)
	near := 0
	for _, r := range ratios {
		if r <= 1.03 {
			near++
		}
	}
	labRow(t, "tune-speeds", fmt.Sprintf("matmul-c, %s | %.2f times | %d | %d | %+.1f %% | %+.1f %%",
		target, factor(), tries, near, 100*(stats.Median(ratios)-1), 100*(ratios[tries-1]-1)))
	if 10*near < 9*tries {
		t.Errorf("%d of %d choices are within 3 %% of the exhaustive one's", near, tries)
	}
}

// startBurning starts a process that uses all cores for some seconds, and none for the next ones. It ends with the test,
// or when it is stopped.
func startBurning(t *testing.T) (stop func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), playing+"=burn")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(stop)
	return stop
}

// burn uses all cores for 2 to 5 s, and none for as long, until its input ends.
func burn() {
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}()
	for {
		length := time.Duration(2000+rand.IntN(3000)) * time.Millisecond
		ctx, stop := context.WithTimeout(context.Background(), length)
		for range runtime.NumCPU() {
			go func() {
				for ctx.Err() == nil {
					work()
				}
			}()
		}
		<-ctx.Done()
		stop()
		time.Sleep(length)
	}
}

// work computes for some milliseconds.
func work() {
	x := 1.0
	for range 1_000_000 {
		x = x*0.999 + 0.001
	}
	runtime.KeepAlive(x) // so that it is computed
}

// probeSpeed measures the CPU time of the same work twice a second. It returns a function that tells by which factor
// the slow tenth of the times exceeds the fast one, so far.
func probeSpeed(t *testing.T) (factor func() float64) {
	t.Helper()
	times := make(chan float64, 10_000)
	go func() {
		runtime.LockOSThread()
		for t.Context().Err() == nil {
			before := threadTime()
			work()
			times <- threadTime() - before
			time.Sleep(500 * time.Millisecond)
		}
	}()
	return func() float64 {
		var list []float64
		for len(times) > 0 {
			list = append(list, <-times)
		}
		return stats.Quantile(list, 0.9) / stats.Quantile(list, 0.1)
	}
}

// threadTime returns the CPU time of the running thread in nanoseconds.
func threadTime() float64 {
	var at unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at)
	return float64(at.Nano())
}
