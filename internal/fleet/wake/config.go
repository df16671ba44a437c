package wake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// Config is the content of wake.yaml.
type Config struct {
	Version int           `yaml:"version"`
	Listen  string        `yaml:"listen"`
	State   string        `yaml:"state"` // file; relative to wake.yaml
	Secret  Secret        `yaml:"secret"`
	Forge   Forge         `yaml:"github"`
	Poll    time.Duration `yaml:"poll"`
	Hosts   []HostConfig  `yaml:"hosts"`
	Budget  Budget        `yaml:"budget"`

	dir     string                 // of wake.yaml
	digest  string                 // of the file; of a fleet
	private func(name string) bool // reports which variables of the environment commands do not get, beside those of the file; nil for none
}

// Forge says which repositories' jobs are watched, and how to query them.
type Forge struct {
	API          string   `yaml:"api"` // empty means github.com
	Token        Secret   `yaml:"token"`
	App          App      `yaml:"app"` // instead of a token
	Repositories []string `yaml:"repositories"`
}

// App is a registered application that may read the jobs of the repositories.
type App struct {
	ID           int64  `yaml:"id"`
	Installation int64  `yaml:"installation"`
	Key          Secret `yaml:"key"`
}

// HostConfig is one machine and the commands that start and stop it.
type HostConfig struct {
	Name    string        `yaml:"name"`
	Labels  []string      `yaml:"labels"`
	Runners []string      `yaml:"runners"` // globs of its runners' names; empty if unknown
	Start   string        `yaml:"start"`
	Stop    string        `yaml:"stop"`
	Status  string        `yaml:"status"`  // prints on, off, starting or stopping
	Boot    time.Duration `yaml:"boot"`    // max time from the start command to on
	Halt    time.Duration `yaml:"halt"`    // max time from the stop command to off
	Idle    time.Duration `yaml:"idle"`    // max time on without a job
	Timeout time.Duration `yaml:"timeout"` // of start and stop
	Ask     time.Duration `yaml:"ask"`     // interval of status checks while it changes
	Retry   time.Duration `yaml:"retry"`   // pause after five failed starts
	Jobs    int           `yaml:"jobs"`    // max concurrent jobs
	Price   float64       `yaml:"price_per_hour"`
	Lists   []string      `yaml:"-"` // of a fleet: those of Forge.Repositories that may have its jobs; nil for all
}

// Budget limits the usage of all hosts per UTC day.
type Budget struct {
	Hours   float64       `yaml:"hours_per_day"`
	Dollars float64       `yaml:"dollars_per_day"`
	Least   time.Duration `yaml:"least"`  // min time left after the boot for a start to be worth it
	Margin  time.Duration `yaml:"margin"` // how long pawl wake itself may be down
	Grace   time.Duration `yaml:"grace"`  // how long a running job may exceed the budget
}

// Secret says where a secret is read from. It is never in the file itself.
type Secret struct {
	File string `yaml:"file"`
	Env  string `yaml:"env"`
}

const (
	maxConfig = 1 << 20
	maxHosts  = 100
	maxRepos  = 200
	maxSecret = 64 << 10
)

// LoadConfig reads and checks wake.yaml.
func LoadConfig(path string) (*Config, error) {
	data, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	return ParseConfig(path, data)
}

func readConfig(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the wake settings: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the wake settings: %w", err)
	}
	return data, nil
}

// ParseConfig parses the wake.yaml at path. An unknown key is an error.
func ParseConfig(path string, data []byte) (*Config, error) {
	c, err := decodeConfig(path, data)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.checkForge(), c.check()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func decodeConfig(path string, data []byte) (*Config, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf(`%s: it is empty: start with "version: 1"`, path)
	}
	c := &Config{dir: filepath.Dir(path)}
	if err := strictyaml.Decode(path, data, strictyaml.Format{Name: "wake.yaml", MaxBytes: maxConfig}, c); err != nil {
		return nil, err
	}
	c.setDefaults()
	return c, nil
}

