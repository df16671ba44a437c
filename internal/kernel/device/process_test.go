//go:build linux && (amd64 || arm64)

package device

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
)

// helperVar makes the test binary play another pawl process.
const helperVar = "PAWL_DEVICE_TEST_HELPER"

func TestMain(m *testing.M) {
	role := os.Getenv(helperVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// play is the life of a helper process.
func play(role string) error {
	ctx := context.Background()
	inv, err := List(ctx, Options{})
	if err != nil {
		return err
	}
	if role == "list" {
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"reader": inv.Reader, "missing": inv.None[gpu.NVIDIA], "devices": len(inv.Devices)})
	}
	dev, err := inv.Select(Auto, "")
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		l, err := Acquire(ctx, dev, LockOptions{Owner: "helper " + role, Wait: time.Minute})
		if err != nil {
			return err
		}
		switch {
		case role == "hold":
			fmt.Println("ready")
			_, _ = io.Copy(io.Discard, os.Stdin) // until the test closes it
		case n == 0:
			fmt.Println("ready")
		}
		if _, err := l.SetClocks(ctx, gpu.ClockPolicy{Mode: gpu.ClocksBase}, true); err != nil {
			return err
		}
		if err := l.Release(ctx); err != nil {
			return err
		}
		if role != "cycle" {
			return nil
		}
	}
}

type helper struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start runs a helper and waits for its first word.
func start(t *testing.T, role string, env []string) *helper {
	t.Helper()
	h := command(t, role, env)
	h.launch(t)
	return h
}

func command(t *testing.T, role string, env []string) *helper {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(slices.Concat(os.Environ(), env), helperVar+"="+role)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	return &helper{Cmd: cmd, in: in, out: bufio.NewReader(out)}
}

func (h *helper) launch(t *testing.T) {
	t.Helper()
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = h.Process.Kill()
		_ = h.Wait()
	})
	if word, err := h.out.ReadString('\n'); word != "ready\n" {
		t.Fatalf("the helper said %q (%v), want ready", word, err)
	}
}

// stubbed is a machine with one GPU, and a lock folder of its own.
func stubbed(t *testing.T) (stub *devicetest.Stub, locks string, env []string) {
	t.Helper()
	stub = devicetest.BuildStub(t)
	stub.Use()
	locks = filepath.Join(t.TempDir(), "locks")
	t.Setenv(LockDirVar, locks)
	return stub, locks, append(stub.Env(), LockDirVar+"="+locks)
}

