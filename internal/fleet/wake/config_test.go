package wake

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestConfig(t *testing.T) {
	c, err := ParseConfig("wake.yaml", []byte(twoHosts))
	if err != nil {
		t.Fatal(err)
	}
	if h := c.Host("cheap"); h.Jobs != 1 || h.Retry != time.Hour || h.Labels[1] != "gpu" || c.Poll != time.Minute || c.Listen != "127.0.0.1:8787" || c.Forge.Repositories[0] != "o/kernels" {
		t.Errorf("%+v", c)
	}
	for name, change := range map[string]struct{ old, new, want string }{
		"an unknown key":    {"version: 1", "version: 1\nbugdet: {}", "bugdet"},
		"another version":   {"version: 1", "version: 2", "version must be 1, got 2"},
		"no budget":         {"budget: {hours_per_day: 8}", "", "what a day may cost"},
		"a budget too low":  {"hours_per_day: 8", "hours_per_day: 0.2", "is too small for one start"},
		"no price":          {"price_per_hour: 1, ", "", ""},
		"a price is needed": {"hours_per_day: 8", "dollars_per_day: 8", ""},
		"a missing price":   {"price_per_hour: 1, ", "price_per_hour: 0, ", ""},
		"twice":             {"name: dear", "name: cheap", "cheap is listed twice"},
		"an odd name":       {"name: dear", "name: ../x", "letters, digits"},
		"no stop":           {"stop: b, ", "", "each need a command"},
		"negative":          {"idle: 10m", "idle: -10m", "negative"},
		"no repositories":   {"repositories: [O/Kernels]", "repositories: []", "list at least one"},
		"an odd repository": {"O/Kernels", "O/Ker/nels", "is not owner/name"},
		"polls too often":   {"version: 1", "version: 1\npoll: 1ms", "too often"},
		"two documents":     {"version: 1", "version: 1\n---\na: b", ""},
	} {
		_, err := ParseConfig("wake.yaml", []byte(strings.Replace(twoHosts, change.old, change.new, 1)))
		switch {
		case change.want == "" && name != "two documents" && err != nil:
			t.Errorf("%s: %v", name, err)
		case change.want != "" && (err == nil || !strings.Contains(err.Error(), change.want)):
			t.Errorf("%s: %v, want %q", name, err, change.want)
		}
	}
	dollars := strings.Replace(strings.Replace(twoHosts, "hours_per_day", "dollars_per_day", 1), "price_per_hour: 1, ", "", 1)
	if _, err := ParseConfig("wake.yaml", []byte(dollars)); err == nil || !strings.Contains(err.Error(), "needs the price of every host") {
		t.Errorf("dollars without a price: %v", err)
	}
	if _, err := ParseConfig("wake.yaml", nil); err == nil || !strings.Contains(err.Error(), "it is empty") {
		t.Errorf("an empty file: %v", err)
	}
}

func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s"), []byte(" top \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Config{dir: dir}
	env := func(name string) string { return map[string]string{"S": "env"}[name] }
	for _, k := range []struct {
		Secret
		want string
	}{{Secret{File: "s"}, "top"}, {Secret{Env: "S"}, "env"}, {Secret{Env: "T"}, ""}, {Secret{File: "t"}, ""}, {Secret{}, ""}, {Secret{File: "s", Env: "S"}, ""}} {
		got, err := c.ReadSecret(k.Secret, env)
		if got != k.want || (err == nil) != (k.want != "") {
			t.Errorf("%+v: %q %v", k.Secret, got, err)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(twoHosts))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConfig("wake.yaml", data)
		if err != nil {
			return
		}
		s := NewState()
		now := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
		s.Step(c, Tick{}, now)
		s.Step(c, Tick{}, now.Add(time.Hour))
	})
}
