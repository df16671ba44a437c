package start

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
)

// agentsText is the template of AGENTS.md: the loop, the rules, what is refused.
//
//go:embed agents.md.tmpl
var agentsText string

// skillHead turns AGENTS.md into a skill, which clients load only when its description fits the task.
const skillHead = `---
name: pawl
description: Judge whether a GPU or CPU kernel is correct and how much faster it is than the base. Use it when you change, optimize or tune a kernel that has a pawl.yaml.
---
`

// agentFile is a file that agents or their clients read.
type agentFile struct {
	Path string `json:"path"`
	Deed string `json:"deed"`          // written, there (unchanged) or kept
	Add  string `json:"add,omitempty"` // text to add by hand to a file that was kept
	text string
}

// runAgents writes what agents need at the top of the repository: AGENTS.md, the same as a skill, and the
// configuration with which each client finds pawl mcp. An existing file with other content is kept, and the text to add
// to it is printed.
func (f *initFlags) runAgents(ctx context.Context) error {
	repo, err := build.Open(ctx, ".")
	if err != nil {
		return command.Exit(command.ExitCannot, fmt.Errorf("agent files belong at the top of a git repository: %w\n  run `git init`", err))
	}
	folder, err := suiteFolder(repo.Root)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(repo.Root)
	if err != nil {
		return fmt.Errorf("cannot open %s: %w", repo.Root, err)
	}
	defer root.Close()
	files := agentFiles(folder)
	var kept []string
	for i := range files {
		if err := files[i].write(root, f.force); err != nil {
			return err
		}
		if files[i].Deed == "kept" {
			kept = append(kept, files[i].Path)
		}
	}
	if err := f.printAgents(files); err != nil {
		return err
	}
	if kept != nil {
		return command.Usage(fmt.Errorf("%s already there and not changed: add the text shown above by hand\n  or run `pawl init --agents --force` to overwrite", isAre(kept)))
	}
	return nil
}

func isAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// suiteFolder returns the folder of the suite, relative to the top of the repository.
func suiteFolder(top string) (string, error) {
	if !env.Exists(discover.SuiteFile) {
		return "", command.Usage(fmt.Errorf("no %s in this folder\n  run `pawl init` to write one, or choose its folder with -C", discover.SuiteFile))
	}
	here, err := filepath.Abs(".")
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return "", fmt.Errorf("cannot get the current folder: %w", err)
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		return "", fmt.Errorf("cannot resolve the path of the repository: %w", err)
	}
	rel, err := filepath.Rel(top, here)
	if err != nil {
		return "", fmt.Errorf("cannot locate the suite in the repository: %w", err)
	}
	return filepath.ToSlash(rel), nil
}

// agentFiles returns the files to write for a suite in folder.
func agentFiles(folder string) []agentFile {
	args := []string{"mcp"}
	where := "the top folder"
	if folder != "." {
		args = []string{"-C", folder, "mcp"}
		where = "`" + folder + "`"
	}
	server := map[string]any{"type": "stdio", "command": "pawl", "args": args}
	config := func(key string) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		_ = e.Encode(map[string]any{key: map[string]any{"pawl": server}}) //nolint:errchkjson // words and lists of words
		return b.String()
	}
	words, _ := json.Marshal(args) //nolint:errchkjson // strings; JSON strings are valid in TOML
	rules := strings.ReplaceAll(agentsText, "{{folder}}", where)
	return []agentFile{
		{Path: "AGENTS.md", text: rules},
		{Path: ".claude/skills/pawl/SKILL.md", text: skillHead + rules},
		{Path: ".mcp.json", text: config("mcpServers")},
		{Path: ".cursor/mcp.json", text: config("mcpServers")},
		{Path: ".vscode/mcp.json", text: config("servers")},
		{Path: ".codex/config.toml", text: fmt.Sprintf("[mcp_servers.pawl]\ncommand = \"pawl\"\nargs = %s\n", words)},
	}
}

// write writes the file, unless one with other content exists and force is false.
func (a *agentFile) write(root *os.Root, force bool) error {
	is, err := root.ReadFile(filepath.FromSlash(a.Path))
	switch {
	case err == nil && string(is) == a.text:
		a.Deed = "there"
		return nil
	case err == nil && !force:
		a.Deed, a.Add = "kept", a.text
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read %s: %w", a.Path, err)
	}
	if dir := path.Dir(a.Path); dir != "." {
		if err := root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			return fmt.Errorf("make %s: %w", dir, err)
		}
	}
	if err := root.WriteFile(filepath.FromSlash(a.Path), []byte(a.text), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", a.Path, err)
	}
	a.Deed = "written"
	return nil
}

func (f *initFlags) printAgents(files []agentFile) error {
	if f.json {
		return command.WriteJSON(f.Out, map[string]any{"files": files})
	}
	var b strings.Builder
	for _, a := range files {
		fmt.Fprintf(&b, "%-8s  %s\n", a.Deed, a.Path)
		for line := range strings.Lines(a.Add) {
			b.WriteString("    " + line)
		}
	}
	b.WriteString("An agent that edits kernels executes code here: run it in a sandbox.\n")
	_, err := f.Out.Write([]byte(b.String()))
	return err
}
