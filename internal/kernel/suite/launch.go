package suite

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// Launch describes how pawl's own launcher starts the kernel for a config.
type Launch struct {
	File, Kernel, Options string
	Grid, Block           [3]int // blocks and threads; zero for a kernel on the host
	Shared                int    // bytes
	Cluster               [3]int // blocks per cluster; zero without clusters
	Cooperative           bool   // all blocks run at once
	Dependent             bool   // a run may start while the one before it ends
}

// launchFiles lists the extensions of files that a launcher can load.
var (
	cudaFiles   = []string{".cubin", ".ptx", ".fatbin"}
	launchFiles = slices.Concat(cudaFiles, []string{".cl", ".spv", ".so"})
)

// Launch returns how to start the kernel for a config, or nil if the suite does not define it.
func (b Benchmark) Launch(p Params) (*Launch, error) {
	if b.doc == nil || b.doc.Launch == nil {
		return nil, nil
	}
	l, bad := b.doc.Launch.launch(b.Complete(p))
	if bad != nil {
		return nil, fmt.Errorf("launch of %s/%s: %s: %w", b.Name, ConfigName(p), bad.key, bad.err)
	}
	return l, nil
}

func (d *launchDoc) launch(p Params) (*Launch, *evalError) {
	p = orNone(p)
	l := &Launch{File: fill(d.File.string, p), Kernel: fill(d.Kernel.string, p), Options: fill(d.Options.string, p)}
	variables := p.Map()
	for _, side := range []struct {
		list []formula
		to   *[3]int
	}{{d.Grid, &l.Grid}, {d.Block, &l.Block}, {d.Cluster, &l.Cluster}} {
		sizes, bad := evalSizes(side.list, variables, 1)
		if bad != nil {
			return nil, bad
		}
		for i := range side.to {
			switch {
			case i < len(sizes):
				side.to[i] = sizes[i]
			case len(sizes) > 0:
				side.to[i] = 1
			}
		}
	}
	if d.Shared.set() {
		bytes, bad := evalSizes([]formula{d.Shared}, variables, 0)
		if bad != nil {
			return nil, bad
		}
		l.Shared = bytes[0]
	}
	l.Cooperative, l.Dependent = value(d.Cooperative), value(d.Dependent)
	return l, nil
}

// isCUDA reports whether a CUDA kernel is launched.
func (d *launchDoc) isCUDA() bool {
	return d != nil && slices.Contains(cudaFiles, path.Ext(d.File.string))
}

func (r *resolver) checkLaunch(e *entry[benchmarkDoc], params []string) {
	d := e.value.Launch
	if d == nil {
		return
	}
	if len(e.value.Arguments) == 0 {
		r.Add(e.node.Get("launch"), "describe the kernel's arguments under arguments", "benchmark %q has launch but no arguments", e.name)
	}
	ending := path.Ext(d.File.string)
	switch host := ending == ".so"; {
	case !slices.Contains(launchFiles, ending):
		r.Add(d.File.at, "known: "+strings.Join(launchFiles, ", "), "file: pawl's launcher cannot load %q", strictyaml.Shorten(d.File.string))
	case path.IsAbs(d.File.string) || slices.Contains(strings.Split(d.File.string, "/"), ".."):
		r.Add(d.File.at, "", "file: %q is outside the suite's folder", strictyaml.Shorten(d.File.string))
	case host && (d.Grid != nil || d.Block != nil || d.Shared.set()):
		r.Add(d.File.at, "", "a host kernel cannot have grid, block or shared")
	case (d.Cluster != nil || d.Cooperative != nil || d.Dependent != nil) && !d.isCUDA():
		r.Add(d.File.at, "", "cluster, cooperative and dependent are for CUDA kernels")
	case !host && (d.Grid == nil || d.Block == nil):
		r.Add(e.node.Get("launch"), "", "launch: grid and block are required")
	}
	r.checkPlaceholders(e, params, d.File, d.Kernel, d.Options)
	for _, x := range slices.Concat(d.Grid, d.Block, d.Cluster, []formula{d.Shared}) {
		r.checkVariables(x, params)
	}
}
