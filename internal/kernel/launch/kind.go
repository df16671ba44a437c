package launch

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Kinds of launch, as the prepare request names them.
const (
	CUDA   = "cuda"   // through the driver API
	OpenCL = "opencl" // a program the driver compiles, or SPIR-V
	Host   = "host"   // a shared object with a C ABI, in a restricted process
)

// Kind returns how to launch a file, by its extension.
func Kind(file string) (string, error) {
	switch ext := filepath.Ext(file); ext {
	case ".cubin", ".ptx", ".fatbin":
		return CUDA, nil
	case ".cl", ".spv":
		return OpenCL, nil
	case ".so":
		return Host, nil
	default:
		return "", fmt.Errorf("cannot launch %s: unknown extension %q; use .cubin, .ptx or .fatbin (CUDA), .cl or .spv (OpenCL), or .so (host)", file, ext)
	}
}

// Spec returns the launch of a config for the prepare request. Dir is the folder of the suite.
func Spec(dir string, l suite.Launch) (harness.Launch, error) {
	kind, err := Kind(l.File)
	if err != nil {
		return harness.Launch{}, err
	}
	file := l.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if file, err = filepath.Abs(file); err != nil {
		return harness.Launch{}, fmt.Errorf("launch %s: %w", l.File, err)
	}
	return harness.Launch{Kind: kind, File: file, Kernel: l.Kernel, Grid: l.Grid, Block: l.Block, Shared: l.Shared, Options: l.Options, Cluster: l.Cluster, Cooperative: l.Cooperative, Dependent: l.Dependent}, nil
}

// Command returns the command line that starts a launcher made by Build as a
// harness.
func Command(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
