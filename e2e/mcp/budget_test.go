package mcp

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// On stdin and stdout the agent can reset the budget, and the answer says that it is advice.
func TestBudget_IsAdvisoryForTheSameAccount(t *testing.T) {
	top := axpy(t)
	write(t, filepath.Join(top, "k", "kernel.c"), fastKernel)
	a := start(t, filepath.Join(top, "k"))
	if r := a.call("submit", map[string]any{"stage": "compile"}); r.about.Budget != "advisory" {
		t.Errorf("%s %+v", r.text, r.about)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", serveSocket(t, filepath.Join(top, "k"), "--total", "1h"))
	must(t, err)
	a = connect(t, &sdk.IOTransport{Reader: conn, Writer: conn})
	if r := a.call("submit", map[string]any{"stage": "compile"}); r.about.Budget != "advisory" || r.doc["left_s"] == nil {
		t.Errorf("%s %+v", r.text, r.about)
	}
}

// other is an account that is not the server's.
const other = 65534

// dialAs connects with another account's rights. Only this thread has them, and only meanwhile.
func dialAs(ctx context.Context, account int, network, address string) (net.Conn, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	keep := ^uintptr(0)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, uintptr(account), keep); errno != 0 {
		return nil, errno
	}
	defer syscall.RawSyscall(syscall.SYS_SETRESUID, keep, uintptr(os.Getuid()), keep)
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// For another account the budget holds: candidates, batches and explanations end with it, and neither a candidate's
// build nor its kernel gets at the attempts.
func TestBudget_HoldsForAnotherAccount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be a client of another account")
	}
	state := t.TempDir()
	top := axpy(t)
	dir := filepath.Join(top, "k")
	a := connectAs(t, dir, state)
	attempts, err := filepath.Glob(filepath.Join(state, "pawl", "attempts"))
	if err != nil || len(attempts) != 1 {
		t.Fatalf("%v, %v", attempts, err)
	}
	write(t, filepath.Join(dir, "kernel.c"), fastKernel)
	first := a.call("submit", map[string]any{"stage": "compile"})
	left, _ := first.doc["left_s"].(float64)
	if first.str("status") != "compiled" || first.about.Budget != "enforced" || left <= 0 || left >= 4 {
		t.Fatalf("%s %+v", first.text, first.about)
	}
	write(t, filepath.Join(dir, "pawl.yaml"), strings.Replace(axpySuite, `"gcc`, fmt.Sprintf(`"rm -rf %s; gcc`, attempts[0]), 1))
	a.call("submit", map[string]any{"stage": "compile"})
	write(t, filepath.Join(dir, "pawl.yaml"), axpySuite)
	write(t, filepath.Join(dir, "kernel.c"), strings.Replace(kernelOf(fmt.Sprintf(`rename(%q, %q);`, attempts[0], attempts[0]+".gone")), "#include", "#include <stdio.h>\n#include", 1))
	a.call("submit", map[string]any{"stage": "smoke"})
	write(t, filepath.Join(dir, "kernel.c"), hungKernel)
	if r := a.call("submit", map[string]any{"stage": "smoke", "budget_s": 600}); r.str("status") != "timeout" && r.str("status") != "refused" {
		t.Errorf("%s", r.text)
	}
	for _, call := range []struct {
		tool string
		args map[string]any
	}{
		{"submit", map[string]any{"stage": "compile"}},
		{"submit_batch", map[string]any{"stage": "compile", "candidates": []map[string]any{{"diff": "x"}, {"commit": "HEAD"}}}},
		{"explain", map[string]any{"id": "1", "other": "base"}},
	} {
		if r := a.call(call.tool, call.args); !strings.Contains(r.text, "for all attempts is used up") {
			t.Errorf("%s: %s", call.tool, r.text)
		}
	}
	if r := a.call("history", nil); r.doc["left_s"] != 0.0 || r.doc["spent_s"].(float64) < 4 || r.doc["spent_s"].(float64) > 12 {
		t.Errorf("%s", r.text)
	}
}

func connectAs(t *testing.T, dir, state string) *agent {
	t.Helper()
	t.Setenv("PAWL_TEST_STATE", state)
	conn, err := dialAs(t.Context(), other, "unix", serveSocket(t, dir, "--total", "4s"))
	must(t, err)
	return connect(t, &sdk.IOTransport{Reader: conn, Writer: conn})
}

// A call that has to wait says so, and how long it waited.
func TestWaits_AreTold(t *testing.T) {
	top, locks := axpy(t), t.TempDir()
	must(t, os.Chmod(locks, 0o700))
	t.Setenv("PAWL_TEST_LOCKS", locks)
	write(t, filepath.Join(top, "k", "kernel.c"), fastKernel)
	a := start(t, filepath.Join(top, "k"))
	// With a name that no suite had before: a build from the cache waits for nobody.
	write(t, filepath.Join(top, "k", "pawl.yaml"), strings.Replace(axpySuite, `"gcc`, `"sleep 5; : `+top+`; gcc`, 1))
	first := make(chan error, 1)
	go func() {
		_, err := a.session.CallTool(t.Context(), toolCall("submit", map[string]any{"stage": "compile"}))
		first <- err
	}()
	await.True(t, "the first call to build", func() bool { return a.heard("building") })
	r := a.call("submit", map[string]any{"stage": "compile", "diff": "--- a/kernel.c\n+++ b/kernel.c\n@@ -1 +1,2 @@\n #include <math.h>\n+// one\n"})
	if r.about.Queued < 0.5 || !a.heard("waiting for another call") {
		t.Errorf("%s %+v", r.text, r.about)
	}
	must(t, await.ReceiveWithin(t, time.Minute, "the first answer", first))

	b := start(t, filepath.Join(top, "k")) // another server on the same device
	write(t, filepath.Join(top, "k", "kernel.c"), fastKernel+"// not built yet\n")
	go func() {
		_, err := a.session.CallTool(t.Context(), toolCall("submit", map[string]any{"stage": "compile"}))
		first <- err
	}()
	await.True(t, "the device to be used", func() bool { return a.count("building") == 3 })
	if r := b.call("submit", map[string]any{"stage": "compile"}); r.doc["waited_s"].(float64) < 0.5 || !b.heard("waiting for the device") {
		t.Errorf("%s, told %q", r.text, b.told)
	}
	must(t, await.ReceiveWithin(t, time.Minute, "the other answer", first))
}
