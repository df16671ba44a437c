package wake

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// LoadHosts reads and checks the hosts of a fleet: a wake.yaml with only version, hosts and budget. Its jobs are gates, and a host
// is named after its agent, so the file names no forge and no labels. locks is a folder for the locks of commands.
func LoadHosts(path, locks string) (*Config, error) {
	data, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	c, err := decodeConfig(path, data)
	if err != nil {
		return nil, err
	}
	err = errors.Join(c.checkOnlyHosts(), c.check())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.State = filepath.Join(locks, "hosts")
	c.private = func(name string) bool {
		return name != "PAWL_HOST" && slices.ContainsFunc([]string{"PAWL", "GITHUB_", "GITLAB_"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	}
	sum := sha256.Sum256(data)
	c.digest = hex.EncodeToString(sum[:])
	return c, nil
}

// Digest returns the digest of the file of a fleet's hosts; empty for nil.
func (c *Config) Digest() string {
	if c == nil {
		return ""
	}
	return c.digest
}

// checkOnlyHosts checks that a file leaves out what follows from the fleet, and fills it in.
func (c *Config) checkOnlyHosts() error {
	var plain Config
	plain.setDefaults()
	f := c.Forge
	if c.Listen != plain.Listen || c.State != plain.State || c.Poll != plain.Poll || c.Secret != (Secret{}) || f.API != "" || f.Token != (Secret{}) || f.App != (App{}) || f.Repositories != nil {
		return errors.New("listen, state, poll, secret and github are for pawl wake serve: leave them out")
	}
	for i := range c.Hosts {
		h := &c.Hosts[i]
		if h.Labels != nil || h.Runners != nil {
			return fmt.Errorf("hosts: %s: labels and runners follow from the devices of its agent: leave them out", h.Name)
		}
		h.Labels, h.Runners = []string{HostLabel(h.Name)}, []string{h.Name}
	}
	return nil
}

// HostLabel returns a label that only one host has. Jobs that run on it have the label.
func HostLabel(name string) string { return "host:" + name }

// Rules returns what decides over the hosts of a fleet, without their commands: the labels of jobs that each host takes, the lists
// that may have them, and all lists that are polled.
func (c *Config) Rules(labels, lists map[string][]string, all []string) *Config {
	r := Config{Version: c.Version, Poll: c.Poll, Budget: c.Budget, Hosts: slices.Clone(c.Hosts), Forge: Forge{Repositories: all}}
	for i := range r.Hosts {
		h := &r.Hosts[i]
		h.Start, h.Stop, h.Status = "", "", ""
		h.Labels, h.Lists = append(slices.Clone(h.Labels), labels[h.Name]...), append([]string{}, lists[h.Name]...)
	}
	return &r
}

// DropEnded forgets the jobs that have ended. The next listing brings back one that has not.
func (s *State) DropEnded() {
	maps.DeleteFunc(s.Jobs, func(_ string, j *Job) bool { return !j.Stage.live() })
}

// IsStopping reports whether a host was told to stop, and is not off yet.
func (s *State) IsStopping(name string) bool {
	h := s.Hosts[name]
	return h != nil && h.phase() == Stopping
}

// IsOver reports whether the budget of the day is used up, and its grace: hosts stop even if that loses a job.
func (s *State) IsOver(c *Config, now time.Time) bool {
	return !s.Day.Ended.IsZero() && now.Sub(s.Day.Ended) >= c.Budget.Grace && !s.bound(c, now).within(c.Budget)
}
