package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/measure"
)

// Result is the result of a build.
type Result struct {
	Facts  measure.BuildFacts
	Cached bool   // nothing was built: the outputs come from the cache
	Key    string // digest of everything that affects the build; empty if not computed
	Log    string // what the build printed, now or when it was cached
	Ccache Ccache
	// Note is why a build that could have been cached was not; may be empty.
	Note string
}

// Error reports a build that failed.
type Error struct {
	Command string
	Dir     string
	Reason  string
	First   *Diagnostic // the first error that was recognized; nil if none
	Output  string      // the last lines of the output
	Log     string      // the file with the full output, if the caller keeps one

	vague bool // First only reports that something failed
}

func (e *Error) Error() string {
	s := fmt.Sprintf("build %q failed in %s: %s", shorten(e.Command), e.Dir, e.Reason)
	switch {
	case e.First != nil && !e.vague:
		s += "\n" + indent(e.First.Text(e.Dir))
	case e.Output != "":
		s += "\n" + indent(e.Output)
	}
	if e.Log != "" {
		s += "\n  full output: " + e.Log
	}
	return s
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

// shorten returns the first line of a command, so that a generated script does not hide the error.
func shorten(command string) string {
	first, _, more := strings.Cut(command, "\n")
	if more {
		return first + " ..."
	}
	return command
}

// Run builds and returns the facts of the build. All output goes to log.
func Run(ctx context.Context, r Recipe, log io.Writer) (measure.BuildFacts, error) {
	res, err := Make(ctx, r, log)
	return res.Facts, err
}

// Make builds, or restores the outputs of the same build from the cache.
func Make(ctx context.Context, r Recipe, log io.Writer) (Result, error) {
	if log == nil {
		log = io.Discard
	}
	res := Result{Facts: measure.BuildFacts{Command: r.Command}}
	if err := r.complete(); err != nil {
		return res, err
	}
	began := time.Now()
	if r.Command != "" {
		if err := r.make(ctx, &res, log); err != nil {
			return res, err
		}
		res.Facts.Seconds = time.Since(began).Seconds()
	}
	outputs, err := Digests(r.Dir, r.Outputs)
	if err != nil {
		return res, err
	}
	res.Facts.Outputs, res.Facts.Cached = outputs, res.Cached
	res.Facts.Sandboxed = r.Command != "" && r.Sandbox != nil
	if len(r.Outputs) > 0 && len(outputs) == 0 {
		return res, &Error{Command: r.Name(), Dir: r.Dir, Reason: fmt.Sprintf("the command succeeded, but none of its outputs exist: %s", strings.Join(r.Outputs, ", "))}
	}
	return res, nil
}

// Name describes a build on one line.
func (r Recipe) Name() string {
	if r.Title != "" {
		return r.Title
	}
	return r.Command
}

// complete checks that the tools of the recipe are installed, and creates its scratch folder.
func (r Recipe) complete() error {
	for _, t := range r.Tools {
		if lookTool(r.Env, t) == "" {
			return &MissingError{Tool: t, Why: fmt.Sprintf("%s needs it", r.Name())}
		}
	}
	if !strings.HasPrefix(r.Scratch, scratchRoot+"/") || r.Sandbox != nil { // untrusted code may have put a link there; the sandbox creates its own
		return nil
	}
	if err := os.MkdirAll(filepath.Join(r.Dir, filepath.FromSlash(r.Scratch)), 0o755); err != nil {
		return fmt.Errorf("cannot create the build folder: %w", err)
	}
	ignore := filepath.Join(r.Dir, filepath.FromSlash(scratchRoot), ".gitignore")
	if err := os.WriteFile(ignore, []byte("*\n"), 0o644); err != nil {
		return fmt.Errorf("cannot create the build folder: %w", err)
	}
	return nil
}

func (r Recipe) make(ctx context.Context, res *Result, log io.Writer) error {
	if r.Cache == nil || len(r.Outputs) == 0 {
		return r.execute(ctx, res, log)
	}
	before, err := r.snapshot(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errTooLarge):
		res.Note = err.Error()
		return r.execute(ctx, res, log)
	case err != nil:
		return fmt.Errorf("cannot read the build inputs: %w", err)
	}
	if len(before.missing) > 0 {
		res.Note = fmt.Sprintf("build.inputs names %s, which does not exist", before.missing[0])
	}
	res.Key = r.key(ctx, before)
	if !r.reuse(before, res, log) {
		if err := r.buildAndKeep(ctx, before, res, log); err != nil {
			return err
		}
	}
	if r.handed() && r.Cache.To != nil && r.Cache.has(res.Key) {
		return r.Cache.copyTo(r.Cache.To, res.Key)
	}
	return nil
}

