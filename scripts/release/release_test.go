package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// unpackTar returns the entries of an archive, and the contents of its files.
func unpackTar(t *testing.T, archive []byte) (headers []tar.Header, contents map[string][]byte) {
	t.Helper()
	contents = map[string][]byte{}
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		if contents[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		headers = append(headers, *h)
	}
}

func gunzip(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTarGz_HasNoTimeOwnerOrOrderOfItsOwn(t *testing.T) {
	files := []file{{name: "b", data: []byte("2"), program: true}, {name: "a/", owner: 7}, {name: "c", data: []byte("3")}}
	packed, err := tarGz(files)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	if again, err := tarGz(files); err != nil || !bytes.Equal(packed, again) {
		t.Errorf("another order gives other bytes: %v", err)
	}
	headers, contents := unpackTar(t, gunzip(t, packed))
	var got []string
	for _, h := range headers {
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name)
		if !h.ModTime.Equal(modified) || h.Uname != "" || h.Uid != map[string]int{"a/": 7}[h.Name] {
			t.Errorf("%s: %+v", h.Name, h)
		}
	}
	if diff := cmp.Diff([]string{"drwxr-xr-x a/", "-rwxr-xr-x b", "-rw-r--r-- c"}, got); diff != "" || string(contents["c"]) != "3" {
		t.Error(diff)
	}
}

func TestModuleBOM_ListsEveryModule(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Path: "example.com/cmd/x", Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:a"},
		{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0", Sum: "h1:c"}},
	}}
	text, err := moduleBOM(&binary{data: []byte("x"), info: info})
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	want := []component{
		{Type: "library", Name: "std", Version: "go1.26.8", PURL: "pkg:golang/std@1.26.8"},
		{Type: "library", Name: "example.com/a", Version: "v1.0.0", PURL: "pkg:golang/example.com/a@v1.0.0", Properties: []property{{"go:sum", "h1:a"}}},
		{Type: "library", Name: "example.com/c", Version: "v2.0.0", PURL: "pkg:golang/example.com/c@v2.0.0", Properties: []property{{"go:sum", "h1:c"}}},
	}
	if diff := cmp.Diff(want, b.Components); diff != "" || b.BomFormat != "CycloneDX" {
		t.Error(diff)
	}
}

func TestChart_HasTheVersionOfTheRelease(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	files, err := repositoryFiles(t.Context(), chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := packChart("9.8.7", files)
	if err != nil {
		t.Fatal(err)
	}
	_, contents := unpackTar(t, gunzip(t, packed))
	if text := string(contents["pawld/Chart.yaml"]); !strings.Contains(text, "\nversion: 9.8.7\nappVersion: \"9.8.7\"\n") {
		t.Error(text)
	}
	if contents["pawld/templates/server.yaml"] == nil || contents["pawld/ci/volume.yaml"] != nil {
		t.Errorf("the chart has %d files", len(contents))
	}
	if _, err := packChart("9.8.7", []file{{name: chartFolder + "Chart.yaml", data: []byte("version: 1\n")}}); err == nil {
		t.Error("a chart without its version is packed")
	}
}

func TestServerConfig_IsThatOfTheContainerfile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	c := serverConfig("9.8.7")
	want := []string{
		"USER " + c.User, "ENV " + strings.Join(c.Env, " "), `VOLUME ["/var/lib/pawld", "/run/pawld"]`, "EXPOSE 7295",
		"STOPSIGNAL " + c.StopSignal, `ENTRYPOINT ["` + c.Entrypoint[0] + `"]`, `CMD ["` + c.Cmd[0] + `"]`,
		"COPY ca-certificates.crt /" + certificates,
	}
	for _, line := range want {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("deploy/Containerfile has no line %q", line)
		}
	}
}

// image is what a reader of the layout finds.
type image struct {
	config imageConfig
	layers [][]byte // the archives
}

// readImage reads an image and compares every digest and size.
func readImage(t *testing.T, archive []byte) image {
	t.Helper()
	_, contents := unpackTar(t, archive)
	blob := func(d descriptor) []byte {
		data := contents["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if digestOf(data) != d.Digest || len(data) != d.Size {
			t.Fatalf("blob %+v has %d bytes with the digest %s", d, len(data), digestOf(data))
		}
		return data
	}
	var x index
	var m manifest
	var got image
	if err := json.Unmarshal(contents["index.json"], &x); err != nil || len(x.Manifests) != 1 {
		t.Fatalf("%v: %s", err, contents["index.json"])
	}
	if err := errors.Join(json.Unmarshal(blob(x.Manifests[0]), &m), json.Unmarshal(blob(m.Config), &got.config)); err != nil {
		t.Fatal(err)
	}
	if len(m.Layers) != len(got.config.RootFS.DiffIDs) {
		t.Fatalf("%d layers, %d in the configuration", len(m.Layers), len(got.config.RootFS.DiffIDs))
	}
	for i, d := range m.Layers {
		plain := gunzip(t, blob(d))
		if digestOf(plain) != got.config.RootFS.DiffIDs[i] {
			t.Errorf("layer %d has the digest %s, not %s", i, digestOf(plain), got.config.RootFS.DiffIDs[i])
		}
		got.layers = append(got.layers, plain)
	}
	return got
}

