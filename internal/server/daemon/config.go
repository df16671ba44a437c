package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/loopback"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/alert"
)

// config holds all settings. The zero value is not usable: see defaults.
type config struct {
	Listen  string
	URL     string
	Proxies []string

	Database struct {
		URL         identity.Token
		MigrateURL  identity.Token
		Connections int
		Migrate     bool
		AllowUnsafe bool
	}
	Blobs struct {
		URL string
	}
	Admin struct {
		Listen string
	}
	Metrics struct {
		Listen string
		Token  identity.Token
	}
	Audit struct {
		Key identity.Token
	}
	CI struct {
		Issuers []string
	}
	Login struct {
		Issuer       string
		Hosts        []string
		ClientID     string
		ClientSecret identity.Token
		CookieSecret identity.Token
		Admins       []string
		Lifetime     time.Duration
		Idle         time.Duration
	}
	Limits struct {
		AddressRate, KeyRate, ProjectRate, Requests int
		Stall                                       time.Duration
		MinRate                                     int
		Series, PointsPerDay, BlobGiB               int
		Hooks, Keys, Members, Rules                 int
		DatabaseGiB                                 int
	}
	Hooks struct {
		AllowPrivate bool
		Every        time.Duration
	}
	Mail struct {
		Server, From, User string
		Password           identity.Token
		Domains            []string
	}
	Queue struct {
		Work bool
	}
	Fleet struct {
		Address, Namespace, Listen string
		Secret, DatabaseURL        identity.Token
		Calibrate                  time.Duration
		Hosts                      string
	}
	Retain struct {
		SampleDays, BranchDays int
	}
	Timeouts struct {
		Header, Read, Write, Idle time.Duration
	}
	Shutdown struct {
		Delay, Drain time.Duration
	}
	Log struct {
		Level string
	}
	Traces struct {
		Endpoint string
		Share    float64
	}
	Memory struct {
		Share float64
	}

	from map[string]string // source of each setting
}

// setting is one key of the file and one variable of the environment.
type setting struct {
	key   string
	value any // pointer into a config
	about string
}

