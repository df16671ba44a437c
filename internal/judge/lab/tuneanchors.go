package lab

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/goatnote-inc/pawl/internal/tune/replay"
)

// anchorEvaluations are the numbers of evaluations for which anchors.csv has means.
var anchorEvaluations = []int{20, 50, 100, 200}

// maxAnchors bounds the number of rows in the file.
const maxAnchors = 10_000

// ReadAnchors reads what strategies of other tools reached on the recorded spaces.
func ReadAnchors(path string) ([]TuneRow, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("anchors: %w", err)
	}
	defer f.Close()
	list, err := parseAnchors(f)
	if err != nil {
		return nil, fmt.Errorf("anchors %s: %w", path, err)
	}
	return list, nil
}

func parseAnchors(r io.Reader) ([]TuneRow, error) {
	rows := csv.NewReader(r)
	head, err := rows.Read()
	if err != nil {
		return nil, err
	}
	columns := map[string]int{}
	for i, name := range head {
		columns[name] = i
	}
	for _, need := range []string{"space", "strategy", "repeats"} {
		if _, ok := columns[need]; !ok {
			return nil, fmt.Errorf("there is no column %s", need)
		}
	}
	all, err := rows.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(all) > maxAnchors {
		return nil, fmt.Errorf("%d rows, the limit is %d", len(all), maxAnchors)
	}
	var list []TuneRow
	for _, cells := range all {
		repeats, _ := strconv.Atoi(cells[columns["repeats"]])
		row := TuneRow{Space: cells[columns["space"]], Strategy: cells[columns["strategy"]], Repeats: repeats}
		for _, n := range anchorEvaluations {
			column, ok := columns[fmt.Sprintf("mean_frac_opt_%d", n)]
			if !ok {
				continue
			}
			if mean, err := strconv.ParseFloat(cells[column], 64); err == nil { // not every strategy ran that long
				row.Levels = append(row.Levels, replay.Level{Evaluations: n, Mean: mean})
			}
		}
		list = append(list, row)
	}
	return list, nil
}

// commonSpaces returns the spaces on which every strategy was measured that covers most spaces.
func commonSpaces(anchors []TuneRow) []string {
	by := map[string][]string{} // spaces by strategy
	var spaces []string
	for _, a := range anchors {
		by[a.Strategy] = append(by[a.Strategy], a.Space)
		if !slices.Contains(spaces, a.Space) {
			spaces = append(spaces, a.Space)
		}
	}
	return slices.DeleteFunc(slices.Clone(spaces), func(space string) bool {
		for _, measured := range by {
			if 2*len(measured) > len(spaces) && !slices.Contains(measured, space) {
				return true
			}
		}
		return false
	})
}
