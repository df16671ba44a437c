package measure_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/measure"
)

// A journal that is continued after its end has the rounds of both processes, and only the later end.
func TestResumeJournal(t *testing.T) {
	dir, run := t.TempDir(), example()
	path := filepath.Join(dir, "run.journal")
	run.Calibration = []measure.Calibration{{When: "open", Samples: measure.Samples{1}}, {When: "close", Samples: measure.Samples{2}}}
	writeJournal(t, path, run, true)
	whole := read(t, path)
	must(t, os.WriteFile(path, append(bytes.Clone(whole), `{"record":"rou`...), 0o644))

	before, err := measure.Read(bytes.NewReader(whole))
	must(t, err)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	must(t, err)
	var sealed []string
	w := measure.Warning{Code: "resumed", Message: "two rounds"}
	j, err := measure.ResumeJournal(f, int64(len(whole)), before, w, func(offset int64, line []byte) error {
		sealed = append(sealed, fmt.Sprint(offset, " ", string(line)))
		return nil
	})
	must(t, err)
	after, err := measure.Load(path)
	must(t, err)
	if after.End.State != measure.Interrupted || len(after.Warnings) != 1 || after.Warnings[0] != w || len(after.Calibration) != 1 {
		t.Errorf("%+v, %+v", after.Ending, after.Calibration)
	}
	must(t, j.AddCases(run.Cases)) // known
	next := measure.Round{Index: len(run.Rounds)}
	must(t, j.AddRound(next, []measure.Result{{Case: run.Cases[0].CaseKey, Round: run.Cases[0].Rounds[0]}}))
	must(t, j.End(measure.Ending{End: measure.End{State: measure.Complete, Reason: "later"}, Warnings: []measure.Warning{w}}))
	text := read(t, path)
	if !bytes.HasPrefix(text, whole) || len(sealed) != 3 || sealed[0] != fmt.Sprintf("%d %s", len(whole), bytes.SplitAfter(text[len(whole):], []byte("\n"))[0]) {
		t.Errorf("sealed %q, continued with %s", sealed, text[len(whole):])
	}
	_, final, err := measure.Convert(path, filepath.Join(dir, "run.json"))
	must(t, err)
	if final.End.Reason != "later" || len(final.Rounds) != len(run.Rounds)+1 || len(final.Calibration) != 1 {
		t.Errorf("%+v, %d rounds, %+v", final.End, len(final.Rounds), final.Calibration)
	}
	for _, line := range bytes.SplitAfter(whole, []byte("\n")) {
		_, data, ok := bytes.Cut(line, []byte(`"data":`))
		if ok && !bytes.Contains(read(t, filepath.Join(dir, "run.json")), data[:bytes.IndexByte(data, '}')]) {
			t.Errorf("%s is not in the record", data)
		}
	}
}

// A line that cannot be sealed is not written.
func TestJournal_SealFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	full := errors.New("disk full")
	lines := 0
	j, err := measure.CreateJournal(path, example().Header, func(int64, []byte) error {
		if lines++; lines > 1 {
			return full
		}
		return nil
	})
	must(t, err)
	before := read(t, path)
	if err := j.AddRound(measure.Round{}, nil); !errors.Is(err, full) {
		t.Error(err)
	}
	if !bytes.Equal(before, read(t, path)) {
		t.Error("the line was written")
	}
}
