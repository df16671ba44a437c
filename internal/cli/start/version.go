package start

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
	"github.com/goatnote-inc/pawl/internal/kernel/device/nvml"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// versionDocument is the JSON output of pawl version.
type versionDocument struct {
	Schema  string           `json:"schema"`
	Version string           `json:"version"`
	Commit  string           `json:"commit,omitempty"` // empty in a release, whose commit contains its checksum
	Go      string           `json:"go"`
	System  string           `json:"system"`
	NVML    bool             `json:"nvml"` // reads NVIDIA GPUs with the library, not with nvidia-smi
	Formats []versionFormat  `json:"formats"`
	Latest  string           `json:"latest,omitempty"`
	Checks  []versionFinding `json:"checks,omitempty"`
}

// versionFormat is a format that other programs read or that pawl stores.
type versionFormat struct {
	Name   string `json:"name"`
	Writes string `json:"writes"`
	Reads  string `json:"reads"`
}

func versionFormats() []versionFormat {
	list := []versionFormat{{"suite file", "version 1", "version 1"}}
	protocol := fmt.Sprintf("version %d", harness.Version)
	list = append(list, versionFormat{"harness protocol", protocol, protocol})
	for _, f := range [][2]string{
		{"run record", measure.SchemaRun},
		{"journal of a run", measure.SchemaJournal},
		{"verdict", ratchet.Schema},
		{"ledger", ratchet.SchemaLedger},
		{"profile record", profile.Format},
		{"journal of tuning", tune.Format},
		{"comparison", sweep.Schema},
		{"account of a run", cost.Schema},
	} {
		list = append(list, versionFormat{f[0], f[1], f[1]})
	}
	return list
}

// NewVersion returns the command pawl version.
func NewVersion(g *env.Env) *cobra.Command {
	var check, asJSON bool
	var api string
	c := &cobra.Command{
		Use:   "version",
		Short: "Show the version of pawl, the formats it reads, and whether it fits this repository",
		Long: `Prints the version, what it was built from and with, and the formats it reads and writes.

--check compares it with the version that wrote this repository's workflows, with the one
they install, and with the newest release if the API of a forge is set (--api, or
GITHUB_API_URL). A forge that does not answer in three seconds is not an error. The exit
code is 1 if the workflows were written by a newer pawl than this one.`,
		Example: `  pawl version
  pawl version --check
  pawl version --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := thisVersion()
			if check {
				if api == "" {
					api = g.Getenv(github.APIVariable)
				}
				files, err := repositoryWorkflows(".")
				if err != nil {
					return err
				}
				d.Latest, d.Checks = newestRelease(cmd.Context(), api, 3*time.Second)
				d.Checks = append(versionFindings(d.Version, d.Latest, files), d.Checks...)
			}
			if err := showVersion(g, d, check, asJSON); err != nil {
				return err
			}
			for _, f := range d.Checks {
				if f.Bad {
					return command.Exit(command.ExitFailed, command.ErrReported) // the checks already show it
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "compare with this repository's workflows and the newest release")
	c.Flags().StringVar(&api, "api", "", "`URL` of the forge's API to ask for the newest release")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

func thisVersion() versionDocument {
	d := versionDocument{
		Schema: "pawl.version/v1", Version: version.Version(), Commit: version.Commit(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Formats: versionFormats(),
		NVML: nvml.Available,
	}
	return d
}

func showVersion(g *env.Env, d versionDocument, check, asJSON bool) error {
	if asJSON {
		return command.WriteJSON(g.Out, d)
	}
	reads := "nvidia-smi"
	if d.NVML {
		reads = "NVML"
	}
	fmt.Fprintf(g.Out, "pawl %s, %s, %s, reads NVIDIA GPUs with %s\n", d.Version, d.System, d.Go, reads)
	if d.Commit != "" {
		fmt.Fprintf(g.Out, "built from commit %s\n", d.Commit)
	}
	if !check {
		for _, f := range d.Formats {
			fmt.Fprintf(g.Out, "  %-18s %s\n", f.Name, f.Writes)
		}
		return nil
	}
	if len(d.Checks) == 0 {
		fmt.Fprintln(g.Out, g.Style().Good("ok")+": nothing here expects another version of pawl")
	}
	for _, f := range d.Checks {
		mark := g.Style().Faint("note")
		if f.Bad {
			mark = g.Style().Bad("FAIL")
		}
		fmt.Fprintf(g.Out, "%s: %s\n", mark, words.Sanitize(f.Message))
	}
	return nil
}

// repositoryWorkflows returns the workflows of the repository that contains a folder.
func repositoryWorkflows(dir string) (map[string][]byte, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for filepath.Dir(at) != at {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			break
		}
		at = filepath.Dir(at)
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, fmt.Errorf("cannot read the repository's workflows: %w", err)
	}
	defer func() { _ = root.Close() }()
	return workflow.Files(root.FS()), nil
}

// newestRelease asks the forge for the newest release, if an API is named. A failure is only a note.
func newestRelease(ctx context.Context, api string, patience time.Duration) (string, []versionFinding) {
	if api == "" {
		return "", nil
	}
	note := func(why string) []versionFinding {
		return []versionFinding{{Message: "the newest release is unknown: " + why}}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tag, err := github.LatestRelease(ctx, api, workflow.OwnRepository)
	if err != nil {
		return "", note(err.Error())
	}
	latest := strings.TrimPrefix(tag, "v")
	if _, ok := parseVersion(latest); !ok {
		return "", note("the forge names no valid version")
	}
	return latest, nil
}
