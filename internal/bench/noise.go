package bench

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/goatnote-inc/pawl/internal/build"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// sameCode is what is kept of a run of the same code against itself: of each case the logarithms of the
// ratios of the sides, in the order of rounds.
type sameCode struct {
	Run   string               `json:"run"`
	Cases map[string][]float64 `json:"cases"`
}

// noiseFile is where same-code runs of a testbed are kept, a line each. It lies in pawl's cache, which the
// sides cannot write to, and can be made again.
func noiseFile(t measure.Testbed) (string, error) {
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

// KeepNoise keeps what a run of the same code against itself says of its testbed, and returns what is known
// of it now.
func KeepNoise(run *measure.Run) (ratchet.Dependence, error) {
	path, err := noiseFile(run.Testbed)
	if err != nil {
		return nil, err
	}
	kept := sameCode{Run: run.ID, Cases: map[string][]float64{}}
	runs := []*measure.Run{run}
	for _, e := range ratchet.Gather(runs, runs, measure.Base, measure.Candidate) {
		if e.CandidateError == "" && e.BaseError == "" && e.Case.Metric == "" && e.Rounds() > 0 {
			kept.Cases[e.Case.Name()] = e.LogRatios()
		}
	}
	line, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("keep the noise of this testbed: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keep the noise of this testbed: %w", err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep the noise of this testbed: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("keep the noise of this testbed: %w", err)
	}
	return knownDependence(run.Testbed)
}

// knownDependence is what same-code runs of a testbed showed; nil where there were too few. A line that cannot be
// read was cut short when its writer was, and is left out.
func knownDependence(t measure.Testbed) (ratchet.Dependence, error) {
	path, err := noiseFile(t)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is known, which is no error
	}
	if err != nil {
		return nil, fmt.Errorf("read the noise of this testbed: %w", err)
	}
	cases := map[string][]float64{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Buffer(nil, len(text)+1); lines.Scan(); {
		var s sameCode
		if json.Unmarshal(lines.Bytes(), &s) != nil {
			continue
		}
		for name, ratios := range s.Cases {
			cases[name] = append(cases[name], ratios...)
		}
	}
	var list [][]float64
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		list = append(list, cases[name])
	}
	return ratchet.NewDependence(list), nil
}
