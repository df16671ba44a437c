package agent

import (
	"archive/zip"
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

var (
	tools = strings.Repeat("a", 64)
	entry = "ab/" + strings.Repeat("ab", 32) + "/"
)

// elsewhere makes the host one that only builds, and returns a lease for it. builds is what pawl leaves.
func (w *world) elsewhere(t *testing.T, builds map[string]string) job.Lease {
	t.Helper()
	w.agent.id.Devices, w.agent.host, w.agent.stale = nil, job.Host{Tools: tools}, make(chan error, 1)
	for name, text := range builds {
		path := filepath.Join(w.dir, "made", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := w.build()
	l.Device, l.Host = "", job.Host{Tools: tools, Arch: "sm_89"}
	return l
}

func TestElsewhere_BuildsAreDelivered(t *testing.T) {
	for _, c := range []struct {
		name   string
		made   map[string]string
		broken bool
		want   []string // files of the archive; nil for none
		stale  bool
	}{
		{
			name: "built", made: map[string]string{"host-tools": tools, entry + "entry.json": "{}", entry + "0": "kernel", "tmp/new-1/0": "unfinished"},
			want: []string{entry + "0", entry + "entry.json", "host-tools"},
		},
		{name: "nothing that can be handed over", made: map[string]string{"host-tools": tools}},
		{name: "no folder: both sides are identical"},
		{name: "a side does not build", made: map[string]string{"host-tools": tools, entry + "0": "base"}, broken: true},
		{name: "the tools changed", made: map[string]string{"host-tools": strings.Repeat("b", 64), entry + "0": "kernel"}, stale: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			l := w.elsewhere(t, c.made)
			if c.broken {
				if err := os.WriteFile(filepath.Join(w.dir, "broken"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w.agent.finish(t.Context(), w.keep(t, l, "token"))
			if run := w.lines("runs"); len(run) != 1 || !strings.Contains(run[0], " --build-only --arch=sm_89 --builds=") {
				t.Errorf("pawl was called with %q", run)
			}
			ended := w.engine.endings()
			if len(ended) != 1 || (ended[0].err != nil) != c.stale || len(w.agent.stale) > 0 != c.stale {
				t.Fatalf("ended as %+v, stale %v", ended, len(w.agent.stale))
			}
			r := ended[0].result
			if r.Record != "" || (r.Builds != "") != (c.want != nil) {
				t.Fatalf("the result %+v: want builds %v and never documents", r, c.want)
			}
			if c.want != nil {
				z, err := zip.NewReader(bytes.NewReader(w.files[job.DocumentPath+r.Builds]), int64(len(w.files[job.DocumentPath+r.Builds])))
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, f := range z.File {
					names = append(names, f.Name)
				}
				if !slices.Equal(names, c.want) {
					t.Errorf("delivered %q", names)
				}
			}
			if left := w.leases(t); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// archive returns a zip of these files.
func archive(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write([]byte("text of " + name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestElsewhere_BuildsAreUsed(t *testing.T) {
	good := []string{"host-tools", entry + "entry.json", entry + "0"}
	for _, c := range []struct {
		name   string
		host   job.Host // of the agent
		names  []string
		gone   bool
		wanted bool
	}{
		{name: "equal tools", host: job.Host{Tools: tools}, names: good, wanted: true},
		{name: "the agent takes none", names: good},
		{name: "other tools", host: job.Host{Tools: strings.Repeat("b", 64)}, names: good},
		{name: "gone", host: job.Host{Tools: tools}, names: good, gone: true},
		{name: "out of the folder", host: job.Host{Tools: tools}, names: append([]string{"../work/code"}, good...)},
		{name: "an absolute path", host: job.Host{Tools: tools}, names: append([]string{"/etc/passwd"}, good...)},
		{name: "another file", host: job.Host{Tools: tools}, names: append([]string{entry + "run.sh"}, good...)},
		{name: "a name twice", host: job.Host{Tools: tools}, names: append([]string{"host-tools"}, good...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.agent.host = c.host
			builds := archive(t, c.names...)
			w.files[job.BundlePath+digestOf(builds)] = builds
			l := w.lease
			l.Builds, l.Host = digestOf(builds), job.Host{Tools: tools}
			d := w.keep(t, l, "token")
			if c.gone {
				w.answer = func(r *http.Request) int {
					if r.URL.Path == job.BundlePath+l.Builds {
						return http.StatusNotFound
					}
					return 0
				}
			}
			w.agent.finish(t.Context(), d)
			w.delivered(t, 1)
			run := w.lines("runs")
			if len(run) != 1 || strings.Contains(run[0], "--builds=") != c.wanted || strings.Contains(run[0], "--build-only") {
				t.Errorf("pawl was called with %q", run)
			}
		})
	}
}

// What a build leaves may contain the name of its folder: it is the same on both hosts.
func TestElsewhere_SameFolder(t *testing.T) {
	w := newWorld(t)
	built := w.elsewhere(t, nil)
	d := w.keep(t, built, "token of the build")
	measured := w.lease
	measured.Builds, measured.Host = strings.Repeat("c", 64), built.Host
	if m := w.keep(t, measured, "token"); m.path != d.path {
		t.Errorf("built in %s, measured in %s", d.path, m.path)
	}
}

func TestElsewhere_Admitted(t *testing.T) {
	card, builder := job.Lease{Device: "cpu:0"}, job.Lease{Build: true, Host: job.Host{Tools: tools}}
	other, checked := builder, builder
	other.Host.Tools, checked.Tier, checked.Trust = strings.Repeat("b", 64), tier.Checked, "checked"
	for _, c := range []struct {
		name    string
		devices []string
		lease   job.Lease
		want    bool
	}{
		{"a card's host measures", []string{"cpu:0"}, card, true},
		{"a card's host does not build for others", []string{"cpu:0"}, builder, false},
		{"a host that only builds does not measure", nil, card, false},
		{"a host that only builds", nil, builder, true},
		{"other tools", nil, other, false},
		{"another tier", nil, checked, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &Agent{id: identity{Devices: c.devices}, host: job.Host{Tools: tools}}
			if err := a.admit(c.lease); (err == nil) != c.want {
				t.Errorf("%v, want admitted: %v", err, c.want)
			}
		})
	}
}
