package agent

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
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
	w.agent.id.Devices, w.agent.stale = nil, make(chan error, 1)
	w.agent.host.Store(&job.Host{Tools: tools})
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
				dir := filepath.Join(t.TempDir(), "builds")
				if err := os.WriteFile(dir+".tar.gz", w.files[job.DocumentPath+r.Builds], 0o600); err != nil {
					t.Fatal(err)
				}
				if err := unpackBuilds(dir+".tar.gz", dir); err != nil {
					t.Fatal(err)
				}
				for name := range c.made {
					text, err := os.ReadFile(filepath.Join(dir, name))
					if wanted := slices.Contains(c.want, name); (err == nil) != wanted || wanted && string(text) != c.made[name] {
						t.Errorf("%s was delivered as %q, %v", name, text, err)
					}
				}
			}
			if left := w.leases(t); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// file is one of an archive.
type file struct {
	name string
	kind byte
	size int64 // that it claims; 0 for what it has
}

// archive returns a .tar.gz of these files.
func archive(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	a := tar.NewWriter(z)
	for _, f := range files {
		text := "text of " + f.name
		h := &tar.Header{Name: f.name, Typeflag: f.kind, Mode: 0o600, Size: max(f.size, int64(len(text)))}
		if f.kind != tar.TypeReg {
			h.Size, h.Linkname, text = 0, "/etc/passwd", ""
		}
		err := a.WriteHeader(h)
		if err == nil {
			_, err = a.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = a.Close() // fails if a file has less than it claims
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestElsewhere_BuildsAreUsed(t *testing.T) {
	regular := func(names ...string) (list []file) {
		for _, name := range names {
			list = append(list, file{name: name, kind: tar.TypeReg})
		}
		return list
	}
	good := slices.Clip(regular("host-tools", entry+"entry.json", entry+"0")) // each case appends to it
	for _, c := range []struct {
		name   string
		host   job.Host // of the agent
		files  []file
		gone   bool
		wanted bool
	}{
		{name: "equal tools", host: job.Host{Tools: tools}, files: good, wanted: true},
		{name: "the agent takes none", files: good},
		{name: "other tools", host: job.Host{Tools: strings.Repeat("b", 64)}, files: good},
		{name: "gone", host: job.Host{Tools: tools}, files: good, gone: true},
		{name: "out of the folder", host: job.Host{Tools: tools}, files: append(good, regular("../work/code")...)},
		{name: "an absolute path", host: job.Host{Tools: tools}, files: append(good, regular("/etc/passwd")...)},
		{name: "another file", host: job.Host{Tools: tools}, files: append(good, regular(entry+"run.sh")...)},
		{name: "a name twice", host: job.Host{Tools: tools}, files: append(good, regular("host-tools")...)},
		{name: "a link", host: job.Host{Tools: tools}, files: append(good, file{name: entry + "1", kind: tar.TypeSymlink})},
		{name: "a file that ends early", host: job.Host{Tools: tools}, files: append(good, file{name: entry + "1", kind: tar.TypeReg, size: 1 << 40})},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.agent.host.Store(&c.host)
			builds := archive(t, c.files...)
			w.files[job.BundlePath+digestOf(builds)] = builds
			l := w.lease
			l.Builds, l.Host = digestOf(builds), job.Host{Tools: tools}
			d := w.keep(t, l, "token")
			if err := os.MkdirAll(filepath.Join(d.file("builds"), "of an earlier attempt"), 0o700); err != nil {
				t.Fatal(err)
			}
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
			a := &Agent{id: identity{Devices: c.devices}}
			a.host.Store(&job.Host{Tools: tools})
			if err := a.admit(c.lease); (err == nil) != c.want {
				t.Errorf("%v, want admitted: %v", err, c.want)
			}
		})
	}
}
