package wake

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wake.state.json")
	store, s, err := OpenStore(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenStore(path); err == nil || !strings.Contains(err.Error(), "another pawl wake serve uses") {
		t.Errorf("a second server opens the state: %v", err)
	}
	p := begin(t, twoHosts)
	p.state = s
	p.tell(p.job(1, Queued, "l4"))
	p.wait(time.Minute)
	if err := store.Save(s); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(path)
	if err := store.Save(s); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(path); !os.SameFile(before, after) {
		t.Error("what has not changed is written again")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	again, read, err := OpenStore(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if diff := cmp.Diff(s, read, cmpopts.IgnoreUnexported(State{}, Host{})); diff != "" {
		t.Error(diff)
	}
	if read.Hosts["cheap"].Flight == nil {
		t.Error("the start on its way is not kept")
	}
}

// A state that cannot be read stops pawl wake: today's costs are not forgotten.
func TestBrokenStates(t *testing.T) {
	for name, text := range map[string]string{
		"empty":           ``,
		"torn":            `{"schema":"pawl.wake/v1","jobs":{`,
		"another schema":  `{"schema":"pawl.wake/v2","jobs":{},"hosts":{},"polled":{},"day":{"date":"","on":null}}`,
		"no jobs":         `{"schema":"pawl.wake/v1","jobs":null,"hosts":{},"polled":{},"day":{"date":"","on":null}}`,
		"an empty job":    `{"schema":"pawl.wake/v1","jobs":{"a":null},"hosts":{},"polled":{}}`,
		"a job elsewhere": `{"schema":"pawl.wake/v1","jobs":{"a#1":{"repo":"a","id":2,"stage":"queued"}},"hosts":{},"polled":{}}`,
		"an empty host":   `{"schema":"pawl.wake/v1","jobs":{},"hosts":{"a":null},"polled":{}}`,
		"an odd flight":   `{"schema":"pawl.wake/v1","jobs":{},"hosts":{"a":{"flight":{"kind":"rm"}}},"polled":{}}`,
		"an odd day":      `{"schema":"pawl.wake/v1","jobs":{},"hosts":{},"polled":{},"day":{"date":"tomorrow"}}`,
	} {
		path := filepath.Join(t.TempDir(), "s.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := OpenStore(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(`{"schema":"pawl.wake/v1","jobs":{"o/kernels#1":{"repo":"o/kernels","id":1,"labels":["l4"],"stage":"queued","seen":"2026-11-15T08:00:00Z"}},"hosts":{"cheap":{"flight":{"kind":"start","since":"2026-11-15T08:00:00Z"},"paid":"2026-11-15T08:00:00Z"}},"polled":{},"day":{"date":"2026-11-15","on":{"cheap":3600000000000}}}`))
	c, err := ParseConfig("wake.yaml", []byte(twoHosts))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeState(data)
		if err != nil {
			return
		}
		now := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
		s.Recover(c, now)
		for range 3 {
			actions, _ := s.Step(c, Tick{}, now)
			for _, a := range actions {
				s.Step(c, StatusResult{Host: a.Host, Turn: a.Turn, Power: Off}, now)
				s.Step(c, Ended{Host: a.Host, Kind: a.Kind}, now)
			}
			now = now.Add(time.Minute)
		}
		if _, err := json.Marshal(s); err != nil && !strings.Contains(err.Error(), "year outside of range") {
			t.Error(err)
		}
		Summarize(c, s, now)
	})
}
