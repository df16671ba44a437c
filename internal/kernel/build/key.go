package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// keyFormat changes when a key covers other things, or when the format of an entry changes.
const keyFormat = "pawl.build/v1"

// key returns the digest of everything that could make two builds differ.
func (r Recipe) key(ctx context.Context, s *snapshot) string {
	sum := sha256.New()
	field := func(parts ...string) { writeField(sum, parts...) }
	field(keyFormat, runtime.GOOS, runtime.GOARCH, processor())
	field("command", r.Command)
	field("sandbox", strconv.FormatBool(r.Sandbox != nil)) // trusted builds must not reuse outputs of untrusted code
	field("inside", filepath.ToSlash(s.suiteFolder))
	field(append([]string{"outputs"}, r.Outputs...)...)
	field(append([]string{"arch"}, r.Arch...)...)
	env := append(shell.Environ(), r.Env...)
	if r.Sandbox != nil {
		env = cleanEnviron(os.Environ(), r.Env)
	}
	for _, kv := range effective(env) {
		field("env", kv)
	}
	for _, t := range r.toolIDs(ctx) {
		field("tool", t)
	}
	if r.handed() {
		field("host tools", r.Cache.Tools)
	}
	for _, name := range slices.Sorted(maps.Keys(s.inputs)) {
		field("input", name, s.inputs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.ignored)) {
		field("left", name, s.ignored[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// writeField writes every string with its length, so that different lists give different text.
func writeField(w io.Writer, parts ...string) {
	fmt.Fprintf(w, "%d", len(parts))
	for _, p := range parts {
		fmt.Fprintf(w, " %d:%s", len(p), p)
	}
	fmt.Fprintln(w)
}

// effective returns the environment of a build, without variables that cannot affect it.
func effective(env []string) []string {
	all := map[string]string{}
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && !irrelevantVariables.MatchString(name) {
			all[name] = value
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}

// irrelevantVariables matches the variables that differ between shells and CI jobs but do not affect a
// compiler. All others count: a Makefile may read any of them.
var irrelevantVariables = lazyregexp.New(`^(_|PWD|OLDPWD|SHLVL|TERM.*|COLORTERM|COLUMNS|LINES|TMPDIR|TMP|TEMP|DISPLAY|WAYLAND_.*|WINDOWID|HOSTNAME|LOGNAME|USER|MAIL|` +
	`SSH_.*|XDG_(SESSION|RUNTIME|CACHE)_?.*|DBUS_.*|TMUX.*|STY|WINDOW|PS[0-9]|PROMPT.*|HIST.*|LESS.*|PAGER|EDITOR|VISUAL|LS_COLORS|NO_COLOR|INVOCATION_ID|JOURNAL_STREAM|` +
	`PAWL_.*|CCACHE_(BASEDIR|DIR|STATSLOG|LOGFILE|MAXSIZE)|CI|GITHUB_.*|RUNNER_.*|ACTIONS_.*|GITLAB_.*|CI_.*|BUILDKITE_.*|JENKINS_.*|BUILD_(ID|NUMBER|TAG|URL)|` +
	`GOCOVERDIR|TESTSCRIPT_.*|VSCODE_.*|GIT_(ASKPASS|PAGER|EDITOR|TERMINAL_PROMPT))$`)

// processor returns a text that differs between CPUs whose native code differs.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	var model, flags string
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(name) {
		case "model name":
			model = strings.TrimSpace(value)
		case "flags", "Features":
			flags = strings.TrimSpace(value)
		}
	}
	return model + "\n" + flags
}

// compilers matches the programs that generate code, by the names under which they are installed:
// gcc-12, x86_64-linux-gnu-g++-11, clang++-16.
var compilers = lazyregexp.New(`^([a-z0-9_]+-linux-gnu-)?(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|nvcc|hipcc|ptxas|cicc|ld|as|ar|cmake|ninja|make|ccache|sccache|python3|rustc|cargo|go)(-[0-9.]+)?$`)

// toolIDs identifies the tools of this machine at this time: every compiler by its path, size and
// time, and the tools that the recipe names by their version.
func (r Recipe) toolIDs(ctx context.Context) []string {
	var list []string
	seen := map[string]bool{}
	path := lookEnv(r.Env, "PATH")
	if r.Sandbox != nil {
		path = visiblePath(path, toolRoots(os.Environ()))
	}
	for _, dir := range filepath.SplitList(path) {
		entries, err := os.ReadDir(dir)
		if err != nil || dir == "" {
			continue
		}
		for _, e := range entries {
			if seen[e.Name()] || !compilers.MatchString(e.Name()) {
				continue
			}
			seen[e.Name()] = true
			at, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name()))
			if err != nil {
				continue
			}
			list = append(list, e.Name()+" "+at+" "+stamp(at))
		}
	}
	for _, t := range Toolchain(ctx, r.Dir, append([]string{r.Command}, r.Tools...)...) {
		list = append(list, t.Name+" "+t.Version)
	}
	slices.Sort(list)
	return list
}
