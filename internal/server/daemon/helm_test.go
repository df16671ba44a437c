package daemon

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const chart = "../../../deploy/helm"

// helm runs the real program, which not every machine has.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	tool, err := exec.LookPath("helm")
	if err != nil {
		t.Skip(err)
	}
	args = append(args, "--kube-version=1.31.0") // a helm that go install built knows no release
	home := t.TempDir()
	c := exec.CommandContext(t.Context(), tool, args...)
	c.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	out, err := c.CombinedOutput()
	return string(out), err
}

// manifest is what the tests look at of an object of Kubernetes.
type manifest struct {
	Kind     string
	Metadata struct {
		Name        string
		Annotations map[string]string
	}
	Data map[string]string
	Spec struct {
		Strategy struct{ Type string }
		Ports    []struct {
			Name string
			Port int
		}
		Template struct{ Spec podSpec }
		Rules    []struct{ Host string }
	}
}

type podSpec struct {
	EnableServiceLinks *bool          `yaml:"enableServiceLinks"`
	Automount          *bool          `yaml:"automountServiceAccountToken"`
	SecurityContext    map[string]any `yaml:"securityContext"`
	InitContainers     []container    `yaml:"initContainers"`
	Containers         []container
	Volumes            []struct {
		Name      string
		Projected struct {
			Sources []struct {
				Secret struct {
					Name  string
					Items []struct{ Key, Path string }
				}
			}
		}
	}
}

type container struct {
	Image           string
	Args            []string
	Env             []struct{ Name, Value string }
	SecurityContext struct {
		ReadOnly *bool `yaml:"readOnlyRootFilesystem"`
		Escalate *bool `yaml:"allowPrivilegeEscalation"`
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
}

// rendered is what the chart makes of a file of values, by kind. The job that prepares Temporal is called FleetJob.
func rendered(t *testing.T, values string) map[string]manifest {
	t.Helper()
	out, err := helm(t, "template", "pawl", chart, "-f", filepath.Join(chart, "ci", values))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := map[string]manifest{}
	for d := yaml.NewDecoder(strings.NewReader(out)); ; {
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if m.Kind == "Job" && strings.HasSuffix(m.Metadata.Name, "-fleet") {
			m.Kind = "FleetJob"
		}
		if _, twice := all[m.Kind]; twice || m.Kind == "" {
			t.Fatalf("a second %q", m.Kind)
		}
		all[m.Kind] = m
	}
}

func TestChartLints(t *testing.T) {
	for _, values := range []string{"volume.yaml", "bucket.yaml"} {
		if out, err := helm(t, "lint", "--strict", chart, "-f", filepath.Join(chart, "ci", values)); err != nil {
			t.Errorf("%s: %v\n%s", values, err, out)
		}
	}
}

// What the chart makes is what pawld starts with, and no pod can do more than it needs.
func TestChartStartsPawld(t *testing.T) {
	kinds := map[string][]string{
		"volume.yaml": {"ConfigMap", "Deployment", "PersistentVolumeClaim", "Service", "ServiceAccount"},
		"bucket.yaml": {"ConfigMap", "Deployment", "FleetJob", "Ingress", "Job", "PodDisruptionBudget", "PodMonitor", "Service", "ServiceAccount"},
	}
	for values, want := range kinds {
		t.Run(values, func(t *testing.T) {
			all := rendered(t, values)
			if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
				t.Errorf("it makes %v, want %v", got, want)
			}
			settings := all["ConfigMap"].Data["pawld.yaml"]
			for _, kind := range []string{"Deployment", "Job", "FleetJob"} {
				m, ok := all[kind]
				if !ok {
					continue
				}
				if got := checkPod(t, m.Spec.Template.Spec, settings); got.Database.URL.IsZero() != (kind == "FleetJob") {
					t.Errorf("%s with the database %v", kind, got.Database.URL)
				}
			}
		})
	}
}

