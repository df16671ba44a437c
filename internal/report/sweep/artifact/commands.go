package artifact

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
)

// writeCommands lists how to reproduce the sweep: the sweep on the same commit, the
// commands pawl ran, and the analysis from the record alone.
func writeCommands(run *measure.Run, record, pawl string) []byte {
	var b strings.Builder
	note := func(format string, args ...any) {
		fmt.Fprintf(&b, "# %s\n", words.Sanitize(fmt.Sprintf(format, args...)))
	}
	note("How to repeat run %s: measured %s by pawl %s, analyzed by pawl %s.", run.ID, run.Created.UTC().Format("2006-01-02 15:04:05 MST"), cmp.Or(run.Pawl, "unknown"), pawl)
	note("Device: %s; see environment.json for the rest of the machine.", run.Device.Name)
	b.WriteString("\n# The analysis, from the record: reproduces every other file in this folder, byte for byte.\n")
	b.WriteString("sha256sum -c MANIFEST\n")
	fmt.Fprintf(&b, "pawl sweep --from %s --out again\n\n", record)
	if run.Source == measure.Imported {
		note("The samples were imported from %s: pawl did not measure them and cannot repeat the measurement.", run.Format)
		return []byte(b.String())
	}
	note("The measurement, with the same order, inputs and number of rounds.")
	for _, i := range run.Implementations {
		if i.Name == measure.Candidate && i.Commit != "" {
			fmt.Fprintf(&b, "git checkout %s\n", quoted(i.Commit))
			if i.Dirty {
				note("The files had uncommitted changes: this commit is not everything that was measured.")
			}
		}
	}
	b.WriteString(sweepCommand(run) + "\n")
	for _, i := range run.Implementations {
		writeImplementation(&b, i, note)
	}
	return []byte(b.String())
}

// sweepCommand returns the command line of a sweep with this record's plan.
func sweepCommand(run *measure.Run) string {
	line := []string{"pawl sweep"}
	if run.Suite.Path != "" && path.Base(run.Suite.Path) != "pawl.yaml" {
		line = append(line, "--suite", quoted(run.Suite.Path))
	}
	p := run.Plan
	if p.Case != "" {
		line = append(line, "--case", quoted(p.Case))
	}
	if n := len(p.Growth); n > 0 {
		line = append(line, "--rounds", fmt.Sprint(p.Growth[n-1]))
	}
	if p.Override > 0 {
		line = append(line, "--samples", fmt.Sprint(p.Override))
	}
	return strings.Join(append(line, "--seed", fmt.Sprint(p.Seed)), " ")
}

func writeImplementation(b *strings.Builder, i measure.Implementation, note func(string, ...any)) {
	b.WriteString("\n")
	note("%s, which pawl built and ran with:", i.Name)
	if i.Build.Command != "" {
		note("  build:   %s", i.Build.Command)
	}
	note("  harness: %s", cmp.Or(i.Harness.Command, "unknown"))
	for _, t := range i.Toolchain {
		note("  %s %s", t.Name, t.Version)
	}
	for _, known := range []struct{ what, value string }{
		{"runtime", i.Harness.Runtime}, {"SDK", i.Harness.SDK}, {"digest", i.Digest},
	} {
		if known.value != "" {
			note("  %s: %s", known.what, known.value)
		}
	}
}

// quoted quotes s as one literal shell word.
func quoted(s string) string {
	s = words.Sanitize(s)
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@+-", r)
	}) && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
