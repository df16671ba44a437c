package measure

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// The document is one JSON object with a layout that simple tools can process: each round of each case is
// on its own line, and the digest is alone on the last line and covers every byte before it.
// `head -n -1 FILE | sha256sum` checks it.

// Write writes a run as a document.
func Write(w io.Writer, run *Run) error {
	return writeDocument(w, run, func(i int, emit func([]byte) error) error {
		var line []byte
		for _, r := range run.Cases[i].Rounds {
			var err error
			if line, err = r.append(line[:0]); err != nil {
				return fmt.Errorf("%s, round %d: %w", run.Cases[i].CaseKey, r.Round, err)
			}
			if err := emit(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteJournal writes the document of a journal. It copies the samples verbatim, without holding all of
// them in memory.
func WriteJournal(w io.Writer, journal io.ReadSeeker) (*Run, error) {
	s := newScanner(journal, nil)
	places := map[int][]fragment{}
	s.found = func(number int, f fragment) { places[number] = append(places[number], f) }
	run, err := s.scan()
	if err != nil {
		return nil, err
	}
	var buf []byte
	return run, writeDocument(w, run, func(i int, emit func([]byte) error) error {
		for _, f := range places[i] {
			if cap(buf) < f.size {
				buf = make([]byte, f.size)
			}
			buf = buf[:f.size]
			if _, err := journal.Seek(f.offset, io.SeekStart); err != nil {
				return fmt.Errorf("cannot read the journal: %w", err)
			}
			if _, err := io.ReadFull(journal, buf); err != nil {
				return fmt.Errorf("cannot read the journal: %w", err)
			}
			if err := emit(buf); err != nil {
				return err
			}
		}
		return nil
	})
}

// documentWriter keeps the first error, so that its callers need no error checks.
type documentWriter struct {
	out  *bufio.Writer
	sum  *asyncSum
	err  error
	rest io.Writer
}

func (d *documentWriter) Write(b []byte) (int, error) {
	d.sum.add(b)
	return d.rest.Write(b)
}

func (d *documentWriter) text(s string) {
	if d.err == nil {
		_, d.err = d.out.WriteString(s)
	}
}

func (d *documentWriter) bytes(b []byte) {
	if d.err == nil {
		_, d.err = d.out.Write(b)
	}
}

// members writes the members of a struct without its braces.
func (d *documentWriter) members(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		d.err = err
		return
	}
	d.bytes(b[1 : len(b)-1])
}

func (d *documentWriter) value(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		d.err = err
		return
	}
	d.bytes(b)
}

func writeDocument(w io.Writer, run *Run, rounds func(i int, emit func([]byte) error) error) error {
	d := &documentWriter{sum: newAsyncSum(0), rest: w}
	d.out = bufio.NewWriterSize(d, 1<<18)
	header := run.Header
	header.Schema = SchemaRun
	d.text("{")
	d.members(header)
	d.text(",\n\"calibration\":")
	d.value(orEmpty(run.Calibration))
	d.text(",\n\"rounds\":[")
	for i, r := range run.Rounds {
		d.separate(i)
		d.value(r)
	}
	d.text("],\n\"cases\":[")
	for i := range run.Cases {
		d.separate(i)
		d.text("{")
		d.members(caseDefinition(run.Cases[i]))
		d.text(`,"rounds":[`)
		n := 0
		err := rounds(i, func(line []byte) error {
			d.separate(n)
			d.bytes(line)
			n++
			return d.err
		})
		if d.err == nil {
			d.err = err
		}
		d.text("]}")
	}
	d.text("],\n")
	d.members(run.Ending)
	d.text(",\n")
	if d.err == nil {
		d.err = d.out.Flush()
	}
	if sum := d.sum.finish(); d.err == nil {
		_, d.err = fmt.Fprintf(w, "\"digest\":%q}\n", sum)
	}
	if d.err != nil {
		return fmt.Errorf("cannot write the run record: %w", d.err)
	}
	return nil
}

func (d *documentWriter) separate(i int) {
	if i > 0 {
		d.text(",")
	}
	d.text("\n")
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