// settings lists all settings. The file, the environment, the printed settings and the page
// docs/reference/server-config.md all follow it.
func (c *config) settings() []setting {
	return []setting{
		{"listen", &c.Listen, "address that the server listens on"},
		{"url", &c.URL, "public URL of this server; tokens are issued for it"},
		{"proxies", &c.Proxies, "networks of trusted proxies, whose X-Forwarded-For is used"},
		{"database.url", &c.Database.URL, "PostgreSQL URL; its user must be a member of pawl_app"},
		{"database.migrate_url", &c.Database.MigrateURL, "PostgreSQL URL of the schema owner, for migrations; database.url if empty"},
		{"database.connections", &c.Database.Connections, "maximum number of connections"},
		{"database.migrate", &c.Database.Migrate, "migrate when the server starts"},
		{"database.allow_unsafe", &c.Database.AllowUnsafe, "start even if the database may lose acknowledged reports"},
		{"blobs.url", &c.Blobs.URL, "where files are stored: file:///FOLDER or s3://BUCKET?endpoint=URL"},
		{"admin.listen", &c.Admin.Listen, "address for metrics and profiles: unix:PATH or a loopback address; off for none"},
		{"metrics.listen", &c.Metrics.Listen, "address for metrics alone, such as 0.0.0.0:9295; empty for none beside the admin address"},
		{"metrics.token", &c.Metrics.Token, "bearer token that metrics.listen requires; empty for none"},
		{"audit.key", &c.Audit.Key, "32 bytes or more that sign the audit logs, the same for all servers of one database; empty for none"},
		{"ci.issuers", &c.CI.Issuers, "issuers whose CI job tokens are accepted"},
		{"login.issuer", &c.Login.Issuer, "OpenID provider that people log in with; empty for none"},
		{"login.hosts", &c.Login.Hosts, "additional hosts that the issuer may use for keys and tokens"},
		{"login.client_id", &c.Login.ClientID, "client ID of this server at the provider"},
		{"login.client_secret", &c.Login.ClientSecret, "client secret of this server at the provider"},
		{"login.cookie_secret", &c.Login.CookieSecret, "32 bytes or more, the same for all servers of one URL; random if empty"},
		{"login.admins", &c.Login.Admins, "subjects or e-mail addresses at the provider of people who may administer everything"},
		{"login.lifetime", &c.Login.Lifetime, "time after which people must log in again"},
		{"login.idle", &c.Login.Idle, "time without a request after which people must log in again"},
		{"limits.address_rate", &c.Limits.AddressRate, "requests per second from one address; four times as many at once"},
		{"limits.key_rate", &c.Limits.KeyRate, "requests per second with one key, or of one person"},
		{"limits.project_rate", &c.Limits.ProjectRate, "requests per second for one project"},
		{"limits.requests", &c.Limits.Requests, "queries and pages answered at once; a project gets at most a quarter"},
		{"limits.stall", &c.Limits.Stall, "time that a client may pause while it sends or reads"},
		{"limits.min_rate", &c.Limits.MinRate, "bytes per second that a client must send or read"},
		{"limits.series", &c.Limits.Series, "series per project; 0 for no limit, as for the next six"},
		{"limits.points_per_day", &c.Limits.PointsPerDay, "points per project and day"},
		{"limits.blob_gib", &c.Limits.BlobGiB, "GiB of files per project"},
		{"limits.hooks", &c.Limits.Hooks, "hooks per project"},
		{"limits.keys", &c.Limits.Keys, "keys per project"},
		{"limits.members", &c.Limits.Members, "members per project"},
		{"limits.rules", &c.Limits.Rules, "rules per project"},
		{"limits.database_gib", &c.Limits.DatabaseGiB, "GiB of the database for all projects, above which reports are refused; 0 for no limit"},
		{"hooks.allow_private", &c.Hooks.AllowPrivate, "allow notifications to private addresses"},
		{"hooks.every", &c.Hooks.Every, "minimum time between two notifications of a project"},
		{"mail.server", &c.Mail.Server, "mail server for digests, HOST:PORT; empty for no mail"},
		{"mail.from", &c.Mail.From, "sender address of mail"},
		{"mail.user", &c.Mail.User, "user name at the mail server; empty for none"},
		{"mail.password", &c.Mail.Password, "password at the mail server"},
		{"mail.domains", &c.Mail.Domains, "domains that mail may be sent to"},
		{"queue.work", &c.Queue.Work, "run background jobs in this process; at least one of several servers must"},
		{"fleet.address", &c.Fleet.Address, "address of Temporal, HOST:PORT, which runs gates on other machines; empty for none"},
		{"fleet.namespace", &c.Fleet.Namespace, "namespace in Temporal"},
		{"fleet.database_url", &c.Fleet.DatabaseURL, "PostgreSQL URL of Temporal's main database, for pawld fleet schema; the second one has the same name with _visibility"},
		{"fleet.listen", &c.Fleet.Listen, "address that agents connect to; empty for none in this process"},
		{"fleet.calibrate", &c.Fleet.Calibrate, "time between two calibrations of a device; 0s for none"},
		{"fleet.hosts", &c.Fleet.Hosts, "file that says how hosts are started when gates wait, and stopped; empty for none"},
		{"fleet.secret", &c.Fleet.Secret, "32 bytes or more, the same for all servers of one fleet and after a restart; agents hold what it seals"},
		{"retain.sample_days", &c.Retain.SampleDays, "days after which raw samples are deleted, except those next to changes; 0 for never"},
		{"retain.branch_days", &c.Retain.BranchDays, "days after which runs of branches and forks are deleted; 0 for never"},
		{"timeouts.header", &c.Timeouts.Header, "time limit for the header of a request"},
		{"timeouts.read", &c.Timeouts.Read, "time limit for a whole request"},
		{"timeouts.write", &c.Timeouts.Write, "time limit for a response"},
		{"timeouts.idle", &c.Timeouts.Idle, "time limit for an idle connection"},
		{"shutdown.delay", &c.Shutdown.Delay, "time from not ready to closed, so that load balancers notice"},
		{"shutdown.drain", &c.Shutdown.Drain, "time limit for running requests at shutdown"},
		{"log.level", &c.Log.Level, "debug, info, warn or error"},
		{"traces.endpoint", &c.Traces.Endpoint, "where traces are sent as OTLP over HTTP; empty for none"},
		{"traces.share", &c.Traces.Share, "share of requests that is traced, 0 to 1"},
		{"memory.share", &c.Memory.Share, "share of the machine's or container's memory that Go aims for; 0 for no limit"},
	}
}