// checkPod starts as much of pawld as a pod would: it reads its settings.
func checkPod(t *testing.T, p podSpec, settings string) *config {
	t.Helper()
	if p.EnableServiceLinks == nil || *p.EnableServiceLinks {
		t.Error("Kubernetes would set PAWLD_PORT, which pawld refuses")
	}
	if p.Automount == nil || *p.Automount || p.SecurityContext["runAsNonRoot"] != true {
		t.Errorf("it may be root, or talk to the cluster: %+v", p)
	}
	for _, c := range slices.Concat(p.InitContainers, p.Containers) {
		if c.SecurityContext.ReadOnly == nil || !*c.SecurityContext.ReadOnly || c.SecurityContext.Escalate == nil || *c.SecurityContext.Escalate {
			t.Error("it can write its own image, or gain privileges")
		}
	}
	c := p.Containers[0]
	dir := t.TempDir()
	for _, v := range p.Volumes {
		for _, s := range v.Projected.Sources {
			for _, item := range s.Secret.Items {
				if item.Path == "database.migrate_url" {
					t.Error("a server sees the owner's password")
				}
				if err := os.WriteFile(filepath.Join(dir, item.Path), []byte("postgres://u:p@h/database-of-32-bytes-or-more\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var environ []string
	for _, e := range c.Env {
		knownVariable(t, e.Name)
		environ = append(environ, e.Name+"="+strings.Replace(e.Value, "/etc/pawld-secrets", dir, 1))
	}
	g := &globals{IO: &IO{Environ: environ}}
	if slices.Contains(c.Args, "--config") {
		g.config = filepath.Join(dir, "pawld.yaml")
		if err := os.WriteFile(g.config, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := g.load()
	if err != nil {
		t.Fatalf("pawld %v would not start: %v\n%s", c.Args, err, settings)
	}
	return got
}

// A job creates the namespace of the fleet in Temporal, and only if there is a fleet.
func TestChartPreparesTemporal(t *testing.T) {
	out, err := helm(t, "template", "pawl", chart, "-f", filepath.Join(chart, "ci/bucket.yaml"), "--set", "settings.fleet.namespace=gates", "--set", "secrets.fleet\\.database_url.name=a,secrets.fleet\\.database_url.key=b")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(out, "FLEET_DATABASE_URL") {
		t.Error("a server sees the password of Temporal's databases")
	}
	var job manifest
	for d := yaml.NewDecoder(strings.NewReader(out)); !strings.HasSuffix(job.Metadata.Name, "-fleet"); {
		job = manifest{}
		if err := d.Decode(&job); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(job.Metadata.Annotations["helm.sh/hook"], "pre-install,pre-upgrade") {
		t.Errorf("it is no hook: %v", job.Metadata.Annotations)
	}
	p := job.Spec.Template.Spec
	for i, steps := range [][]container{p.InitContainers, p.Containers} {
		if len(steps) != 1 || !slices.Equal(steps[0].Args, []string{"fleet", []string{"setup", "check"}[i]}) || len(steps[0].Env) != 2 {
			t.Fatalf("%+v", steps)
		}
		got, err := (&globals{IO: &IO{Environ: []string{steps[0].Env[0].Name + "=" + steps[0].Env[0].Value, steps[0].Env[1].Name + "=" + steps[0].Env[1].Value}}}).load()
		if err != nil || got.Fleet.Address != "temporal-frontend:7233" || got.Fleet.Namespace != "gates" {
			t.Errorf("%+v, %v", got.Fleet, err)
		}
	}
}

// A ServiceMonitor finds the metrics through a service of their own, which is not the one that people reach.
func TestChartHasServiceMonitor(t *testing.T) {
	out, err := helm(t, "template", "pawl", chart, "-f", filepath.Join(chart, "ci/bucket.yaml"), "--set", "monitor.kind=ServiceMonitor", "--show-only", "templates/monitor.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"kind: ServiceMonitor", "kind: Service\n", "clusterIP: None", "  endpoints:\n", "component: metrics", "pawld-metrics"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "PodMonitor") {
		t.Error("it has both monitors: everything would be counted twice")
	}
	if out, err := helm(t, "template", "pawl", chart, "-f", filepath.Join(chart, "ci/bucket.yaml"), "--set", "monitor.kind=Monitor"); err == nil {
		t.Errorf("an unknown kind was taken:\n%s", out)
	}
}

// The owner migrates, and only he: the servers do not, and are not given his password.
func TestChartMigrates(t *testing.T) {
	all := rendered(t, "bucket.yaml")
	job := all["Job"]
	if !strings.Contains(job.Metadata.Annotations["helm.sh/hook"], "pre-upgrade") || !slices.Equal(job.Spec.Template.Spec.Containers[0].Args, []string{"migrate"}) {
		t.Errorf("%+v", job)
	}
	if name := job.Spec.Template.Spec.Volumes[0].Projected.Sources[0].Secret.Name; name != "pawld-owner" {
		t.Errorf("it migrates with the secret %s", name)
	}
	var set struct {
		Database struct {
			Migrate     *bool
			Connections int
		}
	}
	if err := yaml.Unmarshal([]byte(all["ConfigMap"].Data["pawld.yaml"]), &set); err != nil || set.Database.Migrate == nil || *set.Database.Migrate || set.Database.Connections != 30 {
		t.Errorf("%+v: %v", set, err)
	}
	if ports := all["Service"].Spec.Ports; len(ports) != 2 || ports[1].Name != "agents" || ports[1].Port != 7296 {
		t.Errorf("ports %+v, want one for agents", ports)
	}
	if host := all["Ingress"].Spec.Rules[0].Host; host != "pawl.example.com" {
		t.Errorf("the ingress is for %s", host)
	}
	if size := all["Ingress"].Metadata.Annotations["nginx.ingress.kubernetes.io/proxy-body-size"]; size != "1g" {
		t.Errorf("the ingress takes %q, and files have up to 1 GiB", size)
	}
}

// What is missing or cannot be is said before anything reaches a cluster.
func TestChartRefuses(t *testing.T) {
	least := []string{"template", "pawl", chart, "-f", filepath.Join(chart, "ci/volume.yaml")}
	for set, want := range map[string]string{
		"url=":                        "url: say what people type",
		"url=http://pawl.example":     "url",
		"image.tag=":                  "image.tag or image.digest",
		"image.repository=":           "image.repository",
		"secrets.database\\.url=null": "database.url",
		"replicas=2":                  "several servers need one bucket",
		"replica=2":                   "replica",
	} {
		if out, err := helm(t, append(slices.Clone(least), "--set", set)...); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, want %q in\n%s", set, err, want, out)
		}
	}
}

// What needs no helm: the examples are settings that pawld knows, and every value that has
// a default is described in the schema.
func TestChartFiles(t *testing.T) {
	for _, values := range []string{"ci/volume.yaml", "ci/bucket.yaml", "values.yaml"} {
		var v struct {
			Secrets  map[string]struct{ Name, Key string }
			Settings yaml.Node
			Rest     map[string]any `yaml:",inline"`
		}
		if err := yaml.Unmarshal(readDeploy(t, "helm/"+values), &v); err != nil {
			t.Fatal(err)
		}
		for setting := range v.Secrets {
			knownVariable(t, variable(setting)+"_FILE")
		}
		var text bytes.Buffer
		if err := yaml.NewEncoder(&text).Encode(&v.Settings); err != nil {
			t.Fatal(err)
		}
		if err := defaults(environment{}).readFile(values, text.Bytes()); err != nil && v.Settings.Kind != 0 {
			t.Error(err)
		}
		var schema struct{ Properties map[string]any }
		if err := yaml.Unmarshal(readDeploy(t, "helm/values.schema.json"), &schema); err != nil {
			t.Fatal(err)
		}
		for key := range v.Rest {
			if schema.Properties[key] == nil {
				t.Errorf("%s: the schema has no %s", values, key)
			}
		}
	}
}