func TestOCIArchive_CanBeRead(t *testing.T) {
	archive, err := tarFiles([]file{{name: "pawld", data: []byte("x"), program: true}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLayer(archive)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := ociArchive("9.8.7", "arm64", serverConfig("9.8.7"), []layer{l})
	if err != nil {
		t.Fatal(err)
	}
	got := readImage(t, packed)
	if diff := cmp.Diff(serverConfig("9.8.7"), got.config.Config); diff != "" || got.config.Architecture != "arm64" || !bytes.Equal(got.layers[0], archive) {
		t.Errorf("%+v\n%s", got.config, diff)
	}
}

// What differs from machine to machine and from day to day does not reach the image.
func TestReadDebian_DropsWhatDependsOnTheMachine(t *testing.T) {
	const status = "Package: git\nStatus: install ok installed\nVersion: 1:2.47.3-0+deb13u1\nDescription: fast\n\nPackage: dash\nVersion: 0.5.12-12\n"
	var tree bytes.Buffer
	w := tar.NewWriter(&tree)
	for _, h := range []tar.Header{
		{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "./dev/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "./dev/null", Typeflag: tar.TypeChar, Mode: 0o666},
		{Name: "./etc/resolv.conf", Linkname: "nameserver 192.0.2.1"},
		{Name: "./etc/apt/sources.list", Linkname: "deb http://mirror.example.com"},
		{Name: "./etc/ssl/certs/ca-certificates.crt", Linkname: "certificates"},
		{Name: "./usr/bin/git", Mode: 0o755, Uid: 3, Uname: "sys", ModTime: modified.AddDate(9, 0, 0), Linkname: "program"},
		{Name: "./usr/bin/git-upload-pack", Typeflag: tar.TypeLink, Linkname: "./usr/bin/git"},
		{Name: "./usr/share/doc/git/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "./usr/share/doc/git/README.gz", Linkname: "text"},
		{Name: "./usr/share/doc/git/copyright", Linkname: "text"},
		{Name: "./var/lib/dpkg/status", Linkname: status},
		{Name: "./var/lib/dpkg/status-old", Linkname: status},
		{Name: "./var/log/dpkg.log", Linkname: "today"},
	} {
		data := ""
		if h.Typeflag == 0 {
			data, h.Linkname = h.Linkname, ""
		}
		h.Size = int64(len(data))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := readDebian(&tree, "amd64")
	if err != nil {
		t.Fatal(err)
	}
	headers, contents := unpackTar(t, gunzip(t, d.layer.packed))
	var names []string
	for _, h := range headers {
		names = append(names, h.Name)
		if !h.ModTime.Equal(modified) || h.Uname != "" {
			t.Errorf("%+v", h)
		}
	}
	want := []string{"dev/", certificates, "usr/bin/git", "usr/bin/git-upload-pack", "usr/share/doc/git/", "usr/share/doc/git/copyright", "var/lib/dpkg/status"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"git 1:2.47.3-0+deb13u1", "dash 0.5.12-12"}, d.packages); diff != "" || string(contents["usr/bin/git"]) != "program" || string(d.certificates) != "certificates" {
		t.Error(diff)
	}
	if headers[3].Linkname != "usr/bin/git" {
		t.Errorf("the link leads to %q", headers[3].Linkname)
	}
	if got := d.components()[0].PURL; got != "pkg:deb/debian/git@1:2.47.3-0%2Bdeb13u1?arch=amd64" {
		t.Error(got)
	}
}

func TestCheckPins_RefusesOtherPackages(t *testing.T) {
	t.Chdir(t.TempDir())
	d := &debian{arch: "amd64", packages: []string{"git 1", "dash 2"}}
	if err := d.checkPins("."); err == nil || !strings.Contains(err.Error(), "review packages.amd64") {
		t.Fatal(err)
	}
	if err := os.MkdirAll(imageFolder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("packages.amd64", filepath.Join(imageFolder, "packages.amd64")); err != nil {
		t.Fatal(err)
	}
	if err := d.checkPins("."); err != nil {
		t.Error(err)
	}
}

func TestRun_Refuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{nil, {"0.1.0"}, {"0.1", "dist"}, {"0.1.0 -x", "dist"}, {"0.1.0", "dist", "wheel"}} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	git := func(args ...string) {
		t.Helper()
		testrun.Git(t, ".", args...)
	}
	save := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "--quiet")
	save("a.go", "package a\n")
	if _, err := committed(t.Context()); err == nil || !strings.Contains(err.Error(), "a.go is not committed") {
		t.Errorf("a file that is not committed: %v", err)
	}
	save(ownSums, "one\n")
	git("add", "-A")
	git("commit", "--quiet", "-m", "one")
	before, err := committed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	save(ownSums, "two\n")
	if got, err := committed(t.Context()); err != nil || got != before {
		t.Errorf("checksums.txt counts: %s, %v", got, err)
	}
	git("commit", "--quiet", "-a", "-m", "two")
	if got, err := committed(t.Context()); err != nil || got != before {
		t.Errorf("a commit of checksums.txt counts: %s, %v", got, err)
	}
	if _, err := newRelease(t.Context(), "0.1.0", "."); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a folder with files: %v", err)
	}
}
