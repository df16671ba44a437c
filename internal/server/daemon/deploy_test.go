package daemon

import (
	"encoding/json"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.yaml.in/yaml/v3"
)

func readDeploy(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What systemd itself says of the unit: the reference names the figure.
func TestUnitIsHardened(t *testing.T) {
	text := string(readDeploy(t, "pawld.service"))
	for _, variable := range regexp.MustCompile(`PAWLD_[A-Z_]+`).FindAllString(text, -1) {
		knownVariable(t, variable)
	}
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip(err)
	}
	out, err := exec.CommandContext(t.Context(), tool, "security", "--offline=true", "--no-pager", "../../../deploy/pawld.service").CombinedOutput()
	if err != nil {
		t.Skipf("this systemd cannot tell: %v\n%s", err, out)
	}
	found := regexp.MustCompile(`exposure level for pawld.service: ([0-9.]+)`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("it tells no level:\n%s", out)
	}
	if level, err := strconv.ParseFloat(string(found[1]), 64); err != nil || level > 1.5 {
		t.Errorf("the exposure is %s, want at most 1.5", found[1])
	}
}

// What docs/how-to/server.md has people write down works, for the service and for whoever
// administers it: both settle on the same database and the same folder of files. The
// service sees nothing of /etc/pawld but what the unit hands on to it.
func TestUnitReadsItsSettings(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/how-to/server.md")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile("(?s)with `/etc/pawld/pawld.yaml`:\n```yaml\n(.*?)```").FindSubmatch(doc)
	if text == nil {
		t.Fatal("the page has no pawld.yaml")
	}
	etc, handed := t.TempDir(), t.TempDir()
	write(t, filepath.Join(etc, "pawld.yaml"), string(text[1]))
	write(t, filepath.Join(etc, "database-url"), "postgres://pawld:secret@127.0.0.1/pawl\n")
	unit := string(readDeploy(t, "pawld.service"))
	for _, line := range regexp.MustCompile(`(?m)^LoadCredential=(.+):/etc/pawld/(.+)$`).FindAllStringSubmatch(unit, -1) {
		file, err := os.ReadFile(filepath.Join(etc, line[2]))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(handed, line[1]), string(file))
	}
	command := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/pawld serve --config \$\{CREDENTIALS_DIRECTORY\}/(.+)$`).FindStringSubmatch(unit)
	if command == nil {
		t.Fatal("the service reads a file that it cannot open")
	}
	service, err := (&globals{IO: &IO{Environ: []string{"STATE_DIRECTORY=/var/lib/pawld", "RUNTIME_DIRECTORY=/run/pawld"}}, config: filepath.Join(handed, command[1])}).load()
	if err != nil {
		t.Fatal(err)
	}
	admin, err := (&globals{IO: &IO{Environ: []string{"HOME=/root"}}, config: filepath.Join(etc, "pawld.yaml")}).load()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := admin.Database.URL.Reveal(), service.Database.URL.Reveal(); got != want || want == "" {
		t.Errorf("the service uses the database %q, whoever administers it %q", want, got)
	}
	if admin.Blobs.URL != service.Blobs.URL || !strings.HasPrefix(admin.Blobs.URL, "file:///var/lib/pawld/") {
		t.Errorf("the service keeps files at %s, whoever administers it looks at %s", service.Blobs.URL, admin.Blobs.URL)
	}
}

// The first lines of the compose file, as typed, put everything where it is looked for.
func TestComposeBegins(t *testing.T) {
	root := t.TempDir()
	script := "set -e\n" +
		"go() { while [ $# -gt 0 ]; do [ \"$1\" != -o ] || touch \"$2\"; shift; done; }\n" +
		"openssl() { echo 0123; }\ncp() { touch \"$2/${1##*/}\"; }\ndocker() { :; }\n"
	lines := regexp.MustCompile(`(?m)^#   (.+)$`).FindAllSubmatch(readDeploy(t, "compose.yaml"), -1)
	for _, line := range lines {
		script += string(line[1]) + "\n"
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = root
	if err := os.Mkdir(filepath.Join(root, "deploy"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var c composeFile
	if err := yaml.Unmarshal(readDeploy(t, "compose.yaml"), &c); err != nil {
		t.Fatal(err)
	}
	var want []string // compose looks beside its file
	for _, secret := range c.Secrets {
		want = append(want, filepath.Join("deploy", secret.File))
	}
	for _, source := range regexp.MustCompile(`(?m)^COPY (?:--\S+ )*(\S+) `).FindAllSubmatch(readDeploy(t, "Containerfile"), -1) {
		want = append(want, filepath.Join("deploy", "../dist/pawld", string(source[1])))
	}
	if len(want) != 8 {
		t.Errorf("%d files are wanted, not 5 secrets and 3 for the image: %q", len(want), want)
	}
	for _, file := range want {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Error(err)
		}
	}
	for file, user := range map[string]string{"database-url": "pawld", "migrate-url": "pawl_owner"} {
		address, err := os.ReadFile(filepath.Join(root, "deploy/secrets", file))
		if err != nil || string(address) != "postgres://"+user+":0123@postgres:5432/pawl?sslmode=disable\n" {
			t.Errorf("%q, %v", address, err)
		}
	}
}

type composeFile struct {
	Services map[string]struct {
		Environment map[string]string
		Secrets     []string
		Ports       []string
		Volumes     []string
		Networks    []string
		ReadOnly    bool                                  `yaml:"read_only"`
		CapDrop     []string                              `yaml:"cap_drop"`
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
		Healthcheck map[string]any
		Restart     string
		Command     []string
		Configs     []struct{ Source, Target string }
		Rest        map[string]any `yaml:",inline"`
	}
	Configs  map[string]struct{ File string }
	Networks map[string]struct{ Internal bool }
	Volumes  map[string]map[string]any
	Secrets  map[string]struct{ File string }
	Name     string
}

// The compose file holds together: everything that is used is declared, settings are
// settings, and nobody outside the machine reaches anything.
func TestComposeFile(t *testing.T) {
	c := readCompose(t, "compose.yaml")
	checkCompose(t, c)
	// The owner migrates, then the server starts, which cannot.
	migrate := c.Services["migrate"]
	if c.Services["pawld"].DependsOn["migrate"].Condition != "service_completed_successfully" || migrate.Restart != "no" || !slices.Equal(migrate.Command, []string{"migrate"}) {
		t.Error("the server does not wait for the migration")
	}
	if slices.Contains(c.Services["pawld"].Secrets, "migrate-url") || c.Services["pawld"].Environment["PAWLD_DATABASE_MIGRATE"] != "false" {
		t.Error("the server migrates, or sees the owner's password")
	}
	p := c.Services["pawld"]
	if !p.ReadOnly || !slices.Equal(p.CapDrop, []string{"ALL"}) || len(c.Services["postgres"].Ports) > 0 {
		t.Error("pawld can write its own image, or PostgreSQL can be reached from outside")
	}
	environ := []string{"PAWLD_DATABASE_URL=postgres://u@h/d"}
	for key, value := range p.Environment {
		if key == "PAWLD_DATABASE_URL_FILE" {
			continue // a file of the container
		}
		environ = append(environ, key+"="+value)
	}
	if _, err := (&globals{IO: &IO{Environ: environ}}).load(); err != nil {
		t.Errorf("pawld would not start with these settings: %v", err)
	}
}

func readCompose(t *testing.T, name string) (c composeFile) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(string(readDeploy(t, name))))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func checkCompose(t *testing.T, c composeFile) {
	t.Helper()
	known := []string{"image", "build", "tmpfs", "security_opt", "stop_grace_period", "shm_size", "profiles"}
	for name, s := range c.Services {
		for key := range s.Rest {
			if !slices.Contains(known, key) {
				t.Errorf("%s: compose has no %s that we know of", name, key)
			}
		}
		for _, secret := range s.Secrets {
			if c.Secrets[secret].File == "" {
				t.Errorf("%s uses the secret %s, which is not declared", name, secret)
			}
		}
		for _, network := range s.Networks {
			if _, ok := c.Networks[network]; !ok {
				t.Errorf("%s uses the network %s, which is not declared", name, network)
			}
		}
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, ok := c.Volumes[source]; !ok && !strings.HasPrefix(source, "../dist/") {
				t.Errorf("%s uses the volume %s, which is not declared", name, source)
			}
		}
		for _, port := range s.Ports {
			if ip := net.ParseIP(strings.Split(port, ":")[0]); !ip.IsLoopback() {
				t.Errorf("%s is open to everybody: %s", name, port)
			}
		}
		for _, config := range s.Configs {
			if info, err := os.Stat("../../../deploy/" + c.Configs[config.Source].File); err != nil || info.Mode()&0o111 == 0 {
				t.Errorf("%s runs %s, which is not executable: %v", name, config.Target, err)
			}
		}
		for other, on := range s.DependsOn {
			if on.Condition == "service_healthy" && c.Services[other].Healthcheck == nil {
				t.Errorf("%s waits for %s to be healthy, which nobody checks", name, other)
			}
		}
	}
}

