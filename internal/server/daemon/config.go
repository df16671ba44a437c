package daemon

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

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
		{"listen", &c.Listen, "where people and pawl push reach the server"},
		{"url", &c.URL, "the server's own address, as others write it; tokens are made for it"},
		{"proxies", &c.Proxies, "networks whose word is taken for whom they ask (X-Forwarded-For)"},
		{"database.url", &c.Database.URL, "the PostgreSQL; its user must be a member of pawl_app"},
		{"database.migrate_url", &c.Database.MigrateURL, "the same as the owner of the schema; database.url where it is empty"},
		{"database.connections", &c.Database.Connections, "how many connections at most"},
		{"database.migrate", &c.Database.Migrate, "migrate when the server starts"},
		{"database.allow_unsafe", &c.Database.AllowUnsafe, "start although the database may lose what it acknowledged"},
		{"blobs.url", &c.Blobs.URL, "where files go: file:///FOLDER or s3://BUCKET?endpoint=URL"},
		{"admin.listen", &c.Admin.Listen, "metrics and profiles: unix:PATH or a loopback address; off for none"},
		{"ci.issuers", &c.CI.Issuers, "whose tokens of CI jobs are taken"},
		{"login.issuer", &c.Login.Issuer, "the OpenID provider that people log in with; empty for none"},
		{"login.hosts", &c.Login.Hosts, "hosts besides the issuer's own that it may send the server to for keys and tokens"},
		{"login.client_id", &c.Login.ClientID, "what this server is called there"},
		{"login.client_secret", &c.Login.ClientSecret, "and its password there"},
		{"login.cookie_secret", &c.Login.CookieSecret, "32 bytes or more, the same for all servers of one address; made up where it is empty"},
		{"login.admins", &c.Login.Admins, "subjects or e-mail addresses at the provider that may administer everything"},
		{"hooks.allow_private", &c.Hooks.AllowPrivate, "let notifications go to private addresses"},
		{"hooks.every", &c.Hooks.Every, "how often a project is told of news, at most"},
		{"mail.server", &c.Mail.Server, "the mail server that digests leave through, HOST:PORT; empty for no mail"},
		{"mail.from", &c.Mail.From, "whose mail it is"},
		{"mail.user", &c.Mail.User, "who logs in there; empty for nobody"},
		{"mail.password", &c.Mail.Password, "and his password"},
		{"mail.domains", &c.Mail.Domains, "domains that mail may go to"},
		{"queue.work", &c.Queue.Work, "do the work that reports ask for in this process; one server of several must"},
		{"retain.sample_days", &c.Retain.SampleDays, "after how many days raw samples go, but for the neighbours of changes; 0 for never"},
		{"retain.branch_days", &c.Retain.BranchDays, "after how many days runs of branches and forks go; 0 for never"},
		{"timeouts.header", &c.Timeouts.Header, "for the header of a request"},
		{"timeouts.read", &c.Timeouts.Read, "for a whole request"},
		{"timeouts.write", &c.Timeouts.Write, "for an answer"},
		{"timeouts.idle", &c.Timeouts.Idle, "for a connection that says nothing"},
		{"shutdown.delay", &c.Shutdown.Delay, "from not ready to closed, so that balancers notice"},
		{"shutdown.drain", &c.Shutdown.Drain, "for requests that run when the server stops"},
		{"log.level", &c.Log.Level, "debug, info, warn or error"},
		{"traces.endpoint", &c.Traces.Endpoint, "where traces are sent as OTLP over HTTP; empty for nowhere"},
		{"traces.share", &c.Traces.Share, "which share of requests is traced, 0 to 1"},
		{"memory.share", &c.Memory.Share, "which share of the machine's or container's memory Go aims for; 0 for no limit"},
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
	c.Hooks.Every = 15 * time.Minute
	c.Queue.Work = true
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
	var wrong []error
	bad := func(key, format string, args ...any) {
		where := c.from[key]
		if where == "" {
			where = "default"
		}
		wrong = append(wrong, fmt.Errorf("%s (%s): %s", key, where, fmt.Sprintf(format, args...)))
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		bad("listen", "%q is no address such as 127.0.0.1:7295", c.Listen)
	}
	if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
		bad("url", "%q is no address such as https://pawl.example.com, without a path", c.URL)
	} else if u.Scheme == "http" && !loopback(u.Host) {
		bad("url", "%s has no TLS: tokens and cookies would be readable on the way. Put a proxy with a certificate before it", c.URL)
	}
	if _, err := adminAddress(c.Admin.Listen); err != nil {
		bad("admin.listen", "%v", err)
	}
	if u, err := url.Parse(c.Blobs.URL); err != nil || u.Scheme != "file" && u.Scheme != "s3" {
		bad("blobs.url", "%q is neither file:///FOLDER nor s3://BUCKET?endpoint=URL", c.Blobs.URL)
	}
	if n := c.Database.Connections; n < 2 || n > 1000 {
		bad("database.connections", "%d is not between 2 and 1000", n)
	}
	for _, s := range c.settings() {
		if d, ok := s.value.(*time.Duration); ok && (*d < 0 || *d == 0 && !strings.HasPrefix(s.key, "shutdown.")) {
			bad(s.key, "%v must be above zero", *d)
		}
		if f, ok := s.value.(*float64); ok && (*f < 0 || *f > 1) {
			bad(s.key, "%g is not between 0 and 1", *f)
		}
	}
	if c.Retain.SampleDays < 0 {
		bad("retain.sample_days", "%d is below zero", c.Retain.SampleDays)
	}
	if c.Retain.BranchDays < 0 {
		bad("retain.branch_days", "%d is below zero", c.Retain.BranchDays)
	}
	if _, err := c.proxies(); err != nil {
		bad("proxies", "%v", err)
	}
	if n := len(c.Login.CookieSecret.Reveal()); n > 0 && n < 32 {
		bad("login.cookie_secret", "it has %d bytes, want at least 32", n)
	}
	if _, err := parseLevel(c.Log.Level); err != nil {
		bad("log.level", "%v", err)
	}
	if (c.Login.Issuer == "") != (c.Login.ClientID == "") {
		bad("login.issuer", "login.issuer and login.client_id go together")
	}
	if m := c.mail(); m.Check() != nil {
		bad("mail.server", "%v", m.Check())
	}
	return usage(errors.Join(wrong...))
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
			return nil, fmt.Errorf("%q is no network such as 10.0.0.0/8", text)
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
	return usageError{errors.New(`no database is set: give database.url in the file of --config, or PAWLD_DATABASE_URL, such as
  PAWLD_DATABASE_URL=postgres://pawl:PASSWORD@127.0.0.1:5432/pawl
  (pawld demo needs none)`)}
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
		return nil, fmt.Errorf("%q is neither unix:PATH nor a loopback address nor off", text)
	}
	if !loopback(host) {
		return nil, fmt.Errorf("%s can be reached by others: use unix:PATH or a loopback address", text)
	}
	return net.ResolveTCPAddr("tcp", text)
}

func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
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