// defaults returns settings that work on one machine and contact no other.
func defaults(env environment) *config {
	c := &config{from: map[string]string{}}
	c.Listen = "127.0.0.1:7295"
	c.Database.Connections = 20
	c.Database.Migrate = true
	c.Admin.Listen = "unix:" + filepath.Join(env.runtimeDir(), "admin.sock")
	c.Blobs.URL = "file://" + filepath.ToSlash(filepath.Join(env.stateDir(), "blobs"))
	c.CI.Issuers = []string{identity.GitHub}
	c.Login.Lifetime, c.Login.Idle = 7*24*time.Hour, 24*time.Hour
	c.Limits.AddressRate, c.Limits.KeyRate, c.Limits.ProjectRate, c.Limits.Requests = 1000, 500, 1000, 64
	c.Limits.Stall, c.Limits.MinRate = 20*time.Second, 32<<10
	c.Limits.Series, c.Limits.PointsPerDay, c.Limits.BlobGiB = 200_000, 20_000_000, 100
	c.Limits.Hooks, c.Limits.Keys, c.Limits.Members, c.Limits.Rules = 20, 200, 1000, 100
	c.Retain.SampleDays, c.Retain.BranchDays = 365, 180
	c.Hooks.Every = 15 * time.Minute
	c.Queue.Work = true
	c.Fleet.Namespace, c.Fleet.Calibrate = "pawl", 24*time.Hour
	c.Timeouts.Header, c.Timeouts.Read, c.Timeouts.Write, c.Timeouts.Idle = 10*time.Second, 2*time.Minute, 5*time.Minute, 2*time.Minute
	c.Shutdown.Delay, c.Shutdown.Drain = 5*time.Second, 25*time.Second
	c.Log.Level = "info"
	c.Traces.Share = 1
	c.Memory.Share = 0.9
	return c
}

// finish derives settings from others and makes all checks that need no network.
func (c *config) finish() error {
	if c.URL == "" {
		c.URL = "http://" + c.Listen
		c.from["url"] = "from listen"
	}
	if c.Database.MigrateURL.IsZero() {
		c.Database.MigrateURL = c.Database.URL
		c.from["database.migrate_url"] = "from database.url"
	}
	_, _, listen := net.SplitHostPort(c.Listen)
	_, admin := adminAddress(c.Admin.Listen)
	_, _, metrics := net.SplitHostPort(c.Metrics.Listen)
	_, proxies := c.proxies()
	_, level := parseLevel(c.Log.Level)
	mail := c.mail()
	checks := append(c.checkNumbers(), []settingCheck{
		{"listen", wrongIf(listen != nil, "%q is not an address such as 127.0.0.1:7295", c.Listen)},
		{"url", checkURL(c.URL)},
		{"admin.listen", admin},
		{"metrics.listen", wrongIf(c.Metrics.Listen != "" && metrics != nil, "%q is not an address such as 127.0.0.1:9295", c.Metrics.Listen)},
		{"blobs.url", checkBlobs(c.Blobs.URL)},
		{"proxies", proxies},
		{"login.cookie_secret", checkSecret(c.Login.CookieSecret.Reveal())},
		{"audit.key", checkSecret(c.Audit.Key.Reveal())},
		{"log.level", level},
		{"login.issuer", wrongIf((c.Login.Issuer == "") != (c.Login.ClientID == ""), "login.issuer and login.client_id must be set together")},
		{"mail.server", mail.Check()},
		{"fleet.address", checkFleet(c.Fleet.Address)},
		{"fleet.namespace", wrongIf(c.Fleet.Namespace == "", "it is empty")},
		{"fleet.listen", c.checkGateway()},
		{"fleet.secret", checkSecret(c.Fleet.Secret.Reveal())},
	}...)
	var wrong []error
	for _, x := range checks {
		if x.err != nil {
			wrong = append(wrong, fmt.Errorf("%s (%s): %w", x.key, cmp.Or(c.from[x.key], "default"), x.err))
		}
	}
	return usage(errors.Join(wrong...))
}

// settingCheck is the result of checking one setting; a nil error means that it is valid.
type settingCheck struct {
	key string
	err error
}

func wrongIf(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// checkNumbers checks numbers, shares and times.
func (c *config) checkNumbers() []settingCheck {
	n, samples, branches := c.Database.Connections, c.Retain.SampleDays, c.Retain.BranchDays
	list := []settingCheck{
		{"database.connections", wrongIf(n < 2 || n > 1000, "%d is not between 2 and 1000", n)},
		{"retain.sample_days", wrongIf(samples < 0, "%d is below zero", samples)},
		{"retain.branch_days", wrongIf(branches < 0, "%d is below zero", branches)},
	}
	for _, s := range c.settings() {
		if n, ok := s.value.(*int); ok && strings.HasPrefix(s.key, "limits.") {
			needed := slices.Contains([]string{"limits.address_rate", "limits.key_rate", "limits.project_rate", "limits.requests", "limits.min_rate"}, s.key)
			list = append(list, settingCheck{s.key, wrongIf(*n < 0 || *n == 0 && needed, "%d must be above zero", *n)})
		}
		if d, ok := s.value.(*time.Duration); ok {
			mayBeZero := strings.HasPrefix(s.key, "shutdown.") || s.key == "fleet.calibrate"
			list = append(list, settingCheck{s.key, wrongIf(*d < 0 || *d == 0 && !mayBeZero, "%v must be above zero", *d)})
		}
		if f, ok := s.value.(*float64); ok {
			list = append(list, settingCheck{s.key, wrongIf(*f < 0 || *f > 1, "%g is not between 0 and 1", *f)})
		}
	}
	return list
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
		return fmt.Errorf("%q is not a URL such as https://pawl.example.com, without a path", text)
	}
	return wrongIf(u.Scheme == "http" && !loopback.Is(u.Host), "%s has no TLS: tokens and cookies would be sent in plain text. Put a proxy with a certificate in front of it", text)
}

