package report_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// browser is a real one, spoken to over a pair of pipes in the DevTools protocol:
// requests and answers are JSON, each ended by a zero byte.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *os.File
	read    *bufio.Reader
	id      int
	session string
	events  []event
}

type event struct {
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
}

// openBrowser starts a browser that ends with the test, and opens an empty page.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("there is no chromium here")
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--disable-lcd-text",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, answers}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it is many processes: they end together
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	answers.Close()
	t.Cleanup(func() {
		to.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		from.Close()
	})
	b := &browser{t: t, to: to, from: from, read: bufio.NewReaderSize(from, 1<<20)}
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})
	b.session, _ = b.call("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})["sessionId"].(string)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil)
	}
	return b
}

// call asks and waits for the answer; what happens meanwhile is kept.
func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.id++
	request := map[string]any{"id": b.id, "method": method, "params": params}
	if params == nil {
		request["params"] = map[string]any{}
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		var m struct {
			ID     int             `json:"id"`
			Result map[string]any  `json:"result"`
			Error  json.RawMessage `json:"error"`
			event
		}
		b.next(&m)
		switch {
		case m.Method != "":
			b.events = append(b.events, m.event)
		case m.ID == b.id && m.Error != nil:
			b.t.Fatalf("%s: %s", method, m.Error)
		case m.ID == b.id:
			return m.Result
		}
	}
}

// next reads one message. A busy machine may take its time; a browser that is gone
// must not hold up the test.
func (b *browser) next(into any) {
	b.t.Helper()
	if err := b.from.SetReadDeadline(time.Now().Add(await.Limit)); err != nil {
		b.t.Fatal(err)
	}
	text, err := b.read.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser says nothing: %v", err)
	}
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), into); err != nil {
		b.t.Fatal(err)
	}
}

// open shows a page in a window of this width, in light or dark.
func (b *browser) open(page string, width int, scheme string) string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false})
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}})
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": "file://" + path})
	await.True(b.t, "the page to load", func() bool { return b.evaluate("document.readyState+location.protocol") == "completefile:" })
	return "file://" + path
}

// evaluate gives the value of an expression as text.
func (b *browser) evaluate(expression string) string {
	b.t.Helper()
	result := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if details, bad := result["exceptionDetails"]; bad {
		b.t.Fatalf("%s: %v", expression, details)
	}
	value, _ := result["result"].(map[string]any)
	return fmt.Sprint(value["value"])
}

// press presses a key as a person would.
func (b *browser) press(key string, code int) {
	b.t.Helper()
	down := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code}
	if key == "Enter" {
		down["text"] = "\r"
	}
	b.call("Input.dispatchKeyEvent", down)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code})
}
