package build

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Changed are the files in which the working tree differs from a commit, by their paths
// from the top of the repository: both names of what was moved, and what git does not
// track yet.
func (r *Repository) Changed(ctx context.Context, commit string) ([]string, error) {
	// Each name follows a status: what git() trims is never part of one.
	out, err := git(ctx, r.Root, "diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", commit, "--")
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(fields)%2 != 0 && out != "" {
		return nil, fmt.Errorf("git diff against %.12s: an answer with %d fields", commit, len(fields))
	}
	var files []string
	for i := 1; i < len(fields); i += 2 {
		files = append(files, fields[i])
	}
	if out, err = git(ctx, r.Root, "ls-files", "-z", "-t", "--others", "--exclude-standard"); err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(out, "\x00") {
		if name, ok := strings.CutPrefix(name, "? "); ok {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
