package ratchet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"fmt"

	"github.com/go-json-experiment/json"
)

// A line is JSON whose last member is its hash, over all bytes of the line before
// that member. The hash of the line before is among them, so that a line stands for all
// that came before it:
//
//	{"schema":"pawl.ledger/v1","seq":2,...,"prev":"4f0c...","hash":"b1d2..."}
//	<------------- sha256 of this ---------------------->
//
// Bytes are hashed as they stand: nobody needs to know how a number is spelled to
// check a ledger, sed and sha256sum are enough.
var (
	hashBegin = []byte(`,"hash":"`)
	hashEnd   = []byte(`"}`)
)

// hashTail is how long the last member is, with the brace behind it.
var hashTail = len(hashBegin) + 2*sha256.Size + len(hashEnd)

// Head is the end of a ledger: what the next line is chained to. The zero value
// is that of an empty one.
type Head struct {
	Seq  int
	Hash string
}

// Seal numbers entries, chains them to the head and gives their lines.
func (h Head) Seal(entries []Entry) (lines []byte, sealed []Entry, err error) {
	for _, e := range entries {
		h.Seq++
		e.Schema, e.Seq, e.Time, e.Prev, e.Hash = SchemaLedger, h.Seq, e.Time.UTC(), h.Hash, ""
		if err := e.Check(); err != nil {
			return nil, nil, fmt.Errorf("%s of %s cannot be recorded: %w", e.Kind, e.Case, err)
		}
		line, err := stdjson.Marshal(e)
		if err != nil {
			return nil, nil, fmt.Errorf("%s of %s cannot be recorded: %w", e.Kind, e.Case, err)
		}
		line = line[:len(line)-1] // the brace
		e.Hash = hashOf(line)
		line = fmt.Appendf(line, "%s%s%s\n", hashBegin, e.Hash, hashEnd)
		if len(line) > MaxLine {
			return nil, nil, fmt.Errorf("%s of %s cannot be recorded: a line of %d bytes, and %d is the most", e.Kind, e.Case, len(line), MaxLine)
		}
		h.Hash = e.Hash
		lines, sealed = append(lines, line...), append(sealed, e)
	}
	return lines, sealed, nil
}

// LineError is what is wrong with a line of a ledger.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// maxLineErrors is how many faults of a ledger are told; who changed all lines did
// it once.
const maxLineErrors = 20

// Inspect reads a ledger and tells everything that is wrong with it: lines that are
// no entries, hashes that are not those of their lines, links that lead elsewhere. A last
// line without its newline counts as a line.
func Inspect(data []byte) ([]Entry, []*LineError) {
	var (
		entries []Entry
		faults  []*LineError
		head    Head
	)
	if len(data) > MaxLedger {
		return nil, []*LineError{{Err: fmt.Errorf("%d bytes, and a ledger has at most %d", len(data), MaxLedger)}}
	}
	for line := range bytes.Lines(data) {
		if len(entries) == MaxEntries {
			return entries, append(faults, &LineError{MaxEntries + 1, fmt.Errorf("a ledger has at most %d lines", MaxEntries)})
		}
		e, err := readLine(bytes.TrimSuffix(line, []byte("\n")), head)
		entries = append(entries, e)
		if err != nil {
			if faults = append(faults, &LineError{len(entries), err}); len(faults) == maxLineErrors {
				break
			}
		}
		head = Head{head.Seq + 1, unread} // what follows a line that cannot be read is not its fault
		if e.Hash != "" {
			head = Head{e.Seq, e.Hash}
		}
	}
	return entries, faults
}

// Whole tells whether text without a newline is at least a whole line. What a writer
// leaves that was stopped on the way is shorter: nothing stands behind a line's hash.
func Whole(text []byte) bool {
	at := bytes.Index(text, hashBegin)
	return at >= 0 && len(text) >= at+hashTail
}

// unread stands for the hash of a line that has none.
const unread = "unread"

// readLine reads a line that follows the head. The entry comes with what could be read of it also when something is wrong.
func readLine(line []byte, head Head) (Entry, error) {
	var e Entry
	if len(line) > MaxLine {
		return e, fmt.Errorf("%d bytes, and a line has at most %d", len(line), MaxLine)
	}
	if bytes.HasSuffix(line, []byte("\r")) {
		return e, fmt.Errorf("it ends in a carriage return: something translates line ends; write `*.jsonl -text` into .gitattributes and check the file out again")
	}
	at := len(line) - hashTail
	if at < 0 || !bytes.HasPrefix(line[at:], hashBegin) || !bytes.HasSuffix(line, hashEnd) {
		return e, fmt.Errorf("it does not end in its hash: %.60q", line[max(0, len(line)-60):])
	}
	stated := string(line[at+len(hashBegin) : len(line)-len(hashEnd)])
	if err := json.Unmarshal(line, &e); err != nil {
		return Entry{Seq: head.Seq + 1, Hash: stated}, fmt.Errorf("it is no entry: %w", err)
	}
	if have := hashOf(line[:at]); have != stated {
		return e, fmt.Errorf("it was changed after it was written: its hash is %s, and it says %s", have, stated)
	}
	if e.Schema != SchemaLedger {
		return e, fmt.Errorf("its schema is %q, and this version reads %s: update pawl", e.Schema, SchemaLedger)
	}
	if e.Seq != head.Seq+1 {
		return e, fmt.Errorf("it is number %d and follows number %d: lines are missing or out of order", e.Seq, head.Seq)
	}
	if e.Prev != head.Hash && head.Hash != unread {
		return e, fmt.Errorf("it follows a line with the hash %q, and the line before has %q: that one was replaced, or lines are missing", e.Prev, head.Hash)
	}
	return e, e.Check()
}

func hashOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