// handed reports whether the build may move between machines. What a build outside the sandbox read is not known to be equal there.
func (r Recipe) handed() bool { return r.Cache.Tools != "" && r.Sandbox != nil }

// reuse restores the outputs of the same build from the cache, or from that of another machine.
func (r Recipe) reuse(before *snapshot, res *Result, log io.Writer) bool {
	if r.restore(r.Cache, anyEntry, "the cache", before, res, log) {
		return true
	}
	if !r.handed() || r.Cache.From == nil {
		return false
	}
	theirs := func(e *entry) bool { return r.mayWrite(e, before) }
	res.Facts.Elsewhere = r.restore(r.Cache.From, theirs, "another machine with equal tools", before, res, log)
	return res.Facts.Elsewhere
}

func (r Recipe) restore(from *Cache, allowed func(*entry) bool, where string, before *snapshot, res *Result, log io.Writer) bool {
	for _, key := range []string{res.Key, folderKey(res.Key, before.root)} {
		if e, printed, ok := from.restore(key, r.Dir, allowed); ok {
			res.Cached, res.Key, res.Log = true, key, string(printed)
			fmt.Fprintf(log, "# from %s, built in %.1f s: %s\n%s", where, e.Seconds, r.Name(), printed)
			return true
		}
	}
	return false
}

// mayWrite reports whether an entry of another machine has only outputs that the build could export from the sandbox here:
// declared ones, no sources and nothing of git, on paths without links.
func (r Recipe) mayWrite(e *entry, s *snapshot) bool {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return false
	}
	defer root.Close()
	for _, o := range e.Outputs {
		path := filepath.FromSlash(o.Path)
		source := filepath.Join(s.suiteFolder, path)
		if _, input := s.inputs[source]; input || s.tracked[source] || gitOwn(path) || !matchesAny(r.Outputs, filepath.ToSlash(filepath.Clean(path))) || checkNoLinks(root, path) != nil {
			return false
		}
	}
	return true
}

// buildAndKeep builds, and caches the outputs if they depend on nothing but what the key covers.
func (r Recipe) buildAndKeep(ctx context.Context, before *snapshot, res *Result, log io.Writer) error {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	defer root.Close()
	there, err := Digests(r.Dir, r.Outputs)
	if err != nil {
		return err
	}
	var old []string
	for _, o := range there {
		old = append(old, o.Path)
	}
	began := time.Now()
	a := makeOld(root, old, func(p string) bool { return before.tracked[filepath.Join(before.suiteFolder, p)] })
	err = r.execute(ctx, res, log)
	renewed := a.restore()
	if err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	after, err := r.snapshot(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("cannot read the build inputs: %w", err)
	case !before.unchangedIn(after):
		res.Note = "not cached: files changed during the build, or it continued an earlier build"
		return nil
	case !renewed:
		res.Note = "not cached: the build did not rewrite all its outputs"
		return nil
	}
	if err := r.keep(root, before, res, seconds); err != nil {
		res.Note = "not cached: " + err.Error() // the build itself succeeded
	}
	return nil
}

