package ratchet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"fmt"

	"github.com/go-json-experiment/json"
)

// A line is JSON whose last member is its hash, over all bytes of the line before that member. These
// include the hash of the previous line, so that each line also covers all lines before it:
//
//	{"schema":"pawl.ledger/v1","seq":2,...,"prev":"4f0c...","hash":"b1d2..."}
//	<------------- sha256 of this ---------------------->
//
// The bytes are hashed verbatim, so that sed and sha256sum are enough to check a ledger, without parsing
// it.
var (
	hashBegin = []byte(`,"hash":"`)
	hashEnd   = []byte(`"}`)
)

// hashTail is the length of the last member, including the closing brace.
var hashTail = len(hashBegin) + 2*sha256.Size + len(hashEnd)

// Head is the end of a ledger, to which the next line is chained. The zero value is the head of an empty
// ledger.
type Head struct {
	Seq  int
	Hash string
}

// Seal numbers the entries, chains them to the head and returns their lines.
func (h Head) Seal(entries []Entry) (lines []byte, sealed []Entry, err error) {
	for _, e := range entries {
		h.Seq++
		e.Schema, e.Seq, e.Time, e.Prev, e.Hash = SchemaLedger, h.Seq, e.Time.UTC(), h.Hash, ""
		if err := e.Check(); err != nil {
			return nil, nil, fmt.Errorf("cannot record %s of %s: %w", e.Kind, e.Case, err)
		}
		line, err := stdjson.Marshal(e)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot record %s of %s: %w", e.Kind, e.Case, err)
		}
		line = line[:len(line)-1] // without the brace
		e.Hash = hashOf(line)
		line = fmt.Appendf(line, "%s%s%s\n", hashBegin, e.Hash, hashEnd)
		if len(line) > MaxLine {
			return nil, nil, fmt.Errorf("cannot record %s of %s: the line has %d bytes (max %d)", e.Kind, e.Case, len(line), MaxLine)
		}
		h.Hash = e.Hash
		lines, sealed = append(lines, line...), append(sealed, e)
	}
	return lines, sealed, nil
}

// LineError is an error in a line of a ledger.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// maxLineErrors is the maximum number of errors reported for a ledger. If every line was changed, more
// would add nothing.
const maxLineErrors = 20

// Inspect reads a ledger and returns everything that is wrong with it: lines that are not entries, hashes
// that do not match their lines, and broken links. A last line without its newline counts as a line.
func Inspect(data []byte) ([]Entry, []*LineError) {
	var (
		entries []Entry
		faults  []*LineError
		head    Head
	)
	if len(data) > MaxLedger {
		return nil, []*LineError{{Err: fmt.Errorf("the ledger has %d bytes (max %d)", len(data), MaxLedger)}}
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
		head = Head{head.Seq + 1, unknownHash} // do not blame the next line for an unreadable one
		if e.Hash != "" {
			head = Head{e.Seq, e.Hash}
		}
	}
	return entries, faults
}

// CompleteLine reports whether text without a newline is at least a complete line. An interrupted write leaves
// less, because the hash is the last part of a line.
func CompleteLine(text []byte) bool {
	at := bytes.Index(text, hashBegin)
	return at >= 0 && len(text) >= at+hashTail
}

// unknownHash replaces the hash of a line that has none.
const unknownHash = "unread"

// readLine reads a line that follows the head. On error, the entry contains whatever could be read.
func readLine(line []byte, head Head) (Entry, error) {
	var e Entry
	if len(line) > MaxLine {
		return e, fmt.Errorf("it has %d bytes (max %d)", len(line), MaxLine)
	}
	if bytes.HasSuffix(line, []byte("\r")) {
		return e, fmt.Errorf("it ends with a carriage return: line endings were converted; add `*.jsonl -text` to .gitattributes and check out the file again")
	}
	at := len(line) - hashTail
	if at < 0 || !bytes.HasPrefix(line[at:], hashBegin) || !bytes.HasSuffix(line, hashEnd) {
		return e, fmt.Errorf("it does not end with its hash: %.60q", line[max(0, len(line)-60):])
	}
	stated := string(line[at+len(hashBegin) : len(line)-len(hashEnd)])
	if err := json.Unmarshal(line, &e); err != nil {
		return Entry{Seq: head.Seq + 1, Hash: stated}, fmt.Errorf("it is not a valid entry: %w", err)
	}
	if have := hashOf(line[:at]); have != stated {
		return e, fmt.Errorf("it was changed after it was written: its hash is %s, but it states %s", have, stated)
	}
	if e.Schema != SchemaLedger {
		return e, fmt.Errorf("its schema is %q, but this version reads %s: update pawl", e.Schema, SchemaLedger)
	}
	if e.Seq != head.Seq+1 {
		return e, fmt.Errorf("it is number %d and follows number %d: lines are missing or out of order", e.Seq, head.Seq)
	}
	if e.Prev != head.Hash && head.Hash != unknownHash {
		return e, fmt.Errorf("it follows a line with hash %q, but the previous line has hash %q: that line was replaced, or lines are missing", e.Prev, head.Hash)
	}
	return e, e.Check()
}

func hashOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
