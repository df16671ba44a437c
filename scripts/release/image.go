package main

import (
	"context"
	"fmt"
	"runtime"
)

// labels describe an image.
func labels(version string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.version":  version,
		"org.opencontainers.image.source":   "https://github.com/goatnote-inc/pawl",
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}

// images writes the images. That of pawl is a small Debian with git and sh, for the architecture of this machine: programs
// of its packages run when they are installed. That of pawld holds one static program, for every architecture.
func (r *release) images(ctx context.Context) error {
	base, err := buildDebian(ctx, runtime.GOARCH, r.dir)
	if err != nil {
		return err
	}
	if err := r.pawlImage(ctx, base); err != nil {
		return err
	}
	for _, arch := range architectures {
		b, err := r.compile(ctx, target{"pawld", arch})
		if err != nil {
			return err
		}
		archive, err := tarFiles([]file{
			{name: "pawld", data: b.data, program: true},
			{name: certificates, data: base.certificates},
			{name: "var/lib/pawld/", owner: serverUser},
		})
		if err != nil {
			return err
		}
		l, err := newLayer(archive)
		if err != nil {
			return err
		}
		image, err := ociArchive(r.version, arch, serverConfig(r.version), []layer{l})
		if err != nil {
			return err
		}
		if err := r.add(fmt.Sprintf("pawld_%s_linux_%s.oci.tar", r.version, arch), image); err != nil {
			return err
		}
	}
	return nil
}

// pawlImage writes the image with pawl and pawl-agent, and a list of its packages.
func (r *release) pawlImage(ctx context.Context, base *debian) error {
	var added []file
	for _, program := range []string{"pawl", "pawl-agent"} {
		b, err := r.compile(ctx, target{program, base.arch})
		if err != nil {
			return err
		}
		added = append(added, file{name: "usr/local/bin/" + program, data: b.data, program: true})
	}
	archive, err := tarFiles(append(added, file{name: "work/"}))
	if err != nil {
		return err
	}
	top, err := newLayer(archive)
	if err != nil {
		return err
	}
	run := runConfig{
		Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		Cmd:        []string{"pawl"},
		WorkingDir: "/work",
		Labels:     labels(r.version),
	}
	image, err := ociArchive(r.version, base.arch, run, []layer{base.layer, top})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("pawl_%s_linux_%s.oci", r.version, base.arch)
	if err := r.add(name+".tar", image); err != nil {
		return err
	}
	bom, err := newBill("container", "pawl", image, base.components())
	if err != nil {
		return err
	}
	return r.add(name+".cdx.json", bom)
}

// serverUser is the user and the group of the server in its image.
const serverUser = 65532

// serverConfig is what deploy/Containerfile says.
func serverConfig(version string) runConfig {
	return runConfig{
		User:         fmt.Sprintf("%d:%d", serverUser, serverUser),
		ExposedPorts: map[string]struct{}{"7295/tcp": {}},
		Env:          []string{"STATE_DIRECTORY=/var/lib/pawld", "RUNTIME_DIRECTORY=/run/pawld"},
		Entrypoint:   []string{"/pawld"},
		Cmd:          []string{"serve"},
		Volumes:      map[string]struct{}{"/var/lib/pawld": {}, "/run/pawld": {}},
		Labels:       labels(version),
		StopSignal:   "SIGTERM",
	}
}