func checkFleet(address string) error {
	_, _, err := net.SplitHostPort(address)
	return wrongIf(address != "" && err != nil, "%q is not an address such as 127.0.0.1:7233", address)
}

// checkGateway checks the settings of the port for agents.
func (c *config) checkGateway() error {
	if c.Fleet.Listen == "" {
		return nil
	}
	_, _, err := net.SplitHostPort(c.Fleet.Listen)
	return errors.Join(
		wrongIf(err != nil, "%q is not an address such as 127.0.0.1:7296", c.Fleet.Listen),
		wrongIf(c.Fleet.Address == "", "it needs fleet.address"),
		wrongIf(c.Fleet.Secret.IsZero(), "it needs fleet.secret: openssl rand -hex 32"),
	)
}

func checkBlobs(text string) error {
	u, err := url.Parse(text)
	return wrongIf(err != nil || u.Scheme != "file" && u.Scheme != "s3", "%q is neither file:///FOLDER nor s3://BUCKET?endpoint=URL", text)
}

func checkSecret(text string) error {
	return wrongIf(text != "" && len(text) < 32, "it has %d bytes, the minimum is 32", len(text))
}

// mail returns the settings for sending digests by mail.
func (c *config) mail() alert.Mail {
	return alert.Mail{Server: c.Mail.Server, From: c.Mail.From, User: c.Mail.User, Password: c.Mail.Password.Reveal(), Domains: c.Mail.Domains}
}

// proxies returns the networks of trusted proxies.
func (c *config) proxies() ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range c.Proxies {
		if ip, err := netip.ParseAddr(text); err == nil {
			list = append(list, netip.PrefixFrom(ip, ip.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a network such as 10.0.0.0/8", text)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// needDatabase returns an error if no database is set.
func (c *config) needDatabase() error {
	if !c.Database.URL.IsZero() {
		return nil
	}
	return usageError{errors.New(`database.url is not set: give it in the file of --config, or set PAWLD_DATABASE_URL, such as
  PAWLD_DATABASE_URL=postgres://pawl:PASSWORD@127.0.0.1:5432/pawl
  (pawld demo needs no database)`)}
}

// adminAddress parses the address of the admin listener. It refuses any address that other machines can
// reach: profiles and metrics reveal too much.
func adminAddress(text string) (net.Addr, error) {
	if text == "off" {
		return nil, nil
	}
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		if path == "" {
			return nil, errors.New("unix: needs the path of a socket")
		}
		return &net.UnixAddr{Net: "unix", Name: path}, nil
	}
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		return nil, fmt.Errorf("%q must be unix:PATH, a loopback address or off", text)
	}
	if !loopback.Is(host) {
		return nil, fmt.Errorf("%s is reachable from other machines: use unix:PATH or a loopback address", text)
	}
	return net.ResolveTCPAddr("tcp", text)
}

// environment holds the environment variables of the process.
type environment map[string]string

func newEnvironment(list []string) environment {
	e := environment{}
	for _, line := range list {
		if k, v, ok := strings.Cut(line, "="); ok {
			e[k] = v
		}
	}
	return e
}

// stateDir returns the folder that systemd created for the service, or one of the user's.
func (e environment) stateDir() string {
	switch {
	case e["STATE_DIRECTORY"] != "":
		first, _, _ := strings.Cut(e["STATE_DIRECTORY"], ":")
		return first
	case e["XDG_STATE_HOME"] != "":
		return filepath.Join(e["XDG_STATE_HOME"], "pawld")
	case e["HOME"] != "":
		return filepath.Join(e["HOME"], ".local", "state", "pawld")
	}
	return "/var/lib/pawld"
}

// runtimeDir returns the folder for sockets: systemd's, the user's, or one next to the state.
func (e environment) runtimeDir() string {
	if e["RUNTIME_DIRECTORY"] != "" {
		first, _, _ := strings.Cut(e["RUNTIME_DIRECTORY"], ":")
		return first
	}
	if dir := e["XDG_RUNTIME_DIR"]; dir != "" {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return filepath.Join(dir, "pawld")
		}
	}
	return e.stateDir()
}
