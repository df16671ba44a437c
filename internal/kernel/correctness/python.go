package correctness

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/sdk"
)

//go:embed isolated.py
var isolated []byte

// WritePython writes the modules that come first on the search path of a Python oracle: pawl's own
// pawl_oracle, and the sitecustomize that isolates the interpreter.
func WritePython(dir string) error {
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "pawl_oracle.py"), sdk.Oracle, 0o644),
		os.WriteFile(filepath.Join(dir, "sitecustomize.py"), isolated, 0o644),
	)
}

// PythonVariables lists the variables that PythonEnv sets.
var PythonVariables = []string{
	"PYTHONPATH", "PYTHONSAFEPATH", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE",
	"PAWL_ORACLE_PATH", "PAWL_ORACLE_TREE", "PAWL_ORACLE_AWAY",
}

// unset lists variables that make Python run or load something else.
var unset = []string{"PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONCASEOK", "PYTHONOPTIMIZE"}

// PythonEnv returns the variables that isolate a Python oracle. The folder dir, filled by
// WritePython, comes first on its search path. After Python's own modules and installed packages come
// path, the script's folder and tree, in this order. Nothing is loaded from away, except packages
// installed in the environment of the interpreter.
func PythonEnv(dir string, path, tree, away []string) []string {
	list := func(folders []string) string { return strings.Join(folders, string(filepath.ListSeparator)) }
	env := []string{
		"PYTHONPATH=" + dir, "PYTHONSAFEPATH=1", "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1",
		"PAWL_ORACLE_PATH=" + list(path), "PAWL_ORACLE_TREE=" + list(tree), "PAWL_ORACLE_AWAY=" + list(away),
	}
	for _, name := range unset {
		env = append(env, name+"=") // Python treats an empty value as unset
	}
	return env
}
