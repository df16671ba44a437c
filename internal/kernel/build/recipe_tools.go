package build

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// DefaultFolder is where CMake builds if the suite does not set a folder.
const DefaultFolder = "build"

// cmake configures a build folder and builds in it.
func (c *composer) cmake() error {
	c.needs("cmake")
	source := "."
	switch len(c.Sources) {
	case 0:
	case 1:
		source = c.Sources[0]
	default:
		return &SpecError{"recipe cmake takes one source folder: the one with CMakeLists.txt"}
	}
	folder := cmp.Or(c.Folder, DefaultFolder)
	if !filepath.IsLocal(folder) || filepath.Clean(folder) == "." {
		return &SpecError{fmt.Sprintf("folder: %q must be a folder inside the suite's folder", folder)}
	}
	configure := []string{"cmake", "-S", quote(source), "-B", quote(folder), "--no-warn-unused-cli", "-DCMAKE_BUILD_TYPE=Release"}
	if lookTool(c.Recipe.Env, "ninja") != "" {
		configure = append(configure, "-G Ninja")
	}
	if archs := c.archs(); len(archs) > 0 {
		var numbers []string
		for _, a := range archs {
			numbers = append(numbers, strings.TrimPrefix(a, "sm_"))
		}
		configure = append(configure, "'-DCMAKE_CUDA_ARCHITECTURES="+strings.Join(numbers, ";")+"'")
	}
	if launcher := c.launcher(); launcher != "" {
		for _, language := range []string{"C", "CXX", "CUDA"} {
			configure = append(configure, fmt.Sprintf("-DCMAKE_%s_COMPILER_LAUNCHER=%s", language, launcher))
		}
	}
	target := ""
	if c.Target != "" {
		target = "--target " + quote(c.Target)
	}
	c.Recipe.Title = joinWords("cmake", target, "in", folder)
	c.Recipe.Scratch = filepath.ToSlash(filepath.Clean(folder)) // CMake and Ninja can continue from what they left there
	c.Recipe.Command = joinWords(joinWords(configure...), c.Flags, "&&", "cmake --build", quote(folder), target, `-j "$PAWL_JOBS"`)
	return nil
}

// make runs make for a target. It sets the compiler cache through the environment, so a Makefile
// that names its compiler keeps it.
func (c *composer) make() error {
	c.needs("make")
	arch := ""
	if archs := c.archs(); len(archs) > 0 {
		arch = "ARCH=" + archs[0]
	}
	if len(c.Recipe.Arch) > 1 {
		return &SpecError{"recipe make supports only one architecture, which it passes as ARCH"}
	}
	if launcher := c.launcher(); launcher != "" {
		for _, v := range [][2]string{{"CC", "cc"}, {"CXX", "c++"}, {"NVCC", "nvcc"}} {
			compiler := c.env(v[0])
			if compiler == "" {
				compiler = v[1]
			}
			if !strings.Contains(compiler, "ccache") {
				c.Recipe.Env = append(c.Recipe.Env, v[0]+"="+launcher+" "+compiler)
			}
		}
	}
	c.Recipe.Title = joinWords("make", c.Target, arch, c.Flags)
	c.Recipe.Command = joinWords("make", `-j"$PAWL_JOBS"`, quoteAny(c.Target), arch, c.Flags)
	return nil
}

func quoteAny(name string) string {
	if name == "" {
		return ""
	}
	return quote(name)
}

// torchScript builds an extension with torch.utils.cpp_extension, as a user would, and leaves the
// library in the suite's folder.
const torchScript = `import os, shutil, sys
from torch.utils import cpp_extension
a = %s
os.makedirs(a["folder"], exist_ok=True)
cuda = any(s.endswith((".cu", ".cuh")) for s in a["sources"])
here = os.getcwd()
flags = a["flags"] + ["-ffile-prefix-map=" + here + "=."]
cpp_extension.load(name=a["name"], sources=a["sources"], extra_cflags=flags, extra_cuda_cflags=a["cuda_flags"], extra_ldflags=a["link"],
                   build_directory=a["folder"], with_cuda=cuda, is_python_module=a["module"], verbose=True)
shutil.copyfile(os.path.join(a["folder"], a["name"] + ".so"), a["target"])
`

// torch builds a PyTorch extension.
func (c *composer) torch() error {
	sources, err := c.sources()
	if err != nil {
		return err
	}
	if len(sources) == 0 || filepath.Ext(c.Target) != ".so" {
		return &SpecError{"recipe torch needs sources and a target whose name ends in .so"}
	}
	python := c.env("PYTHON")
	if python == "" {
		python = "python3"
	}
	c.needs(python, "ninja")
	cuda := false
	for _, s := range sources {
		cuda = cuda || strings.HasPrefix(filepath.Ext(s), ".cu")
	}
	if archs := c.archs(); cuda && len(archs) > 0 {
		var list []string
		for _, a := range archs {
			list = append(list, capability(a))
		}
		c.setEnv("TORCH_CUDA_ARCH_LIST", strings.Join(list, ";"))
	}
	if launcher := c.launcher(); launcher != "" {
		c.setEnv("PYTORCH_NVCC", launcher+" nvcc")
		c.setEnv("CXX", launcher+" c++")
		c.setEnv("TORCH_DONT_CHECK_COMPILER_ABI", "1") // torch cannot check a compiler behind a launcher
	}
	if len(c.Recipe.Outputs) == 0 {
		c.Recipe.Outputs = []string{c.Target}
	}
	name := strings.TrimSuffix(filepath.Base(c.Target), ".so")
	arguments, err := json.Marshal(map[string]any{
		"name": name, "sources": sources, "flags": strings.Fields(joinWords(level(c.Flags), hostFlags(c.Flags))), "cuda_flags": cudaFlags(c.Flags),
		"link": strings.Fields(c.Link), "folder": c.scratch("torch", c.Flags, c.Link, c.Target, strings.Join(sources, "\x00"), strings.Join(c.Recipe.Arch, ",")),
		"target": c.Target, "module": 0,
	})
	if err != nil {
		return fmt.Errorf("cannot create the build script of %s: %w", c.Target, err)
	}
	c.Recipe.Title = fmt.Sprintf("torch extension %s from %s", c.Target, shortList(sources))
	c.Recipe.Command = fmt.Sprintf("MAX_JOBS=$PAWL_JOBS exec %s - <<'PAWL'\n%sPAWL", quote(python), fmt.Sprintf(torchScript, arguments))
	return nil
}

// hostFlags returns the flags that a host compiler also understands.
func hostFlags(flags string) string {
	var list []string
	for f := range strings.FieldsSeq(flags) {
		if !strings.HasPrefix(f, "--") && !strings.HasPrefix(f, "-X") {
			list = append(list, f)
		}
	}
	return strings.Join(list, " ")
}

func cudaFlags(flags string) []string {
	return strings.Fields(joinWords(level(flags), "-Xptxas -v", flags))
}

// capability formats an architecture as PyTorch does: sm_89 is 8.9, sm_90a is 9.0a.
func capability(arch string) string {
	digits := strings.TrimPrefix(arch, "sm_")
	suffix := strings.TrimLeft(digits, "0123456789")
	number, err := strconv.Atoi(strings.TrimSuffix(digits, suffix))
	if err != nil {
		return arch
	}
	return fmt.Sprintf("%d.%d%s", number/10, number%10, suffix)
}
