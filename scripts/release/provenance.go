package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// ownSums is the file that names the files of a release. It changes after they were built.
const ownSums = "checksums.txt"

// committed returns the SHA-256 of the list of committed files, and an error if the working tree differs from it.
func committed(ctx context.Context) (string, error) {
	status, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output()
	if err != nil {
		return "", fmt.Errorf("ask git for changes: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if name := strings.TrimSpace(line[min(3, len(line)):]); name != ownSums {
			return "", fmt.Errorf("%s is not committed: a release is built from a commit", name)
		}
	}
	list, err := exec.CommandContext(ctx, "git", "ls-files", "--stage").Output()
	if err != nil {
		return "", fmt.Errorf("list committed files: %w", err)
	}
	h := sha256.New()
	for line := range bytes.Lines(list) {
		if !bytes.HasSuffix(line, []byte("\t"+ownSums+"\n")) {
			h.Write(line)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// provenance returns a statement of in-toto, without a signature: what the files are, and what they were built from.
// The workflow that publishes them signs its own.
func provenance(r *release) ([]byte, error) {
	type digest map[string]string
	type resource struct {
		Name        string            `json:"name"`
		Digest      digest            `json:"digest,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	subjects := []resource{}
	for _, name := range slices.Sorted(maps.Keys(r.sums)) {
		subjects = append(subjects, resource{Name: name, Digest: digest{"sha256": r.sums[name]}})
	}
	text, err := json.MarshalIndent(map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{"buildDefinition": map[string]any{
			"buildType":          "https://github.com/goatnote-inc/pawl/blob/main/docs/how-to/release.md",
			"externalParameters": map[string]any{"version": r.version},
			"resolvedDependencies": []resource{
				{Name: "sources", Digest: digest{"sha256": r.sources}, Annotations: map[string]string{"command": "git ls-files --stage | grep -v '\t" + ownSums + "$' | sha256sum"}},
				{Name: "go", Annotations: map[string]string{"version": runtime.Version()}},
			},
		}},
	}, "", "  ")
	return append(text, '\n'), err
}
