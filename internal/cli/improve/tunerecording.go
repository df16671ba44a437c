package improve

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/internal/tune/replay"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// openRecording reads a recorded space: its CSV file, or the results of a search in any supported format.
// Results of an incomplete search contain only the points it tried.
func openRecording(path string) (*replay.Recording, error) {
	if name := strings.TrimSuffix(path, ".gz"); strings.HasSuffix(name, ".csv") {
		return replay.Open(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read recorded space: %w", err)
	}
	defer f.Close()
	h, list, err := tune.Import(f)
	if err != nil {
		return nil, fmt.Errorf("cannot read recorded space %s: %w", path, err)
	}
	rec, err := recordingOf(h, list)
	if err != nil {
		return nil, fmt.Errorf("cannot read recorded space %s: %w", path, err)
	}
	rec.Name = filepath.Base(path)
	return rec, nil
}

// recordingOf converts evaluations to a recording.
func recordingOf(h tune.Header, list []tune.Evaluation) (*replay.Recording, error) {
	parameters := make([]space.Parameter, len(h.Space.Parameters))
	places := make([]map[string]uint16, len(parameters))
	for i, p := range h.Space.Parameters {
		parameters[i] = space.Parameter{Name: p.Name, Values: space.Sorted(p.Values), Default: p.Default}
		places[i] = map[string]uint16{}
		for k, v := range parameters[i].Values {
			places[i][tune.Key(map[string]any{"": v})] = uint16(k)
		}
	}
	rec := &replay.Recording{Optimum: math.Inf(1)}
	var points [][]uint16
	for _, e := range list {
		point := make([]uint16, len(parameters))
		for i, p := range parameters {
			v, there := e.Point[p.Name]
			k, ok := places[i][tune.Key(map[string]any{"": v})]
			if !ok || !there {
				return nil, fmt.Errorf("evaluation %d: %v is not a value of %s", e.N, e.Point[p.Name], p.Name)
			}
			point[i] = k
		}
		row := replay.Row{Status: string(e.Status), Cost: e.Seconds()}
		if e.Status == tune.OK {
			row.Time = e.Value / 1e6
			for _, x := range e.Samples {
				row.Times = append(row.Times, x/1e6)
			}
			rec.Optimum = min(rec.Optimum, row.Time)
		}
		points, rec.Rows = append(points, point), append(rec.Rows, row)
	}
	if math.IsInf(rec.Optimum, 1) {
		return nil, errors.New("no evaluation has a time")
	}
	var err error
	rec.Space, err = space.FromPoints(parameters, points)
	return rec, err
}
