// Package noise keeps what runs of the same code against itself showed of a testbed, and how much its rounds depend on each
// other. It must not know how anything is measured.
package noise

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// sameCode holds the results of a run of the same code against itself: for each case, the
// logarithms of the ratios of the sides, in the order of rounds.
type sameCode struct {
	Run   string               `json:"run"`
	Cases map[string][]float64 `json:"cases"`
}

// fileOf returns the path where same-code runs of a testbed are kept, one per line. It is in
// pawl's cache, which the sides cannot write to, and can be recreated.
func fileOf(t measure.Testbed) (string, error) {
	dir, err := build.CacheDir()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "noise", fmt.Sprintf("%x.jsonl", sha256.Sum256(text))), nil
}

// maxKeptRuns is the max number of same-code runs kept for a testbed; the latest are kept.
const maxKeptRuns = 64

// Keep stores the results of a run of the same code against itself for its testbed. It returns
// all stored results: for each case the logarithms of the ratios of the sides, run after run.
func Keep(run *measure.Run) (map[string][]float64, error) {
	path, err := fileOf(run.Testbed)
	if err != nil {
		return nil, err
	}
	now := sameCode{Run: run.ID, Cases: map[string][]float64{}}
	runs := []*measure.Run{run}
	for _, e := range ratchet.Gather(runs, runs, measure.Base, measure.Candidate) {
		if e.CandidateError == "" && e.BaseError == "" && e.Case.Metric == "" && e.Rounds() > 0 {
			now.Cases[e.Case.Name()] = e.LogRatios()
		}
	}
	kept := append(read(path), now)
	kept = kept[max(0, len(kept)-maxKeptRuns):]
	var text bytes.Buffer
	for _, s := range kept {
		if err := json.NewEncoder(&text).Encode(s); err != nil {
			return nil, fmt.Errorf("cannot save the noise of this testbed: %w", err)
		}
	}
	err = os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = disk.WriteAtomic(path, text.Bytes())
	}
	if err != nil {
		return nil, fmt.Errorf("cannot save the noise of this testbed: %w", err)
	}
	return byCase(kept), nil
}

// read reads the same-code runs of a testbed. It skips unreadable lines, since this is a cache.
func read(path string) []sameCode {
	text, _ := os.ReadFile(path)
	var list []sameCode
	for line := range bytes.Lines(text) {
		var s sameCode
		if json.Unmarshal(line, &s) == nil {
			list = append(list, s)
		}
	}
	return list
}

func byCase(runs []sameCode) map[string][]float64 {
	cases := map[string][]float64{}
	for _, s := range runs {
		for name, ratios := range s.Cases {
			cases[name] = append(cases[name], ratios...)
		}
	}
	return cases
}

// Known returns the dependence that same-code runs of a testbed showed; nil if there were too few.
func Known(t measure.Testbed) ratchet.Dependence {
	path, err := fileOf(t)
	if err != nil {
		return nil
	}
	return Dependence(byCase(read(path)))
}

// Dependence estimates how much rounds of a testbed depend on each other, from the results of same-code runs.
func Dependence(cases map[string][]float64) ratchet.Dependence {
	var list [][]float64
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		list = append(list, cases[name])
	}
	return ratchet.NewDependence(list)
}
