package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// imageFolder holds where the packages of the image come from, and which versions they have.
const imageFolder = "deploy/image"

// certificates is the file with the certificates of authorities.
const certificates = "etc/ssl/certs/ca-certificates.crt"

// debian is the base of the image of pawl.
type debian struct {
	arch         string
	layer        layer
	packages     []string // name and version
	certificates []byte
}

// buildDebian installs the packages with mmdebstrap. They must be those of deploy/image/packages.ARCH. If they are not,
// what was installed is written to the folder dir.
func buildDebian(ctx context.Context, arch, dir string) (*debian, error) {
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		return nil, errors.New("mmdebstrap is not here: apt-get install mmdebstrap")
	}
	sources, err := debianSources()
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "pawl-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	tree := filepath.Join(temp, "tree.tar")
	args := []string{"--quiet", "--variant=essential", "--include=ca-certificates,git", "--format=tar", "--architectures=" + arch, "", tree}
	cmd := exec.CommandContext(ctx, "mmdebstrap", append(args, sources...)...)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(modified.Unix(), 10), "LC_ALL=C", "TMPDIR="+temp)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("install the packages of the image with mmdebstrap: %w", err)
	}
	f, err := os.Open(tree)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := readDebian(f, arch)
	if err != nil {
		return nil, err
	}
	return d, d.checkPins(dir)
}

// debianSources returns the lines of apt that name the archives: those of deploy/image/sources.list, or of the file
// that PAWL_DEBIAN_SOURCES names, such as a snapshot or a mirror.
func debianSources() ([]string, error) {
	path := os.Getenv("PAWL_DEBIAN_SOURCES")
	if path == "" {
		path = filepath.Join(imageFolder, "sources.list")
	}
	text, err := os.ReadFile(path) //nolint:gosec // the file is the caller's choice
	if err != nil {
		return nil, err
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "deb ") {
			list = append(list, line)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no line that starts with \"deb\"", path)
	}
	return list, nil
}

// readDebian makes a layer of the tree that mmdebstrap made. It drops what depends on the machine and the time, and
// what only people read.
func readDebian(tree io.Reader, arch string) (*debian, error) {
	d := &debian{arch: arch}
	var archive bytes.Buffer
	r, w := tar.NewReader(tree), tar.NewWriter(&archive)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the tree of the image: %w", err)
		}
		name := strings.TrimPrefix(h.Name, "./")
		if name == "" || !wanted(name) {
			continue
		}
		var data []byte
		if h.Typeflag == tar.TypeReg {
			if data, err = io.ReadAll(r); err != nil {
				return nil, fmt.Errorf("read %s of the image: %w", name, err)
			}
		}
		switch name {
		case "var/lib/dpkg/status":
			d.packages = installed(string(data))
		case certificates:
			d.certificates = data
		}
		// A hard link names another entry of the archive, and a symbolic link names a path.
		link := h.Linkname
		if h.Typeflag == tar.TypeLink {
			link = strings.TrimPrefix(link, "./")
		}
		err = w.WriteHeader(&tar.Header{
			Typeflag: h.Typeflag, Name: name, Linkname: link, Size: int64(len(data)), Mode: h.Mode, Uid: h.Uid, Gid: h.Gid, ModTime: modified,
		})
		if err != nil {
			return nil, fmt.Errorf("pack %s of the image: %w", name, err)
		}
		if _, err := w.Write(data); err != nil {
			return nil, fmt.Errorf("pack %s of the image: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if len(d.packages) == 0 || len(d.certificates) == 0 {
		return nil, errors.New("the tree of the image has no list of packages or no certificates")
	}
	var err error
	d.layer, err = newLayer(archive.Bytes())
	return d, err
}

// unwanted are folders whose contents stay out of the image: of the running machine, of apt, logs, and documentation.
var unwanted = []string{
	"dev/", "proc/", "run/", "sys/", "tmp/", "etc/apt/", "var/cache/", "var/lib/apt/", "var/log/", "var/tmp/",
	"usr/share/info/", "usr/share/locale/", "usr/share/man/", "usr/share/lintian/", "usr/share/bug/",
}

// wanted reports whether a file of the tree goes into the image.
func wanted(name string) bool {
	for _, folder := range unwanted {
		if strings.HasPrefix(name, folder) && name != folder {
			return false
		}
	}
	switch name {
	case "etc/hostname", "etc/machine-id", "etc/resolv.conf", "etc/.pwd.lock", "etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-", "etc/subuid-", "etc/subgid-":
		return false
	}
	if strings.HasPrefix(name, "var/lib/dpkg/") && strings.HasSuffix(name, "-old") {
		return false
	}
	if after, ok := strings.CutPrefix(name, "usr/share/doc/"); ok && after != "" {
		return strings.HasSuffix(name, "/copyright") || strings.Count(after, "/") == 1 && strings.HasSuffix(after, "/")
	}
	return true
}

// installed returns name and version of each package of dpkg's list.
func installed(status string) []string {
	var list []string
	name := ""
	lines := bufio.NewScanner(strings.NewReader(status))
	lines.Buffer(nil, len(status)+1)
	for lines.Scan() {
		if after, ok := strings.CutPrefix(lines.Text(), "Package: "); ok {
			name = after
		}
		if after, ok := strings.CutPrefix(lines.Text(), "Version: "); ok {
			list = append(list, name+" "+after)
		}
	}
	return list
}

// checkPins compares the packages with those that were reviewed.
func (d *debian) checkPins(dir string) error {
	pins := filepath.Join(imageFolder, "packages."+d.arch)
	want, err := os.ReadFile(pins)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	got := strings.Join(d.packages, "\n") + "\n"
	if string(want) == got {
		return nil
	}
	found := filepath.Join(dir, "packages."+d.arch)
	if err := os.WriteFile(found, []byte(got), 0o644); err != nil { //nolint:gosec // the folder is the caller's choice
		return err
	}
	return fmt.Errorf("the archive has other packages than %s: review %s and copy it there, or name a snapshot of the archive in PAWL_DEBIAN_SOURCES", pins, found)
}

// components are the packages, for the list of what an image is made of.
func (d *debian) components() []component {
	var list []component
	for _, p := range d.packages {
		name, version, _ := strings.Cut(p, " ")
		list = append(list, component{Type: "library", Name: name, Version: version, PURL: "pkg:deb/debian/" + name + "@" + strings.ReplaceAll(version, "+", "%2B") + "?arch=" + d.arch})
	}
	return list
}
