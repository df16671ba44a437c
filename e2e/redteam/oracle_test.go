package redteam

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// spying is an oracle that fails if it sees more than it may.
const spying = `import glob, json, os, socket, sys
from pawl_oracle import oracle, serve
from reference import axpy

tree, _, base = os.getcwd().partition("/.git/")
seen = []
if not base:
    seen.append("it does not run in the tree of the base, but in " + tree)
if "PLANTED" in dir(json):
    seen.append("the json.py beside it")
if os.path.dirname(sys.modules["pawl_oracle"].__file__) == os.getcwd():
    seen.append("the pawl_oracle.py beside it")
if "--enclosed" in sys.argv:
    seen += [p for p in (tree + "/kernel.c", tree + "/.git/config", "/root/.ssh", "/home/build/.ssh") if os.path.exists(p)]
    seen += [name for _, name in socket.if_nameindex() if name != "lo"]
    if len([p for p in os.listdir("/proc") if p.isdigit()]) > 8:
        seen.append("processes of others")


@oracle("axpy")
def right(inputs, params):
    others = [p for p in glob.glob("/dev/shm/*") + glob.glob("/tmp/pawl-*") if not os.path.samefile(p, os.path.dirname(sys.modules["pawl_oracle"].__file__))]
    if "--enclosed" in sys.argv and len(others) > 1:
        seen.append("folders beside its own: %s" % others)
    if seen:
        raise Exception("it sees " + "; ".join(seen))
    return {"c": axpy(inputs["a"], inputs["b"])}


serve()
`

// An honest oracle imports what is beside it in the base, and gets nothing else.
func TestOracle_SeesItsInputsOnly(t *testing.T) {
	if err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import numpy").Run(); err != nil {
		t.Skip("needs /usr/bin/python3 with NumPy: ", err)
	}
	for _, tt := range []struct{ level, path, flag string }{
		{"checked", "host", " --enclosed"}, {"self-timed", "own", " --enclosed"}, {"trusted", "host", ""},
	} {
		t.Run(tt.level, func(t *testing.T) {
			inCI(t, tt.level == "checked")
			if tt.flag != "" {
				if _, err := build.FindSandbox(t.Context()); err != nil {
					t.Skip(err)
				}
			}
			t.Parallel()
			dir := repository(
				t, tt.path,
				edit{"oracle.py", "", spying},
				edit{"reference.py", "", "import numpy as np\n\n\ndef axpy(a, b):\n    return a * b + np.sqrt(a * a + 1)\n"},
				edit{"json.py", "", "PLANTED = True\n"},
				edit{"pawl.yaml", "expression: {c: a * b + sqrt(a * a + 1)}", "oracle: /usr/bin/python3 oracle.py" + tt.flag},
			)
			write(t, filepath.Join(dir, "kernel.c"), []byte("#include <math.h>\nvoid axpy(const float *a, const float *b, float *c, int n) {\n  for (int i = 0; i < n; i++) c[i] = a[i] * b[i] + (float)sqrt((double)a[i] * a[i] + 1);\n}\n"))
			got := judge(t, dir, "--trust", tt.level, "--fuzz", "0")
			if got.Verdict == "broken" || !strings.Contains(got.Said, "compared and correct") {
				t.Errorf("an honest oracle is not believed:\n%s", got.Said)
			}
		})
	}
}
