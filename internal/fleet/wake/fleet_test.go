package wake

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLoadHosts_CommandsSeeNoSecretsOfTheServer(t *testing.T) {
	t.Setenv("PAWLD_DATABASE_URL", "s3cret")
	t.Setenv("GITHUB_TOKEN", "s3cret")
	t.Setenv("AWS_REGION", "eu-central-1")
	dir := t.TempDir()
	path := filepath.Join(dir, "hosts.yaml")
	text := "version: 1\nhosts: [{name: gpu1, start: env > seen, stop: b, status: c}]\nbudget: {hours_per_day: 8}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := LoadHosts(path, dir)
	if err != nil {
		t.Fatal(err)
	}
	if why := (Runner{c}).Move(t.Context(), c.Host("gpu1"), Start); why != "" {
		t.Fatal(why)
	}
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if err != nil || strings.Contains(string(seen), "s3cret") || !strings.Contains(string(seen), "PAWL_HOST=gpu1\n") || !strings.Contains(string(seen), "AWS_REGION=") {
		t.Errorf("%v\n%s", err, seen)
	}
}

func TestLoadHosts(t *testing.T) {
	const good = `
version: 1
hosts:
  - {name: gpu1, start: a, stop: b, status: c, price_per_hour: 1}
budget: {hours_per_day: 8}
`
	for _, x := range []struct{ name, old, new, want string }{
		{name: "good"},
		{"labels", "start: a", "labels: [l4], start: a", "labels and runners follow from the devices"},
		{"runners", "start: a", "runners: [l4], start: a", "labels and runners follow from the devices"},
		{"a forge", "budget:", "github: {repositories: [o/k]}\nbudget:", "are for pawl wake serve"},
		{"a port", "budget:", "listen: 127.0.0.1:1\nbudget:", "are for pawl wake serve"},
		{"a secret", "budget:", "secret: {env: X}\nbudget:", "are for pawl wake serve"},
		{"no budget", "budget: {hours_per_day: 8}", "", "what a day may cost"},
		{"no stop", "stop: b, ", "", "each need a command"},
		{"a typo", "version: 1", "version: 1\nbugdet: {}", "bugdet"},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "hosts.yaml")
			if err := os.WriteFile(path, []byte(strings.Replace(good, x.old, x.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := LoadHosts(path, dir)
			if x.want != "" {
				if err == nil || !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want %q", err, x.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r := c.Rules(map[string][]string{"gpu1": {"l4/own"}}, map[string][]string{"gpu1": {"l4"}}, []string{"l4"})
			if h := r.Hosts[0]; h.Start+h.Stop+h.Status != "" || !slices.Equal(h.Labels, []string{"host:gpu1", "l4/own"}) || h.Idle == 0 || r.Forge.Repositories[0] != "l4" {
				t.Errorf("rules %+v", r)
			}
			if h := c.Host("gpu1"); h.Start != "a" || len(h.Labels) != 1 {
				t.Errorf("Rules changed the settings: %+v", h)
			}
		})
	}
}
