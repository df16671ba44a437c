package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// summaryDocument is the --json output for a run: the numbers of the table, and the path of
// the record with all samples.
type summaryDocument struct {
	Record   string          `json:"record,omitempty"`
	ID       string          `json:"id,omitempty"`
	Suite    string          `json:"suite,omitempty"`
	Device   string          `json:"device"`
	Testbed  measure.Testbed `json:"testbed"`
	Rounds   int             `json:"rounds"`
	Dropped  int             `json:"rounds_dropped,omitempty"`
	Cases    []summary.Case  `json:"cases"`
	State    *gpu.State      `json:"device_state,omitempty"`
	End      measure.End     `json:"end"`
	Warnings []string        `json:"warnings,omitempty"`
}

// verdictDocument is the verdict with its sources. It can be parsed as a ratchet.Result.
type verdictDocument struct {
	ratchet.Result
	Run   string        `json:"run,omitempty"` // the record's ID
	Title string        `json:"title"`
	About []Fact        `json:"about,omitempty"`
	Paths Paths         `json:"paths"`
	Made  string        `json:"made,omitempty"`
	Next  []Step        `json:"next,omitempty"`
	Whys  []WhyDocument `json:"whys,omitempty"`
}

// WhyDocument explains the result of a case, with the full diagnosis.
type WhyDocument struct {
	Case       string               `json:"case"`
	Sentence   string               `json:"sentence,omitempty"`
	Difference *diagnose.Difference `json:"difference,omitempty"`
	Diagnosis  *diagnose.Diagnosis  `json:"diagnosis,omitempty"`
	Files      []string             `json:"files,omitempty"`
	Problem    string               `json:"problem,omitempty"` // why the explanation is incomplete
}

// Document returns w in the form used in JSON.
func (w Why) Document() WhyDocument {
	d := WhyDocument{Case: w.Case, Difference: w.Difference, Diagnosis: w.Diagnosis, Files: w.Files}
	if w.Diagnosis != nil || w.Difference != nil {
		d.Sentence = w.sentence()
	}
	return d
}

// Why returns the explanation that was written as d.
func (d WhyDocument) Why() Why {
	return Why{Case: d.Case, Difference: d.Difference, Diagnosis: d.Diagnosis, Files: d.Files}
}

// VerdictJSON writes the verdict and all file locations as one document; without a verdict,
// the numbers of the run.
func VerdictJSON(w io.Writer, d *Document) error {
	if d.result == nil {
		if d.run == nil {
			return errors.New("cannot write JSON: there is neither a run nor a verdict")
		}
		return JSON(w, d.run, d.Paths.Record)
	}
	doc := verdictDocument{Result: *d.result, Title: d.Title, About: d.Facts, Paths: d.Paths, Made: d.Made, Next: d.Next}
	if d.run != nil {
		doc.Run = d.run.ID
	}
	for _, w := range d.whys {
		doc.Whys = append(doc.Whys, w.Document())
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("cannot write verdict: %w", err)
	}
	return nil
}

// JSON writes the summary of a run as one document.
func JSON(w io.Writer, run *measure.Run, path string) error {
	summaries := summary.Of(run)
	doc := summaryDocument{
		Record: path, ID: run.ID, Suite: run.Suite.Name, Device: run.Device.Name, Testbed: run.Testbed,
		State: lastState(run), End: run.End, Warnings: Warnings(run, summaries), Cases: summaries,
	}
	doc.Dropped = len(summary.Dropped(run))
	doc.Rounds = len(run.Rounds) - doc.Dropped
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("cannot write summary: %w", err)
	}
	return nil
}
