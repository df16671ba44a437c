package client

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// clone is a directory in a git working tree.
type clone string

// history returns a commit and its first parents, newest first, as far as the clone has them.
func (c clone) history(ctx context.Context, sha string, now time.Time) ([]Commit, error) {
	if !hexOf(sha, 40) && !hexOf(sha, 64) {
		return nil, fmt.Errorf("%.80q is not a commit", sha)
	}
	out, err := c.git(ctx, 16<<20, "log", "-z", "--first-parent", "--max-count="+strconv.Itoa(MaxHistory+1), "--format=%H%n%P%n%ct%n%an%n%s", sha, "--")
	if err != nil {
		return nil, err
	}
	var list []Commit
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		fields := strings.SplitN(entry, "\n", 5)
		if len(fields) < 5 {
			return nil, fmt.Errorf("git log: cannot parse entry %.80q", entry)
		}
		m := Commit{SHA: fields[0], Author: line(fields[3], maxName), Title: line(fields[4], 200)}
		m.Parent, _, _ = strings.Cut(fields[1], " ")
		// A wrong clock leaves a time that no server accepts, so it is omitted.
		if seconds, err := strconv.ParseInt(fields[2], 10, 64); err == nil && seconds >= earliest.Unix() && seconds <= now.Unix() {
			at := time.Unix(seconds, 0).UTC()
			m.At = &at
		}
		list = append(list, m)
	}
	return list, nil
}

// branch returns the branch that the clone has checked out, if it is at the commit.
func (c clone) branch(ctx context.Context, sha string) string {
	head, err := c.git(ctx, 1<<10, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil || strings.TrimSpace(string(head)) != sha {
		return ""
	}
	name, err := c.git(ctx, 4<<10, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		return "" // detached HEAD
	}
	return strings.TrimSpace(string(name))
}

// owners returns the owners in the commit's CODEOWNERS, from the first location in GitHub's search order.
func (c clone) owners(ctx context.Context, sha string) Owners {
	for _, name := range []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"} {
		if text, err := c.git(ctx, maxOwnersFile, "cat-file", "blob", sha+":"+name); err == nil {
			return ParseOwners(text)
		}
	}
	return Owners{}
}

// git runs a read-only command. Repository settings that could start programs are disabled.
func (c clone) git(ctx context.Context, most int64, args ...string) ([]byte, error) {
	safe := []string{
		"--no-replace-objects", "--literal-pathspecs", "--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
		"-c", "protocol.ext.allow=never", "-c", "log.showSignature=false", "-c", "i18n.logOutputEncoding=UTF-8",
	}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir = string(c)
	cmd.Env = append(shell.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	cmd.WaitDelay = shell.Grace
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(pipe, most+1))
	if err == nil && int64(len(out)) > most {
		_ = cmd.Process.Kill()
		err = fmt.Errorf("its output is longer than %d bytes", most)
	}
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}
