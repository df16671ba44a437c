package install_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
	"github.com/goatnote-inc/pawl/internal/forge/workflow/install"
)

func TestWrite_OnceThenUpgrade(t *testing.T) {
	dir := t.TempDir()
	testrun.Git(t, dir, "init", "--quiet")
	suite := "version: 1\nharness: {command: ./h}\nbenchmarks: {sum: {matrix: {N: [1]}}}\n"
	if err := os.WriteFile(filepath.Join(dir, "pawl.yaml"), []byte(suite), 0o644); err != nil {
		t.Fatal(err)
	}
	if folders, err := install.Suites(t.Context(), dir); err != nil || len(folders) != 1 || folders[0] != "." {
		t.Fatalf("suites in %v, error %v", folders, err)
	}
	r := install.Request{
		Settings: workflow.Settings{Action: "goatnote-inc/pawl@0123456789012345678901234567890123456789"},
		Now:      time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC),
	}
	deeds := func(r install.Request) map[string]workflow.Action {
		t.Helper()
		done, err := install.Write(t.Context(), dir, r)
		if err != nil {
			t.Fatal(err)
		}
		list := map[string]workflow.Action{}
		for _, c := range done.Files {
			list[c.Path] = c.Deed
		}
		return list
	}
	if got := deeds(r); got[workflow.GateFile] != workflow.Create || got["pawl.yaml"] != "extended" || got[workflow.RulesetFile] != workflow.Create {
		t.Errorf("the first time: %v", got)
	}
	_, err := install.Write(t.Context(), dir, r)
	if _, ok := errors.AsType[*forge.InputError](err); !ok {
		t.Errorf("the second time: error %v", err)
	}
	r.Upgrade = true
	if got := deeds(r); got[workflow.GateFile] != workflow.Same {
		t.Errorf("an upgrade: %v", got)
	}
	gate := filepath.Join(dir, workflow.GateFile)
	text, err := os.ReadFile(gate)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, append(text, "# edited\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := deeds(r); got[workflow.GateFile] != workflow.Keep {
		t.Errorf("an upgrade of an edited file: %v", got)
	}
}
