package submit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// Files of an attempt. Each is written once, as a whole.
const (
	submissionFile = "submission.json"
	diffFile       = "change.diff"
	answerFile     = "answer.json"
	noteFile       = "note.txt"       // a later note; replaced by the next one
	explainedFile  = "explained.json" // seconds that explanations took; replaced by the next one
	runFolder      = "run"            // the record and the logs
)

// Record is what is kept of a submission, beside its diff and its answer.
type Record struct {
	Created time.Time `json:"created"`
	Stage   Stage     `json:"stage"`
	Budget  float64   `json:"budget_s"`
	Note    string    `json:"note,omitempty"`
	Commit  string    `json:"commit,omitempty"` // of the base with the candidate's files; empty if it was refused
}

// Attempt is a submission with its answer.
type Attempt struct {
	ID string
	Record
	Answer    *Answer // nil while it runs, or if pawl was killed
	dir       string
	explained float64 // seconds that explanations took
}

// maxNote is the max length of a note.
const maxNote = 500

// newAttempt creates the folder of a new attempt. The number of the attempt is its ID.
func (g *Grant) newAttempt() (Attempt, error) {
	list, err := g.ids()
	if err != nil {
		return Attempt{}, err
	}
	next := 1
	if len(list) > 0 {
		next = list[len(list)-1] + 1
	}
	for {
		dir := filepath.Join(g.Folder, strconv.Itoa(next))
		err := os.Mkdir(dir, 0o755)
		switch {
		case err == nil:
			return Attempt{ID: strconv.Itoa(next), dir: dir}, disk.SyncDir(g.Folder)
		case !errors.Is(err, fs.ErrExist):
			return Attempt{}, fmt.Errorf("cannot create the folder of the attempt: %w", err)
		}
		next++ // another process took the number
	}
}

// ids returns the numbers of all attempts, ascending.
func (g *Grant) ids() ([]int, error) {
	entries, err := os.ReadDir(g.Folder)
	if err != nil {
		return nil, fmt.Errorf("cannot list the attempts: %w", err)
	}
	var list []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 && e.IsDir() && strconv.Itoa(n) == e.Name() {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// Attempts returns all attempts in their order. One that cannot be read, because pawl was killed while it
// ran, has no answer.
func (g *Grant) Attempts() ([]Attempt, error) {
	ids, err := g.ids()
	if err != nil {
		return nil, err
	}
	list := make([]Attempt, 0, len(ids))
	for _, n := range ids {
		a, err := g.attempt(strconv.Itoa(n))
		if err != nil {
			continue
		}
		list = append(list, a)
	}
	return list, nil
}

// attempt reads one attempt.
func (g *Grant) attempt(id string) (Attempt, error) {
	n, err := strconv.Atoi(id)
	if err != nil || n < 1 || strconv.Itoa(n) != id {
		return Attempt{}, fmt.Errorf("%q is not the ID of an attempt: IDs are numbers from 1", id)
	}
	a := Attempt{ID: id, dir: filepath.Join(g.Folder, id)}
	text, err := disk.ReadRegular(filepath.Join(a.dir, submissionFile), 64<<10)
	if err == nil {
		err = json.Unmarshal(text, &a.Record)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return a, fmt.Errorf("there is no attempt %s: pawl submit history lists them", id)
	}
	if err != nil {
		return a, fmt.Errorf("cannot read attempt %s: %w", id, err)
	}
	if later, err := disk.ReadRegular(filepath.Join(a.dir, noteFile), maxNote); err == nil {
		a.Note = strings.TrimPrefix(a.Note+"; "+string(later), "; ")
	}
	if text, err := disk.ReadRegular(filepath.Join(a.dir, explainedFile), 64); err == nil {
		if err := json.Unmarshal(text, &a.explained); err != nil {
			return a, fmt.Errorf("cannot read attempt %s: %w", id, err)
		}
	}
	text, err = disk.ReadRegular(filepath.Join(a.dir, answerFile), 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	a.Answer = &Answer{}
	if err == nil {
		err = json.Unmarshal(text, a.Answer)
	}
	if err != nil {
		return a, fmt.Errorf("cannot read the answer of attempt %s: %w", id, err)
	}
	return a, nil
}

// Settle answers attempts that have no answer because the process that judged them was killed. Each costs all of its
// budget, so that killing the process gains nothing. Call it before the first submission of a process that alone uses the
// folder.
func (g *Grant) Settle() error {
	list, err := g.Attempts()
	if err != nil {
		return err
	}
	for _, a := range list {
		if a.Answer != nil {
			continue
		}
		text, err := Answer{ID: a.ID, Status: Failed, Stage: a.Stage, Reason: "pawl was killed while it judged it", Best: baseID, BestSpeedup: 1, Cost: number(a.Budget)}.Encode()
		if err := errors.Join(err, a.write(answerFile, text)); err != nil {
			return err
		}
	}
	return nil
}

// Note keeps a text with an attempt, beside the note that it was submitted with.
func (g *Grant) Note(id, text string) error {
	a, err := g.attempt(id)
	if err != nil {
		return err
	}
	return a.write(noteFile, []byte(shorten(text, maxNote)))
}

func (a Attempt) write(name string, text []byte) error {
	if err := disk.WriteAtomic(filepath.Join(a.dir, name), text); err != nil {
		return fmt.Errorf("cannot save attempt %s: %w", a.ID, err)
	}
	return nil
}

func (a Attempt) writeJSON(name string, v any) error {
	text, err := encode(v)
	if err != nil {
		return err
	}
	return a.write(name, text)
}

// low returns the low end of the speed-up's interval, by which attempts are ranked: a short race that was
// lucky has a wide interval. It is 0 if the attempt was not measured.
func (a Attempt) low() float64 {
	if a.Answer == nil || a.Answer.Status != Measured || a.Answer.Range == nil {
		return 0
	}
	return float64(a.Answer.Range.low)
}

// baseID is the name of the grant's base among the attempts.
const baseID = "base"

// best returns the best attempt, and its speed-up. It is the base itself unless an attempt is surely faster.
func best(list []Attempt) (Attempt, float64) {
	winner, speedup := Attempt{ID: baseID}, 1.0
	low := 1.0
	for _, a := range list {
		if a.low() > low {
			winner, speedup, low = a, float64(a.Answer.Speedup), a.low()
		}
	}
	return winner, speedup
}

// spent returns the seconds that all attempts and their explanations took together.
func spent(list []Attempt) float64 {
	var sum float64
	for _, a := range list {
		sum += a.explained
		if a.Answer != nil {
			sum += float64(a.Answer.Cost)
		}
	}
	return sum
}

// ranked returns the attempts best first; those that were not measured come last, newest first.
func ranked(list []Attempt) []Attempt {
	return slices.SortedStableFunc(slices.Values(list), func(a, b Attempt) int {
		return cmp.Or(cmp.Compare(b.low(), a.low()), cmp.Compare(len(b.ID), len(a.ID)), cmp.Compare(b.ID, a.ID))
	})
}
