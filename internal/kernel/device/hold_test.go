package device_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

func TestHold(t *testing.T) {
	opts := device.LockOptions{Dir: t.TempDir(), Owner: "pawl profile"}
	release, err := device.LockNamed(t.Context(), "the counters of gpu 0", "ncu-GPU-1", opts)
	if err != nil {
		t.Fatal(err)
	}
	_, err = device.LockNamed(t.Context(), "the counters of gpu 0", "ncu-GPU-1", opts)
	if held, ok := errors.AsType[*device.HeldError](err); !ok || !strings.Contains(held.Error(), "pawl profile") {
		t.Errorf("a second holder: %v, want one that names the first", err)
	}
	other, err := device.LockNamed(t.Context(), "the counters of gpu 1", "ncu-GPU-2", opts)
	if err != nil {
		t.Fatalf("another name: %v", err)
	}
	other()
	release()
	again, err := device.LockNamed(t.Context(), "the counters of gpu 0", "ncu-GPU-1", opts)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again()
}