func (c *Config) setDefaults() {
	set(&c.Listen, "127.0.0.1:8787")
	set(&c.State, "wake.state.json")
	set(&c.Poll, time.Minute)
	set(&c.Budget.Least, 10*time.Minute)
	set(&c.Budget.Margin, 2*time.Minute)
	for i, r := range c.Forge.Repositories {
		c.Forge.Repositories[i] = strings.ToLower(r)
	}
	for i := range c.Hosts {
		h := &c.Hosts[i]
		set(&h.Boot, 5*time.Minute)
		set(&h.Halt, 3*time.Minute)
		set(&h.Idle, 15*time.Minute)
		set(&h.Timeout, 2*time.Minute)
		set(&h.Ask, 10*time.Second)
		set(&h.Retry, time.Hour)
		set(&h.Jobs, 1)
		for j, l := range h.Labels {
			h.Labels[j] = strings.ToLower(l)
		}
	}
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

var (
	hostName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	repoName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,38}/[a-z0-9._-]{1,100}$`)
)

func (c *Config) check() error {
	switch {
	case c.Version != 1:
		return fmt.Errorf("version must be 1, got %d", c.Version)
	case len(c.Hosts) == 0:
		return errors.New("hosts: list at least one machine to wake")
	case len(c.Hosts) > maxHosts:
		return fmt.Errorf("hosts: got %d, the limit is %d", len(c.Hosts), maxHosts)
	case c.Poll < time.Second:
		return fmt.Errorf("poll: %v is too often: the minimum is 1s", c.Poll)
	case c.Budget.Hours == 0 && c.Budget.Dollars == 0:
		return errors.New("budget: set what a day may cost, as hours_per_day or dollars_per_day")
	case c.Budget.Hours < 0 || c.Budget.Dollars < 0 || c.Budget.Least < 0 || c.Budget.Margin < 0 || c.Budget.Grace < 0:
		return errors.New("budget: values must not be negative")
	}
	seen := map[string]bool{}
	for _, h := range c.Hosts {
		if seen[h.Name] {
			return fmt.Errorf("hosts: %s is listed twice", h.Name)
		}
		seen[h.Name] = true
		if err := c.checkHost(h); err != nil {
			return fmt.Errorf("hosts: %s: %w", h.Name, err)
		}
	}
	return nil
}

func (c *Config) checkForge() error {
	switch {
	case len(c.Forge.Repositories) == 0:
		return errors.New("github.repositories: list at least one, as owner/name")
	case len(c.Forge.Repositories) > maxRepos:
		return fmt.Errorf("github.repositories: got %d, the limit is %d", len(c.Forge.Repositories), maxRepos)
	}
	for _, r := range c.Forge.Repositories {
		if !repoName.MatchString(r) {
			return fmt.Errorf("github.repositories: %q is not owner/name", r)
		}
	}
	return nil
}

func (c *Config) checkHost(h HostConfig) error {
	switch {
	case !hostName.MatchString(h.Name):
		return errors.New("name: must be at most 63 letters, digits, dots, dashes and underscores")
	case len(h.Labels) == 0:
		return errors.New("labels: list the labels of its runner, including self-hosted")
	case h.Start == "" || h.Stop == "" || h.Status == "":
		return errors.New("start, stop and status each need a command")
	case h.Boot < 0 || h.Halt < 0 || h.Idle < 0 || h.Timeout < 0 || h.Ask < 0 || h.Retry < 0 || h.Jobs < 0 || h.Price < 0:
		return errors.New("values must not be negative")
	case h.Ask < 10*time.Millisecond:
		return fmt.Errorf("ask: %v is too often: the minimum is 10ms", h.Ask)
	case c.Budget.Dollars > 0 && h.Price == 0:
		return errors.New("price_per_hour: a budget in dollars needs the price of every host")
	}
	if need := c.startNeeds(&h); !amountOf(need, &h).within(c.Budget) {
		return fmt.Errorf("the budget of a day is too small for one start: boot, least, halt and margin are %v together", need)
	}
	return nil
}

// StateFile returns the path of the state file.
func (c *Config) StateFile() string { return c.path(c.State) }

func (c *Config) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.dir, name)
}

// Host returns the settings of a host, or nil.
func (c *Config) Host(name string) *HostConfig {
	for i := range c.Hosts {
		if c.Hosts[i].Name == name {
			return &c.Hosts[i]
		}
	}
	return nil
}

// ReadSecret reads a secret from its configured source.
func (c *Config) ReadSecret(s Secret, getenv func(string) string) (string, error) {
	switch {
	case s.File != "" && s.Env != "":
		return "", errors.New("file and env are both set: set only one")
	case s.Env != "":
		if v := getenv(s.Env); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("the environment variable %s is empty", s.Env)
	case s.File == "":
		return "", errors.New("set file or env")
	}
	f, err := os.Open(c.path(s.File))
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSecret))
	if err != nil {
		return "", err
	}
	v := strings.TrimSpace(string(data))
	if v == "" {
		return "", fmt.Errorf("%s is empty", s.File)
	}
	return v, nil
}