// The file for a fleet holds together with compose.yaml: it adds settings that exist, and its first lines, as typed, make its files.
func TestComposeFleet(t *testing.T) {
	all, c := readCompose(t, "compose.yaml"), readCompose(t, "compose.fleet.yaml")
	maps.Copy(all.Secrets, c.Secrets)
	for name, s := range c.Services {
		for variable := range s.Environment {
			if strings.HasPrefix(variable, "PAWLD_") {
				knownVariable(t, variable)
			}
		}
		if name != "pawld" && (!s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || len(s.Ports) > 0) {
			t.Errorf("%s can write its own image, or be reached from outside", name)
		}
		if name != "fleet-schema" && slices.Contains(s.Secrets, "temporal-url") {
			t.Errorf("%s sees the password of Temporal's databases", name)
		}
		if name == "pawld" { // the other file has the rest of it
			s.Secrets = append(s.Secrets, all.Services[name].Secrets...)
		}
		all.Services[name] = s
	}
	checkCompose(t, all)
	commands := map[string][]string{"fleet-schema": {"fleet", "schema"}, "fleet-setup": {"fleet", "setup"}}
	for name, want := range commands {
		if got := c.Services[name].Command; !slices.Equal(got, want) {
			t.Errorf("%s runs %q, want %q", name, got, want)
		}
	}
	root := t.TempDir()
	script := "set -e\nopenssl() { echo 0123; }\ndocker() { echo \"$*\" >>docker; }\ngo() { mkdir -p \"$GOBIN\"; touch \"$GOBIN/${2##*/}\"; mv \"$GOBIN\"/*@* \"$GOBIN/$(basename \"${2%@*}\")\"; }\n"
	for _, line := range regexp.MustCompile(`(?m)^#   (.+)$`).FindAllSubmatch(readDeploy(t, "compose.fleet.yaml"), -1) {
		script += string(line[1]) + "\n"
	}
	if err := os.MkdirAll(filepath.Join(root, "deploy/secrets"), 0o755); err != nil { // compose.yaml makes it
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := []string{"docker", "dist/temporal/sql"}
	for _, secret := range c.Secrets {
		files = append(files, filepath.Join("deploy", secret.File))
	}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Error(err)
		}
	}
	if address, err := os.ReadFile(filepath.Join(root, "deploy/secrets/temporal-url")); string(address) != "postgres://temporal:0123@postgres:5432/temporal\n" {
		t.Errorf("%q, %v", address, err)
	}
}

