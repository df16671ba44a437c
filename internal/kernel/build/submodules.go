package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxModules is the maximum number of submodules whose objects are taken from here.
const maxModules = 1_000

// checkOutSubmodules checks out the submodules of a worktree. The clones in this repository's git folder come first; git asks
// a remote only for what they lack.
func (r *Repository) checkOutSubmodules(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, ".gitmodules")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if env, paths := r.localModules(ctx, dir); len(paths) > 0 {
		// Without the commit in the clone this fails, and the remote is asked below.
		_, _ = gitInput(ctx, dir, env, nil, append([]string{"submodule", "update", "--init", "--"}, paths...)...)
	}
	_, err := git(ctx, dir, "submodule", "update", "--init", "--recursive")
	return err
}

// localModules returns the submodules that the user cloned, and the configuration, as variables, by which git reads these
// clones instead of their remotes. Only addresses in the user's own configuration are replaced, and no other protocol is
// allowed: the commit may name any address.
func (r *Repository) localModules(ctx context.Context, dir string) (env, paths []string) {
	settings := [][2]string{{"protocol.allow", "never"}, {"protocol.file.allow", "always"}}
	urls, err := git(ctx, r.Root, "config", "--get-regexp", `^submodule\..*\.url$`)
	if err != nil {
		return nil, nil
	}
	for line := range strings.SplitSeq(urls, "\n") {
		key, url, ok := strings.Cut(line, " ")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".url")
		if !ok || !filepath.IsLocal(name) || len(paths) == maxModules {
			continue
		}
		clone := filepath.Join(r.git, "modules", name)
		path, err := git(ctx, dir, "config", "--file", ".gitmodules", "--get", "submodule."+name+".path")
		if _, statErr := os.Stat(filepath.Join(clone, "HEAD")); err == nil && statErr == nil && path != "" {
			settings = append(settings, [2]string{"url." + clone + ".insteadOf", url})
			paths = append(paths, path)
		}
	}
	env = []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings))}
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	return env, paths
}
