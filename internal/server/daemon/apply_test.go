package daemon

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const projectsFile = `
projects:
  kernels:
    name: Kernels
    public: true
    repository: https://github.com/octo/kernels
    quotas: {points_a_day: 1000, fork_points_a_day: 10}
    members:
      - {issuer: https://login.example.com, subject: "4711", role: writer}
    rules:
      - {repository_id: 4711, owner_id: 42, workflow: .github/workflows/pawl.yml}
    hooks:
      - {kind: slack, url_file: SECRET}
  other: {}
`

func TestApply(t *testing.T) {
	o := newOperated(t)
	dir := t.TempDir()
	secret, file := filepath.Join(dir, "secret"), filepath.Join(dir, "projects.yaml")
	write(t, secret, "https://hooks.example.com/T000/B000/orchid\n")
	text := strings.ReplaceAll(projectsFile, "SECRET", secret)
	write(t, file, text)

	would := o.want(0, []string{"kernels: create the project; set name to Kernels, public to true", "kernels: give 4711 at https://login.example.com the role writer", "2 projects: would change 5 things, left 0"}, "apply", file, "--dry-run")
	if strings.Contains(would, "orchid") {
		t.Errorf("the output contains the address of a hook: %s", would)
	}
	if out := o.want(0, nil, "project", "list"); out != "" {
		t.Fatalf("a dry run made %s", out)
	}
	o.want(0, []string{"add the hook slack at https://hooks.example.com/...", "2 projects: changed 5 things"}, "apply", file)
	o.want(0, []string{"2 projects: changed 0 things, left 0 things"}, "apply", file)
	o.want(0, []string{"https://github.com/octo/kernels", "public"}, "project", "list")
	o.want(0, []string{"writer  4711 (4711 at https://login.example.com)"}, "member", "list", "kernels")

	// Without --prune, entries that are no longer in the file stay. Sections that the file does not have always stay.
	text = strings.Replace(text, `subject: "4711", role: writer`, `subject: "4712", role: viewer`, 1)
	before, _, _ := strings.Cut(text, "    rules:")
	text = before + "    hooks: []\n"
	write(t, file, text)
	o.want(0, []string{"not in the file, kept without --prune: writer 4711", "1 project: changed 1 thing, left 2 things"}, "apply", file)
	o.want(0, []string{"remove writer 4711", "remove the hook slack at", "changed 2 things, left 0"}, "apply", file, "--prune")
	o.want(0, []string{"repository 4711"}, "rule", "list", "kernels")
	o.want(0, []string{"other"}, "project", "list")
	if out := o.want(0, []string{"project.apply", "remove writer 4711"}, "export", "kernels"); strings.Contains(out, "orchid") {
		t.Error("the audit log has the address of a hook")
	}

	for bad, words := range map[string]string{
		"projects: {a: {titel: x}}": "titel", "projects: {}": "lists no projects", "projects: {a: {}}\n---\nx: 1": "must be one YAML document",
		"projects: {A B: {}}": "must be up to 64", "projects: {a: {members: [{subject: x, role: king, issuer: 'https://x'}]}}": "king",
		"projects: {a: {rules: [{repository_id: 1}]}}": "a:", "projects: {a: {hooks: [{kind: slack, url: 'https://10.0.0.1/'}]}}": "private address",
		"projects: {a: {quotas: {series: -1}}}": "must not be negative",
	} {
		write(t, file, bad)
		o.want(4, []string{words}, "apply", file)
	}
}

func TestHooksAreTried(t *testing.T) {
	o := newOperated(t)
	o.env = append(o.env, "PAWLD_HOOKS_ALLOW_PRIVATE=true")
	status, told := http.StatusOK, ""
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 10_000)
		n, _ := r.Body.Read(body)
		told = string(body[:n])
		w.WriteHeader(status)
	}))
	defer receiver.Close()
	o.want(0, nil, "project", "create", "kernels")
	o.want(0, []string{"hook 1 of kernels: slack at http://127.0.0.1"}, "hook", "add", "kernels", "--url", receiver.URL)
	o.want(0, []string{"accepted the test message"}, "hook", "test", "kernels", "1")
	if !strings.Contains(told, "this is a test of the hook") {
		t.Errorf("the hook received %s", told)
	}
	status = http.StatusGone
	o.want(1, []string{"did not accept the test message", "410"}, "hook", "test", "kernels", "1")
	o.want(4, []string{"kernels has no hook 7"}, "hook", "test", "kernels", "7")
	o.want(4, []string{"needs a secret"}, "hook", "add", "kernels", "--kind", "json", "--url", receiver.URL)
	o.want(0, []string{"slack at"}, "hook", "list", "kernels")
	o.want(0, []string{"hook 1 of kernels was removed"}, "hook", "remove", "kernels", "1")
	o.want(4, []string{"kernels has no hook 1"}, "hook", "remove", "kernels", "1")
	o.want(4, []string{"is not the number of a hook"}, "hook", "remove", "kernels", "first")
}

// config check creates no folders.
func TestConfigCheckMakesNoFolder(t *testing.T) {
	o := newOperated(t)
	blobs := filepath.Join(t.TempDir(), "a", "blobs")
	o.env = append(o.env, "PAWLD_BLOBS_URL=file://"+blobs)
	o.want(0, []string{"ok    files"}, "config", "check", "--config", empty(t))
	if _, err := os.Stat(filepath.Dir(blobs)); err == nil {
		t.Error("a folder was made")
	}
	place := filepath.Join(t.TempDir(), "file")
	write(t, place, "x")
	o.env = append(o.env, "PAWLD_BLOBS_URL=file://"+place+"/blobs")
	o.want(1, []string{"FAIL  files"}, "config", "check", "--config", empty(t))
}

func TestAnAddressThatIsTaken(t *testing.T) {
	o := newOperated(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o.env = append(o.env, "PAWLD_ADMIN_LISTEN=off")
	o.want(3, []string{"choose another address with --addr"}, "serve", "--addr", l.Addr().String(), "--config", empty(t))
}
