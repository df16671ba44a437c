package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// Journal is the record of a run during its measurement. Every method that adds to it returns only when
// the addition is on disk, so that a crash loses at most the current round.
type Journal struct {
	file     *os.File
	declared map[CaseKey]int
	seal     Seal
	size     int64 // of all lines
	err      error // first write error; the tail is then unknown, so further writes fail
}

// Seal is called with each line of a journal before it is written, and with the offset at which it will
// be. If it fails, the line is not written. A seal that is kept where only pawl can write shows later
// whether the lines of the journal are pawl's. A nil Seal does nothing.
type Seal func(offset int64, line []byte) error

// Result holds the measurements of one case by one side of a round.
type Result struct {
	Case  CaseKey
	Round CaseRound
	Sums  []float64 // sum of the output of each sample, to compare the sides; not recorded
	// Values are the other metrics of the case. The record has each of them as a case of its own.
	Values []Values
}

// The lines of a journal. Each is a JSON object whose first member is its kind.
type (
	openRecord struct {
		Record string `json:"record"` // "open"
		Schema string `json:"schema"`
		Run    Header `json:"run"`
	}
	casesRecord struct {
		Record string           `json:"record"` // "cases": numbers the cases from first on
		First  int              `json:"first"`
		Cases  []caseDefinition `json:"cases"`
	}
	calibrationRecord struct {
		Record      string      `json:"record"` // "calibration"
		Calibration Calibration `json:"calibration"`
	}
	endRecord struct {
		Record string `json:"record"` // "end"
		Ending
	}
	resumedRecord struct {
		Record  string  `json:"record"` // "resumed": another process continues; an end before it does not count
		Warning Warning `json:"warning"`
	}
)

// CreateJournal creates the journal of a run at path, which must not exist.
func CreateJournal(path string, h Header, seal Seal) (*Journal, error) {
	h.Schema = SchemaRun
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot start the journal of a run: %w", err)
	}
	j := &Journal{file: f, declared: map[CaseKey]int{}, seal: seal}
	if err := j.add(openRecord{Record: "open", Schema: SchemaJournal, Run: h}); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := disk.SyncDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// ResumeJournal continues a journal, open for appending, after its first size bytes, which must be whole lines and hold
// the run so far. It drops the rest. The record of the run will have the warning. The journal closes the file.
func ResumeJournal(f *os.File, size int64, run *Run, w Warning, seal Seal) (*Journal, error) {
	j := &Journal{file: f, declared: map[CaseKey]int{}, seal: seal, size: size}
	for i, c := range run.Cases {
		j.declared[c.CaseKey] = i
	}
	if err := f.Truncate(size); err != nil {
		return nil, fmt.Errorf("cannot continue the journal of a run: %w", err)
	}
	return j, j.add(resumedRecord{Record: "resumed", Warning: w})
}

// AddCases declares cases; AddRound requires it. Cases that are already declared are skipped, and the
// rounds of the given cases are ignored.
func (j *Journal) AddCases(cases []Case) error {
	rec := casesRecord{Record: "cases", First: len(j.declared)}
	for _, c := range cases {
		if _, ok := j.declared[c.CaseKey]; ok {
			continue
		}
		j.declared[c.CaseKey] = len(j.declared)
		rec.Cases = append(rec.Cases, caseDefinition(c))
	}
	if len(rec.Cases) == 0 {
		return nil
	}
	return j.add(rec)
}

// AddRound appends a finished round with the results of all its sides:
//
//	{"record":"round","round":{...},"results":[{"case":0,"data":{...}},...]}
//
// The data of a result is later copied verbatim into the document, so it is formatted only once.
func (j *Journal) AddRound(r Round, results []Result) error {
	head, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("journal: round %d: %w", r.Index, err)
	}
	line := append([]byte(`{"record":"round","round":`), head...)
	line = append(line, `,"results":[`...)
	for i, res := range results {
		n, ok := j.declared[res.Case]
		if !ok {
			return fmt.Errorf("journal: round %d has a result for %s, which was never declared", r.Index, res.Case)
		}
		if i > 0 {
			line = append(line, ',')
		}
		line = fmt.Appendf(line, `{"case":%d,"data":`, n)
		res.Round.Round = r.Index
		if line, err = res.Round.append(line); err != nil {
			return fmt.Errorf("journal: round %d, %s: %w", r.Index, res.Case, err)
		}
		line = append(line, '}')
	}
	return j.write(append(line, "]}\n"...))
}

// AddCalibration appends a measurement of pawl's fixed kernel.
func (j *Journal) AddCalibration(c Calibration) error {
	return j.add(calibrationRecord{Record: "calibration", Calibration: c})
}

// End appends the ending of the run and closes the journal.
func (j *Journal) End(e Ending) error {
	err := j.add(endRecord{Record: "end", Ending: e})
	return errors.Join(err, j.file.Close())
}

func (j *Journal) add(record any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("journal %s: %w", j.file.Name(), err)
	}
	return j.write(append(line, '\n'))
}

func (j *Journal) write(line []byte) error {
	if j.err != nil {
		return j.err
	}
	var err error
	if j.seal != nil {
		err = j.seal(j.size, line)
	}
	if err == nil {
		_, err = j.file.Write(line)
	}
	if err == nil {
		err = j.file.Sync()
	}
	j.size += int64(len(line))
	if err != nil {
		j.err = fmt.Errorf("journal %s: the last record may be lost: %w", j.file.Name(), err)
	}
	return j.err
}
