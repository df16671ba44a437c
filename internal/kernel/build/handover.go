package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// toolsFile is the file of a handover that names the tools with which its builds were made.
const toolsFile = "host-tools"

// Handover is a folder in which builds go from one machine to another. It is only used on a machine with equal tools.
type Handover struct {
	dir   string
	tools HostTools
}

// NewHandover returns the handover in the folder dir, for builds of a suite in another one.
func NewHandover(ctx context.Context, dir, suite string) (*Handover, error) {
	tools, err := FindHostTools(ctx, suite)
	if err != nil {
		return nil, err
	}
	return &Handover{dir, tools}, nil
}

// Fill lets the cache copy each build that is used into the folder. Finish ends it.
func (h *Handover) Fill(ctx context.Context, c *Cache) error {
	digest, err := h.tools.Digest(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return fmt.Errorf("cannot create the folder of builds: %w", err)
	}
	if err := disk.WriteAtomic(filepath.Join(h.dir, toolsFile), []byte(digest)); err != nil {
		return fmt.Errorf("cannot write the folder of builds: %w", err)
	}
	c.Tools, c.To = digest, &Cache{Dir: h.dir}
	return nil
}

// Finish makes the folder useless if the tools changed since Fill: it is not known which of them a build used.
func (h *Handover) Finish(ctx context.Context) error {
	if digest, err := h.tools.Digest(ctx); err == nil && digest == h.named() {
		return nil
	}
	if err := os.Remove(filepath.Join(h.dir, toolsFile)); err != nil {
		return fmt.Errorf("cannot end the folder of builds: %w", err)
	}
	return errors.New("the tools of this machine changed during the build: nothing is handed over")
}

// Use lets the cache take builds from the folder. It reports why not if the tools are not known to be equal.
func (h *Handover) Use(ctx context.Context, c *Cache) error {
	theirs := h.named()
	if theirs == "" {
		return errors.New("the folder is not one that `pawl run --build-only --builds` has filled")
	}
	ours, err := h.tools.Kept(ctx)
	if err != nil {
		return err
	}
	if ours != theirs {
		return errors.New("they were built with other tools, libraries or headers, or for another processor")
	}
	c.Tools, c.From = ours, &Cache{Dir: h.dir}
	return nil
}

func (h *Handover) named() string {
	text, _ := disk.ReadRegular(filepath.Join(h.dir, toolsFile), 1<<10)
	return string(text)
}

func (c *Cache) has(key string) bool {
	_, err := os.Stat(filepath.Join(c.at(key), "entry.json"))
	return err == nil
}

// copyTo copies an entry to another cache, where it appears atomically.
func (c *Cache) copyTo(to *Cache, key string) error {
	if to.has(key) {
		return nil
	}
	err := os.MkdirAll(filepath.Join(to.Dir, "tmp"), 0o700)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to.at(key)), 0o700)
	}
	var tmp string
	if err == nil {
		tmp, err = os.MkdirTemp(filepath.Join(to.Dir, "tmp"), "new-")
	}
	if err == nil {
		defer os.RemoveAll(tmp)
		err = os.CopyFS(tmp, os.DirFS(c.at(key)))
	}
	if err == nil {
		err = os.Rename(tmp, to.at(key))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot hand over a build: %w", err)
	}
	return nil
}