// The roles that deploy/roles.sh makes are enough to migrate and to serve, and neither is a superuser.
func TestComposeRoles(t *testing.T) {
	o := newOperated(t)
	script := regexp.MustCompile("(?s)<<'SQL'\n(.*?)SQL\n").FindSubmatch(readDeploy(t, "roles.sh"))
	if script == nil {
		t.Fatal("there is no SQL in it")
	}
	sql := strings.NewReplacer("create role pawl_app nologin;", "", ":'owner'", "'a'", ":'server'", "'b'", "pawl_owner", "compose_owner", "role pawld", "role compose_server", "database pawl ", "database compose ").Replace(string(script[1]))
	conn, err := pgx.Connect(t.Context(), o.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for one := range strings.SplitSeq(sql, ";") {
		if _, err := conn.Exec(t.Context(), one, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
	}
	at := func(user string) string {
		u, err := url.Parse(o.url)
		if err != nil {
			t.Fatal(err)
		}
		u.User, u.Path = url.User(user), "/compose"
		return u.String()
	}
	o.env = append(o.env, "PAWLD_DATABASE_URL="+at("compose_owner"))
	o.want(0, []string{"applied 0001_start.sql"}, "migrate")
	o.env = append(o.env, "PAWLD_DATABASE_URL="+at("compose_server"), "PAWLD_DATABASE_MIGRATE=false")
	o.want(0, []string{"created kernels"}, "project", "create", "kernels")
	o.want(0, []string{"no problems found"}, "fsck")
	o.want(3, []string{"permission denied"}, "migrate")
}

func knownVariable(t *testing.T, name string) {
	t.Helper()
	for _, s := range defaults(environment{}).settings() {
		if v := variable(s.key); name == v || name == v+"_FILE" {
			return
		}
	}
	t.Errorf("unknown setting %s", name)
}

// Every alert says what to do, and everything is of a form that Prometheus and Grafana
// read; promtool says so itself where it is installed.
func TestAlertsAndDashboard(t *testing.T) {
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	d := yaml.NewDecoder(strings.NewReader(string(readDeploy(t, "alerts.yaml"))))
	d.KnownFields(true)
	if err := d.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	runbook, err := os.ReadFile("../../../docs/how-to/fleet-runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.Count(string(runbook), "\n## Pawld")
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if g.Name == "pawld-fleet" {
				entries--
				if !strings.Contains(string(runbook), "\n## "+r.Alert+"\n") {
					t.Errorf("the runbook has no entry %s", r.Alert)
				}
			}
			if r.Alert == "" || r.Expr == "" || r.Annotations["summary"] == "" || r.Annotations["do"] == "" || !slices.Contains([]string{"page", "morning"}, r.Labels["severity"]) {
				t.Errorf("an alert without a name, a rule, a summary, what to do or whom to wake: %+v", r)
			}
		}
	}
	if entries != 0 {
		t.Errorf("the runbook has %d entries more than there are alerts", entries)
	}
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(readDeploy(t, "dashboard.json"), &board); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, p := range board.Panels {
		if seen[p.ID] || p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d %q: twice, without a title or without a figure", p.ID, p.Title)
		}
		seen[p.ID] = true
	}
	if tool, err := exec.LookPath("promtool"); err == nil {
		if out, err := exec.CommandContext(t.Context(), tool, "check", "rules", "../../../deploy/alerts.yaml").CombinedOutput(); err != nil {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}
