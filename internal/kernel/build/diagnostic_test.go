package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// What tools print, as they print it, and what is made of it.
func TestFirstError(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		want Diagnostic
	}{
		"gcc": {
			"k.c: In function 'main':\nk.c:2:12: warning: unused variable 'x'\nk.c:3:9: error: 'y' undeclared (first use in this function)\nk.c:9:1: error: another\n",
			Diagnostic{File: "k.c", Line: 3, Column: 9, Message: "'y' undeclared (first use in this function)"},
		},
		"a missing header": {
			"In file included from a.c:1:\nb.h:1:10: fatal error: cutlass/gemm.h: No such file or directory\ncompilation terminated.\n",
			Diagnostic{File: "b.h", Line: 1, Column: 10, Message: "cutlass/gemm.h: No such file or directory", Fix: "add the folder of cutlass/gemm.h with -I, or install the package that contains it; for a base, check that it is committed"},
		},
		"pawl.h": {
			"harness.c:1:10: fatal error: pawl.h: No such file or directory\n",
			Diagnostic{File: "harness.c", Line: 1, Column: 10, Message: "pawl.h: No such file or directory", Fix: "write pawl.h into this folder with `pawl sdk c`, or add its folder with -I"},
		},
		"clang in colours": {
			"\x1b[1mk.cpp:3:9: \x1b[0m\x1b[0;1;31merror: \x1b[0m\x1b[1muse of undeclared identifier 'y'\x1b[0m\n",
			Diagnostic{File: "k.cpp", Line: 3, Column: 9, Message: "use of undeclared identifier 'y'"},
		},
		"nvcc": {
			"err.cu(1): error: identifier \"undefined_fn\" is undefined\n\n1 error detected in the compilation of \"err.cu\".\nmake: *** [Makefile:3: k] Error 1\n",
			Diagnostic{File: "err.cu", Line: 1, Message: `identifier "undefined_fn" is undefined`},
		},
		"nvcc with a number": {
			"k.cu(7): error #20: identifier \"f\" is undefined\n",
			Diagnostic{File: "k.cu", Line: 7, Message: `identifier "f" is undefined`},
		},
		"nvcc without a header": {
			"k.cu(1): catastrophic error: cannot open source file \"x.cuh\"\n",
			Diagnostic{File: "k.cu", Line: 1, Message: `cannot open source file "x.cuh"`, Fix: "add the folder of x.cuh with -I, or install the package that contains it; for a base, check that it is committed"},
		},
		"an old toolkit": {
			"nvcc fatal   : Value 'sm_120' is not defined for option 'gpu-architecture'\n",
			Diagnostic{Message: "nvcc fatal   : Value 'sm_120' is not defined for option 'gpu-architecture'", Fix: "this CUDA toolkit does not support sm_120: install a newer one, or set build.arch to one that nvcc --list-gpu-arch lists"},
		},
		"a new host compiler": {
			"/usr/include/crt/host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions later than 11 are not supported!\n",
			Diagnostic{File: "/usr/include/crt/host_config.h", Line: 132, Column: 2, Message: "#error -- unsupported GNU version! gcc versions later than 11 are not supported!", Fix: "nvcc needs an older host compiler: install g++-11 and add -ccbin g++-11 to build.flags"},
		},
		"ptxas": {
			"ptxas info    : 0 bytes gmem\nptxas error   : Entry function '_Z1fPf' uses too much shared data (0x13880 bytes, 0xc000 max)\n",
			Diagnostic{
				Message: "ptxas error   : Entry function '_Z1fPf' uses too much shared data (0x13880 bytes, 0xc000 max)",
				Fix:     "the kernel declares 0x13880 bytes of shared memory, and the limit is 0xc000: use smaller tiles, or extern __shared__ with cudaFuncAttributeMaxDynamicSharedMemorySize",
			},
		},
		"ptxas on a line": {
			"ptxas /tmp/x.ptx, line 12; error   : Unknown symbol 'foo'\nptxas fatal   : Ptx assembly aborted due to errors\n",
			Diagnostic{File: "/tmp/x.ptx", Line: 12, Message: "Unknown symbol 'foo'"},
		},
		"nvlink": {
			"nvlink error   : Undefined reference to '_Z3foov' in 'a.o'\n",
			Diagnostic{Message: "nvlink error   : Undefined reference to '_Z3foov' in 'a.o'", Fix: "device code calls a function of another file: compile with -rdc=true, or define the function in the same file"},
		},
		"the linker": {
			"/usr/bin/ld: /tmp/cc1.o: in function `main':\nm.c:(.text+0x5): undefined reference to `part'\ncollect2: error: ld returned 1 exit status\n",
			Diagnostic{Message: "undefined reference to `part'", Fix: "compile the file that defines it, or link its library; a template must be instantiated where it is defined"},
		},
		"the linker with a line": {
			"/usr/bin/ld: m.c:12: undefined reference to `part'\n",
			Diagnostic{File: "m.c", Line: 12, Message: "undefined reference to `part'", Fix: "compile the file that defines it, or link its library; a template must be instantiated where it is defined"},
		},
		"a missing library": {
			"/usr/bin/ld: cannot find -lcublas: No such file or directory\ncollect2: error: ld returned 1 exit status\n",
			Diagnostic{Message: "cannot find -lcublas: No such file or directory", Fix: "install the development package of libcublas, or add its folder with -L to build.link"},
		},
		"cmake": {
			"-- Configuring\nCMake Error at CMakeLists.txt:5 (find_package):\n  By not providing \"FindCutlass.cmake\" in CMAKE_MODULE_PATH this project has\n  asked CMake to find it.\n\n  More.\n\n-- Configuring incomplete, errors occurred!\n",
			Diagnostic{File: "CMakeLists.txt", Line: 5, Message: `By not providing "FindCutlass.cmake" in CMAKE_MODULE_PATH this project has asked CMake to find it.`},
		},
		"cmake of another generator": {
			"CMake Error: Error: generator : Ninja\nDoes not match the generator used previously: Unix Makefiles\n",
			Diagnostic{Message: "Error: generator : Ninja", Fix: "the build folder was configured for another generator: remove it, or set build.folder to another folder"},
		},
		"ninja": {
			"[1/2] CC k.o\nFAILED: k.o \ncc -c k.c\nninja: build stopped: subcommand failed.\n",
			Diagnostic{Message: "FAILED: k.o"},
		},
		"ninja behind an error": {
			"FAILED: k.o \ncc -c k.c\n../k.c:2:3: error: unknown type name 'flaot'\nninja: build stopped: subcommand failed.\n",
			Diagnostic{File: "../k.c", Line: 2, Column: 3, Message: "unknown type name 'flaot'"},
		},
		"make": {
			"make: *** No rule to make target 'kernel.cu', needed by 'harness'.  Stop.\n",
			Diagnostic{Message: "No rule to make target 'kernel.cu', needed by 'harness'.  Stop.", Fix: "it is neither a target nor a file: check its name; for a base, check that it is committed"},
		},
		"a Makefile": {
			"Makefile:5: *** missing separator.  Stop.\n",
			Diagnostic{File: "Makefile", Line: 5, Message: "missing separator.  Stop."},
		},
		"only make": {
			"something odd\nmake: *** [Makefile:9: harness] Error 1\n",
			Diagnostic{Message: "make: *** [Makefile:9: harness] Error 1"},
		},
		"Python": {
			"Traceback (most recent call last):\n  File \"setup.py\", line 3, in <module>\n    import torch\nModuleNotFoundError: No module named 'torch'\n",
			Diagnostic{File: "setup.py", Line: 3, Message: "ModuleNotFoundError: No module named 'torch'", Fix: "install PyTorch for this python3, or choose another Python with build.env: {PYTHON: ...}"},
		},
		"no memory": {
			"k.cu:1:1: error: something\ng++: fatal error: Killed signal terminated program cc1plus\n",
			Diagnostic{File: "k.cu", Line: 1, Column: 1, Message: "something", Fix: "the machine ran out of memory: raise build.memory or lower build.jobs, so that fewer compilers run at once"},
		},
	} {
		got, _, ok := firstError(c.log)
		if diff := cmp.Diff(c.want, got); diff != "" || !ok {
			t.Errorf("%s: found %t (-want +got)\n%s", name, ok, diff)
		}
	}
	for _, fine := range []string{"", "cc -c k.c\n", "k.c:1:1: warning: odd\n", "0 errors\n", "Note: error: is a word\n"} {
		if d, _, ok := firstError(fine); ok {
			t.Errorf("%q has the error %+v", fine, d)
		}
	}
}

