package submit

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// MaxHistory is the max number of attempts in a history.
const MaxHistory = 50

// History is a list of attempts, best first. Its first lines are small; the folder of an attempt has the rest.
type History struct {
	Base        string  `json:"base"` // the commit that speed-ups are relative to
	Best        string  `json:"best"` // ID of the best attempt; "base" if none is faster
	BestSpeedup number  `json:"best_speedup"`
	Total       int     `json:"total"` // attempts so far
	Spent       number  `json:"spent_s"`
	Left        *number `json:"left_s,omitempty"`
	Next        int     `json:"next,omitempty"` // how many attempts come before the next page; 0 if this is the last one

	Attempts []HistoryEntry `json:"attempts"`
}

// HistoryEntry is one attempt. Note and diff are the submitter's own words.
type HistoryEntry struct {
	ID      string  `json:"id"`
	Status  Status  `json:"status"`
	Stage   Stage   `json:"stage"`
	Verdict string  `json:"verdict,omitempty"`
	Speedup number  `json:"speedup,omitzero"`
	Range   *bounds `json:"interval,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Note    string  `json:"note,omitempty"`
	Diff    string  `json:"diff,omitempty"` // changed lines; cut if they are many
}

// Running is the status of an attempt without an answer: it still runs, or pawl was killed.
const Running Status = "running"

// Max lengths in a history.
const (
	maxHistoryNote = 160
	maxHistoryDiff = 600
	maxDiffRead    = 16 << 20
)

// History returns n attempts, best first, without the first skip of them.
func (g *Grant) History(skip, n int) (History, error) {
	list, err := g.Attempts()
	if err != nil {
		return History{}, err
	}
	winner, speedup := best(list)
	h := History{Base: g.Base, Best: winner.ID, BestSpeedup: number(speedup), Total: len(list), Spent: number(spent(list)), Attempts: []HistoryEntry{}}
	if left, limited := g.left(list); limited {
		seconds := number(left.Seconds())
		h.Left = &seconds
	}
	skip = min(max(skip, 0), len(list))
	page := ranked(list)[skip:]
	page = page[:min(len(page), n, MaxHistory)]
	if skip+len(page) < len(list) {
		h.Next = skip + len(page)
	}
	for _, a := range page {
		e := HistoryEntry{ID: a.ID, Status: Running, Stage: a.Stage, Note: shorten(a.Note, maxHistoryNote)}
		if b := a.Answer; b != nil {
			e.Status, e.Verdict, e.Speedup, e.Range, e.Reason = b.Status, b.Verdict, b.Speedup, b.Range, b.Reason
		}
		diff, err := disk.ReadRegular(filepath.Join(a.dir, diffFile), maxDiffRead)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return h, err
		}
		e.Diff = shortenLines(changedLines(string(diff)), maxHistoryDiff)
		h.Attempts = append(h.Attempts, e)
	}
	return h, nil
}

// Encode returns the history as one line of JSON.
func (h History) Encode() ([]byte, error) { return encode(h) }

// changedLines returns a diff without context: the names of files, and the lines that differ.
func changedLines(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "), strings.HasPrefix(line, "@@"):
		case strings.HasPrefix(line, "+++ "):
			b.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "+++ "), "b/"))
		case strings.HasPrefix(line, "+"), strings.HasPrefix(line, "-"):
			b.WriteString(line)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