func (r Recipe) keep(root *os.Root, before *snapshot, res *Result, seconds float64) error {
	made := time.Now().UTC()
	e := entry{Key: res.Key, Command: r.Command, Seconds: seconds, Arch: r.Arch, Made: &made}
	outputs, err := Digests(r.Dir, r.Outputs)
	if err != nil || len(outputs) == 0 {
		return err
	}
	for _, o := range outputs {
		info, err := root.Stat(o.Path)
		if err != nil {
			return err
		}
		e.Outputs = append(e.Outputs, cachedOutput{Path: filepath.ToSlash(o.Path), Mode: info.Mode().Perm(), Digest: o.Digest})
		if named, err := containsPath(root, o.Path, before.root); err != nil {
			return err
		} else if named {
			e.Key = folderKey(res.Key, before.root)
		}
	}
	res.Key = e.Key
	return r.Cache.store(e, root, []byte(res.Log))
}

// containsPath reports whether a file contains the name of a folder, such as a library search path or
// the location of its sources. Such a file would be wrong in another folder.
func containsPath(root *os.Root, path, folder string) (bool, error) {
	f, err := root.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	needle := []byte(folder)
	buf := make([]byte, 1<<20+len(needle))
	held := 0
	for {
		n, err := io.ReadFull(f, buf[held:])
		if bytes.Contains(buf[:held+n], needle) {
			return true, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		held = copy(buf, buf[held+n-len(needle):held+n])
	}
}

// notFound matches the messages of shells for a missing command.
var notFound = lazyregexp.New(`(?m)(?:^|: )([^\s:]+): (?:command )?not found$|^make: (\S+): No such file or directory$`)

func (r Recipe) execute(ctx context.Context, res *Result, log io.Writer) error {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("it took longer than build.timeout (%v)", r.Timeout))
		defer cancel()
	}
	stats := newStatsLog(r)
	r.Env = r.environ(stats.env()...)
	var printed transcript
	cmd := shell.Command(ctx, r.Command, r.Dir, r.Env)
	cmd.Stdout = io.MultiWriter(&printed, log)
	cmd.Stderr = cmd.Stdout
	err := r.Sandbox.Run(ctx, cmd, r)
	res.Log, res.Ccache = printed.String(), stats.read()
	if _, ok := errors.AsType[*SandboxError](err); ok || err == nil {
		return err
	}
	reason := err.Error()
	if ctx.Err() != nil {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("build %q was stopped: %w", shorten(r.Name()), context.Cause(ctx))
		}
		reason = context.Cause(ctx).Error()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && (exit.ExitCode() == 127 || strings.Contains(res.Log, "Error 127")) {
		if m := notFound.FindStringSubmatch(res.Log); m != nil {
			return &MissingError{Tool: m[1] + m[2], Why: fmt.Sprintf("%q calls it", shorten(r.Name()))}
		}
	}
	e := &Error{Command: r.Name(), Dir: r.Dir, Reason: reason, Output: lastLines(res.Log, 20)}
	if d, vague, ok := firstError(res.Log); ok {
		e.First, e.vague = &d, vague
	}
	return e
}

// transcript keeps the start and the end of a build's output: the first error is early, the
// reason for stopping is late.
type transcript struct {
	head, tail []byte
	cut        bool
}

const (
	headBytes = 8 << 20
	tailBytes = 64 << 10
)

func (t *transcript) Write(p []byte) (int, error) {
	n := min(len(p), headBytes-len(t.head))
	t.head = append(t.head, p[:n]...)
	if rest := p[n:]; len(rest) > 0 {
		t.tail = append(t.tail, rest...)
		if len(t.tail) > 2*tailBytes {
			t.tail = append([]byte(nil), t.tail[len(t.tail)-tailBytes:]...)
			t.cut = true
		}
	}
	return len(p), nil
}

func (t *transcript) String() string {
	if t.cut {
		return string(t.head) + "\n[...]\n" + string(t.tail)
	}
	return string(t.head) + string(t.tail)
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