func TestDiagnosticText(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "suite")
	for name, text := range map[string]string{".git": "gitdir: elsewhere\n", "suite/k.c": "one\n\treturn  x;\r\n\n", "inc/h.h": "header line\n"} {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("password\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "link.c")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d    Diagnostic
		want string
	}{
		{Diagnostic{File: "k.c", Line: 2, Column: 10, Message: "m", Fix: "f"}, "k.c:2:10: m\n    2 |  return  x;\n      |          ^\nfix: f"},
		{Diagnostic{File: "k.c", Line: 2, Message: "m"}, "k.c:2: m\n    2 |  return  x;"},
		{Diagnostic{File: "../inc/h.h", Line: 1, Message: "m"}, "../inc/h.h:1: m\n    1 | header line"},
		{Diagnostic{File: "../k.c", Line: 1, Message: "named from a build folder"}, "../k.c:1: named from a build folder\n    1 | one"},
		{Diagnostic{File: "k.c", Line: 99, Message: "past the end"}, "k.c:99: past the end"},
		{Diagnostic{File: "k.c", Line: 2, Column: 5000, Message: "m"}, "k.c:2:5000: m\n    2 |  return  x;"},
		{Diagnostic{File: secret, Line: 1, Message: "of another folder"}, secret + ":1: of another folder"},
		{Diagnostic{File: "link.c", Line: 1, Message: "leads out"}, "link.c:1: leads out"},
		{Diagnostic{File: "../../../../../../etc/hostname", Line: 1, Message: "leads out"}, "../../../../../../etc/hostname:1: leads out"},
		{Diagnostic{Message: "no place"}, "no place"},
	} {
		if diff := cmp.Diff(c.want, c.d.Text(dir)); diff != "" {
			t.Errorf("%+v (-want +got)\n%s", c.d, diff)
		}
	}
}