func firstDevice(t *testing.T) Device {
	t.Helper()
	inv, err := List(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := inv.Select(gpu.NVIDIA, "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Two processes want one device: the second is told who has it, and waits.
func TestTwoProcesses(t *testing.T) {
	_, _, env := stubbed(t)
	h := start(t, "hold", env)
	dev := firstDevice(t)

	_, err := Acquire(t.Context(), dev, LockOptions{})
	held, ok := errors.AsType[*HeldError](err)
	if !ok || held.Holder.PID != h.Process.Pid || held.Holder.Command != "helper hold" {
		t.Fatalf("error %v, want a HeldError that names process %d", err, h.Process.Pid)
	}
	var told []Holder
	l, err := Acquire(t.Context(), dev, LockOptions{Wait: time.Minute, OnWait: func(holder Holder) {
		told = append(told, holder)
		h.in.Close() // the helper now lets go
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0] != held.Holder {
		t.Errorf("told of %v, want once of %v", told, held.Holder)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// The lock of a killed process is free at once.
func TestLockOfAKilledProcess(t *testing.T) {
	_, _, env := stubbed(t)
	h := start(t, "hold", env)
	if err := h.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.Wait()
	l, err := Acquire(t.Context(), firstDevice(t), LockOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// checkUndone verifies that a device changed by a dead process has a note, and
// that the next lease brings it back. It reports whether there was need to.
func checkUndone(t *testing.T, stub *devicetest.Stub, locks, when string) (restored bool) {
	t.Helper()
	stub.Update(func(s *devicetest.State) { s.Die, s.PauseMicros = 0, 0 })
	note := filepath.Join(locks, stub.State().GPUs[0].UUID+".restore")
	_, noteErr := os.Lstat(note)
	if g := stub.State().GPUs[0]; (g.Locked != 0 || g.Persistence != 0) && noteErr != nil {
		t.Errorf("%s: locked %#x, persistence %d, and no note: %v", when, g.Locked, g.Persistence, noteErr)
	}
	l, err := Acquire(t.Context(), firstDevice(t), LockOptions{})
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if g := stub.State().GPUs[0]; g.Locked != 0 || g.Persistence != 0 {
		t.Errorf("%s: after the next Acquire: locked %#x, persistence %d", when, g.Locked, g.Persistence)
	}
	restored = slices.Contains(codes(l.Notices()), "restored")
	if err := l.Release(t.Context()); err != nil {
		t.Errorf("%s: %v", when, err)
	}
	if left, _ := filepath.Glob(filepath.Join(locks, "*.restore*")); len(left) > 0 {
		t.Errorf("%s: files stay: %v", when, left)
	}
	return restored
}

// kill -9 at every call into the driver: each is a moment between two steps.
func TestKilledAtEveryCall(t *testing.T) {
	stub, locks, env := stubbed(t)
	restored := 0
	for n := 1; ; n++ {
		stub.SetState(devicetest.State{GPUs: []devicetest.GPU{devicetest.L4()}, Die: n})
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(slices.Concat(os.Environ(), env), helperVar+"=once")
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Logf("the whole life takes %d calls; %d of %d deaths needed a restore", n-1, restored, n-1)
			break
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("call %d: the helper ended with %v, not by SIGKILL:\n%s", n, err, out)
		}
		if checkUndone(t, stub, locks, fmt.Sprintf("killed at call %d", n)) {
			restored++
		}
		if n > 500 {
			t.Fatal("the helper never ends")
		}
	}
	if restored < 3 {
		t.Errorf("only %d deaths left something to undo: the test does not reach the middle", restored)
	}
}

// kill -9 at random moments, also between two system calls of ours.
func TestKilledAtRandomMoments(t *testing.T) {
	stub, locks, env := stubbed(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	restored := 0
	const kills = 30
	for i := range kills {
		stub.SetState(devicetest.State{GPUs: []devicetest.GPU{devicetest.L4()}, PauseMicros: random.IntN(500)})
		h := start(t, "cycle", env)
		time.Sleep(time.Duration(random.IntN(20_000)) * time.Microsecond)
		if err := h.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = h.Wait()
		if checkUndone(t, stub, locks, fmt.Sprintf("kill %d", i)) {
			restored++
		}
	}
	t.Logf("%d of %d kills left something to undo", restored, kills)
}

// A user without rights and root share the locks, whoever came first.
func TestTwoUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	open, err := os.MkdirTemp("", "pawl-two-users") //nolint:usetesting // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(open)
	binary := filepath.Join(open, "test")
	text, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.Chmod(open, 0o755), os.WriteFile(binary, text, 0o755)); err != nil {
		t.Fatal(err)
	}
	locks := filepath.Join(open, "locks")
	none := "PAWL_NVML_LIBRARY=/nowhere" // both measure on the host
	t.Setenv("PAWL_NVML_LIBRARY", "/nowhere")
	t.Setenv("PATH", "")
	if err := errors.Join(os.Mkdir(locks, 0o777), os.Chmod(locks, os.ModeSticky|0o777)); err != nil {
		t.Fatal(err)
	}
	nobody := command(t, "hold", []string{none, LockDirVar + "=" + locks, "PATH="})
	nobody.Path, nobody.Dir = binary, "/"
	nobody.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	nobody.launch(t)
	inv, err := List(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	dev, err := inv.Select(gpu.CPU, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(t.Context(), dev, LockOptions{Dir: locks})
	if held, ok := errors.AsType[*HeldError](err); !ok || held.Holder.PID != nobody.Process.Pid {
		t.Errorf("root is told %v, want that process %d holds it", err, nobody.Process.Pid)
	}
	l, err := Acquire(t.Context(), dev, LockOptions{Dir: locks, Wait: time.Minute, OnWait: func(Holder) { nobody.in.Close() }})
	if err != nil {
		t.Fatal(err)
	}
	if err := nobody.Wait(); err != nil {
		t.Errorf("the other user's process: %v", err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// This machine, whatever it is: GPUs, or the reason why there are none. In a
// process of its own, because a process is bound to the first library it loads.
func TestListThisMachine(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVar+"=list")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got struct {
		Devices int    `json:"devices"`
		Missing string `json:"missing"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Devices < 1 || (got.Missing == "") != (got.Devices > 1) {
		t.Errorf("%d devices, and the reason %q", got.Devices, got.Missing)
	}
	t.Logf("%s", out)
}

// What a machine says of its GPUs, in a process that has never seen another library.
func TestListInAProcessOfItsOwn(t *testing.T) {
	stub, _, env := stubbed(t)
	tests := []struct {
		name  string
		state devicetest.State
		want  string
	}{
		{"one GPU", stub.State(), `{"devices":2,"missing":"","reader":"nvml"}`},
		{"no driver", devicetest.State{Init: devicetest.DriverNotLoaded}, "driver is not loaded"},
		{"a driver without GPUs", devicetest.State{}, "reports no readable GPU"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stub.SetState(tt.state)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(slices.Concat(os.Environ(), env), helperVar+"=list", "PATH=")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v: %s, want %s", err, out, tt.want)
			}
		})
	}
}
