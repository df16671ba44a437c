package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The documentation is spelled as Americans do. words.txt has the words of this project.
func TestSpelling(t *testing.T) {
	cspell := filepath.Join(os.Getenv("PAWL_SPELL_MODULES"), "node_modules", "cspell", "bin.mjs")
	if _, err := os.Stat(cspell); err != nil {
		t.Skip("there is no cspell: scripts/spell-modules fetches it, PAWL_SPELL_MODULES says where it is")
	}
	cmd := exec.CommandContext(t.Context(), "node", cspell, "lint", "--config", filepath.Join("scripts", "site", "cspell.json"),
		"--no-progress", "--no-summary", "--no-color", "--show-suggestions", "docs/**/*.md", "*.md")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("correct these words, or add them to scripts/site/words.txt: %v\n%s", err, out)
	}
}