// Whatever a build prints, what is shown of it is short, printable and one line a field.
func FuzzFirstError(f *testing.F) {
	for _, seed := range []string{
		"k.c:3:9: error: y\n", "k.cu(7): error #20: x\n", "ptxas error   : too much\n", "CMake Error at C:5 (x):\n  a\n  b\n",
		"  File \"a\", line 3\nError: x\n", "ld: m.c:12: undefined reference to `p'\n", "\x1b[31mk.c:1:1: error: \xff\n", "k.c:99999999999999999999:1: error: x\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, log string) {
		d, _, ok := firstError(log)
		if !ok {
			if d != (Diagnostic{}) {
				t.Errorf("%+v without an error", d)
			}
			return
		}
		for _, s := range []string{d.File, d.Message, d.Fix} {
			if strings.ContainsAny(s, "\n\r\x1b\x00") || !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxMessage+3 {
				t.Errorf("%q", s)
			}
		}
		if d.Line < 0 || d.Column < 0 {
			t.Errorf("%+v", d)
		}
		_ = d.Text(".")
	})
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"format":"pawl.build/v1","key":"00","seconds":1,"outputs":[{"path":"out","mode":420,"size":1,"digest":"sha256:00"}],"log":"x"}`))
	f.Add([]byte(`{"outputs":[{"path":"../out"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		key := strings.Repeat("0", 64)
		c := &Cache{Dir: t.TempDir()}
		if err := os.MkdirAll(c.at(key), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.at(key), "entry.json"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if _, _, ok := c.restore(key, dir, anyEntry); ok {
			t.Errorf("an entry without contents was restored: %s", text)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	})
}

func TestCcacheLog(t *testing.T) {
	got := countCcache("# k.cu\ndirect_cache_hit\nlocal_storage_hit\n# m.cu\ncache_miss\nlocal_storage_miss\nlocal_storage_write\n# n.cu\npreprocessed_cache_hit\n# a.o\ncalled_for_link\n")
	if want := (Ccache{Hits: 2, Misses: 1, Uncached: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFreeMemory(t *testing.T) {
	root := files(t, map[string]string{
		"proc/meminfo":     "MemTotal: 100 kB\nMemAvailable:    8388608 kB\n",
		"proc/self/cgroup": "0::/ci/job\n", "sys/fs/cgroup/ci/memory.max": "4294967296\n", "sys/fs/cgroup/ci/memory.current": "1073741824\n",
		"sys/fs/cgroup/ci/job/memory.max": "max\n", "sys/fs/cgroup/ci/job/memory.current": "1\n",
	})
	if got := freeMemory(root); got != 3<<30 {
		t.Errorf("free: %d, want the 3 GiB that the control group leaves", got)
	}
	if got := freeMemory(t.TempDir()); got != 0 {
		t.Errorf("free: %d where nobody tells", got)
	}
	if got := Capacity(1 << 60); got != 1 {
		t.Errorf("%d compilers where there is memory for none", got)
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"": 0, "20GB": 20e9, "1.5GiB": 3 << 29, "500MB": 5e8} {
		if got, err := parseSize(s); err != nil || got != want {
			t.Errorf("%q is %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"20", "GB", "-1GB", "1TB", "NaNGB", "1e30GB"} {
		if got, err := parseSize(s); err == nil {
			t.Errorf("%q is %d", s, got)
		}
	}
}
