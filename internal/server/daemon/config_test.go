package daemon

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/golden"
)

// pawld runs a command in memory and tells what it printed.
func pawld(t *testing.T, env []string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(t.Context(), args, &IO{Out: &o, Err: &e, Environ: append([]string{"HOME=/home/pawl"}, env...), Signals: make(chan os.Signal)})
	return code, o.String(), e.String()
}

// What is printed says where each setting comes from, and no secret.
func TestConfigIsShown(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pawld.yaml"), `# a server
listen: 0.0.0.0:80
url: https://pawl.example.com
database:
  url: postgres://pawl:hunter2@db.example.com:5432/pawl?sslmode=verify-full&sslpassword=hunter3
login:
  issuer: https://login.example.com
  client_id: "17"
  client_secret_file: secret.txt
ci:
  issuers: [https://token.example.com, https://github.example.com/_services/token]
log: {level: warn}
`)
	write(t, filepath.Join(dir, "secret.txt"), "hunter4\n")
	code, out, errs := pawld(t, []string{"PAWLD_LOG_LEVEL=debug", "PAWLD_SHUTDOWN_DELAY=1s", "PAWLD_LOGIN_ADMINS=ada, lin"}, "config", "check", "--offline", "--config", filepath.Join(dir, "pawld.yaml"))
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if strings.Contains(out, "hunter") {
		t.Errorf("a secret is shown:\n%s", out)
	}
	golden.Check(t, "config.golden", strings.ReplaceAll(out, dir, "/etc/pawld"))
}

func TestConfigDefaults(t *testing.T) {
	code, out, errs := pawld(t, nil, "config", "check", "--offline")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	golden.Check(t, "defaults.golden", out)
	// Printed settings are settings: read back, they are the same.
	path := filepath.Join(t.TempDir(), "again.yaml")
	write(t, path, out)
	_, again, errs := pawld(t, nil, "config", "check", "--offline", "--config", path)
	if errs != "" {
		t.Fatal(errs)
	}
	for _, text := range []*string{&out, &again} {
		var kept []string
		for line := range strings.Lines(*text) {
			line, _, _ = strings.Cut(line, " #")
			kept = append(kept, strings.TrimSpace(line))
		}
		*text = strings.Join(kept, "\n")
	}
	if diff := cmp.Diff(out, again); diff != "" {
		t.Error(diff)
	}
}

func TestConfigMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		name, file string
		env        []string
		says       []string
	}{
		{"unknown key", "listen: 127.0.0.1:1\ndatabse:\n  url: x\n", nil, []string{"pawld.yaml:2:1: unknown setting databse"}},
		{"typing error", "log:\n  lvel: info\n", nil, []string{"pawld.yaml:2:3: unknown setting log.lvel: did you mean log.level?"}},
		{"twice", "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", nil, []string{"listen"}},
		{"a list for a value", "listen: [a]\n", nil, []string{"pawld.yaml:1:9: listen: expected a single value"}},
		{"a value for a group", "log: info\n", nil, []string{"pawld.yaml:1:6: log: expected keys and values"}},
		{"no mapping", "- a\n", nil, []string{"pawld.yaml:1:1: expected keys and values"}},
		{"two documents", "listen: 127.0.0.1:1\n---\nlisten: 127.0.0.1:1\n", nil, []string{"must be one YAML document"}},
		{"no YAML", "listen: [\n", nil, []string{"pawld.yaml:"}},
		{"a duration", "shutdown: {delay: 5}\n", nil, []string{`pawld.yaml:1:19: shutdown.delay: "5" is not a duration`}},
		{"a number", "database: {connections: many}\n", nil, []string{`"many" is not a whole number`}},
		{"a range", "traces: {share: 2}\n", nil, []string{"traces.share (", "pawld.yaml:1): 2 is not between 0 and 1"}},
		{"not a number", "traces: {share: NaN}\n", nil, []string{`"NaN" is not a number`}},
		{"a secret that is not there", "database: {url_file: /nowhere}\n", nil, []string{"database.url_file: cannot read the secret"}},
		{"a file of what is no secret", "listen_file: /nowhere\n", nil, []string{"unknown setting listen_file"}},
		{"several at once", "a: 1\nb: 2\n", nil, []string{"pawld.yaml:1:1", "pawld.yaml:2:1"}},
		{"admin for all", "admin: {listen: 0.0.0.0:9000}\n", nil, []string{"admin.listen", "is reachable from other machines"}},
		{"admin for all, without a host", "admin: {listen: \":9000\"}\n", nil, []string{"admin.listen", "is reachable from other machines"}},
		{"a public address without TLS", "url: http://pawl.example.com\n", nil, []string{"has no TLS"}},
		{"a level", "log: {level: loud}\n", nil, []string{`"loud" (known: debug, info, warn, error)`}},
		{"blobs", "blobs: {url: /var/lib/pawld}\n", nil, []string{"neither file:///FOLDER nor s3://BUCKET"}},
		{"unknown variable", "", []string{"PAWLD_DATABASE_ULR=x"}, []string{"unknown setting PAWLD_DATABASE_ULR: did you mean PAWLD_DATABASE_URL?"}},
		{"both of them", "", []string{"PAWLD_DATABASE_URL=x", "PAWLD_DATABASE_URL_FILE=y"}, []string{"both set"}},
		{"a variable's value", "", []string{"PAWLD_DATABASE_MIGRATE=perhaps"}, []string{`PAWLD_DATABASE_MIGRATE: "perhaps" is neither true nor false`}},
		{"proxies", "proxies: [proxy.example.com]\n", nil, []string{"is not a network such as 10.0.0.0/8"}},
		{"a short secret", "login: {cookie_secret: short}\n", nil, []string{"it has 5 bytes"}},
		{"a port for agents without Temporal", "fleet: {listen: 127.0.0.1:1}\n", nil, []string{"fleet.listen (", "it needs fleet.address", "it needs fleet.secret"}},
		{"a short secret for agents", "fleet: {secret: short}\n", nil, []string{"fleet.secret (", "it has 5 bytes"}},
		{"half a login", "login: {issuer: https://login.example.com}\n", nil, []string{"login.issuer and login.client_id must be set together"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(dir, "pawld.yaml")
			write(t, path, tc.file)
			code, out, errs := pawld(t, tc.env, "config", "check", "--offline", "--config", path)
			if code != exitUsage || out != "" {
				t.Errorf("exit %d, printed %q", code, out)
			}
			for _, want := range tc.says {
				if !strings.Contains(errs, want) {
					t.Errorf("it says\n%s\nwant %q", errs, want)
				}
			}
		})
	}
}

// The environment overrides the file, and a secret can be in its own file.
func TestConfigOrder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pawld.yaml"), "listen: 127.0.0.1:1\ndatabase: {connections: 7}\n")
	write(t, filepath.Join(dir, "url"), "postgres://u@h/d\n")
	g := &globals{IO: &IO{Environ: []string{
		"PAWLD_CONFIG=" + filepath.Join(dir, "pawld.yaml"), "PAWLD_LISTEN=127.0.0.1:2", "PAWLD_DATABASE_URL_FILE=" + filepath.Join(dir, "url"), "STATE_DIRECTORY=/var/lib/pawld",
		"PAWLD_FAILPOINT=x", // not a setting, and not a mistake
	}}}
	c, err := g.load()
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:2" || c.URL != "http://127.0.0.1:2" || c.Database.Connections != 7 || c.Database.URL.Reveal() != "postgres://u@h/d" || c.Database.MigrateURL.Reveal() != "postgres://u@h/d" {
		t.Errorf("%+v", c)
	}
	if c.Blobs.URL != "file:///var/lib/pawld/blobs" || c.Shutdown.Drain != 25*time.Second {
		t.Errorf("%+v", c)
	}
}

// The reference lists every setting, and no other.
func TestConfigIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/server-config.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, s := range defaults(environment{"HOME": "~"}).settings() {
		row := fmt.Sprintf("| `%s` | %s | %s |", s.key, strings.Trim(shown(s.value), `"`), s.about)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/reference/server-config.md lacks\n%s", row)
		}
		rows = append(rows, row)
	}
	for line := range strings.Lines(string(page)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| `") && !slices.Contains(rows, line) {
			t.Errorf("docs/reference/server-config.md has a setting that does not exist, or not so:\n%s", line)
		}
	}
}

func FuzzConfigFile(f *testing.F) {
	for _, text := range []string{"", "listen: 127.0.0.1:1\nlog: {level: info}\n", "ci: {issuers: [a, b]}", "database: {url_file: x}", "a: &a [*a]", "? {a: b}\n: c", "<<: {a: 1}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(_ *testing.T, text []byte) {
		c := defaults(environment{})
		if c.readFile("f", text) == nil {
			_ = c.finish()
		}
	})
}

// config check fetches the keys of an issuer only if the server would.
func TestConfigCheckAsksWhomTheServerAsks(t *testing.T) {
	env := []string{"PAWLD_BLOBS_URL=file://" + t.TempDir(), "PAWLD_CI_ISSUERS=https://127.0.0.1:1"}
	for _, test := range []struct{ url, says string }{
		{"http://127.0.0.1:7295", "-     keys of https://127.0.0.1:1: not checked"},
		{"https://pawl.example.com", "FAIL  keys of https://127.0.0.1:1: "},
	} {
		code, out, _ := pawld(t, append(env, "PAWLD_URL="+test.url), "config", "check")
		if code != exitNo || !strings.Contains(out, test.says) || !strings.Contains(out, "FAIL  database: not set") {
			t.Errorf("%s: exit %d:\n%s", test.url, code, out)
		}
	}
}

func TestCommandsNeedADatabase(t *testing.T) {
	for _, args := range [][]string{{"serve"}, {"migrate"}} {
		code, _, errs := pawld(t, nil, args...)
		if code != exitUsage || !strings.Contains(errs, "PAWLD_DATABASE_URL") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
