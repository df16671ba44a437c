package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Left is what agents have spent in the open session, and what is left of its budget.
type Left struct {
	Seconds      float64  `json:"device_seconds_left"`
	SpentSeconds float64  `json:"device_seconds_spent"`
	Dollars      *float64 `json:"dollars_left,omitempty"` // nil where no limit was set
	SpentDollars float64  `json:"dollars_spent"`
}

// day is for how long what agents spent in sessions of their own counts: ending a session
// and beginning another one gives nothing back.
const day = 24 * time.Hour

// purse knows what agents have spent. The journal says it; beside the journal stands what
// the server saw of it, in a file outside of the repository, so that a journal that was cut
// or changed is noticed and gives nothing back.
type purse struct {
	mu     sync.Mutex
	folder journal.Folder
	path   string // of the file; empty for none
	now    func() time.Time
	seen   map[string]*seen // by session
}

// seen is a journal as it was last seen.
type seen struct {
	Began   time.Time `json:"began"`
	Agent   bool      `json:"agent"` // an agent began it
	Seconds float64   `json:"seconds"`
	Dollars float64   `json:"dollars"`
	Extra   float64   `json:"extra,omitempty"` // seconds of commands that no entry tells of
	Entries int       `json:"entries"`         // by agents, of what they did or were refused
	Size    int64     `json:"size"`
	Digest  string    `json:"digest"` // of its first Size bytes
}

func newPurse(o Options) *purse {
	p := &purse{folder: journal.Folder{Root: o.Dir, Now: o.Now}, now: o.Now, seen: map[string]*seen{}}
	if o.State == "" {
		return p
	}
	name := sha256.Sum256([]byte(o.Dir))
	p.path = filepath.Join(o.State, "agents-"+hex.EncodeToString(name[:8])+".json")
	if text, err := os.ReadFile(p.path); err == nil {
		_ = json.Unmarshal(text, &p.seen) // what cannot be read is begun anew
	}
	return p
}

const (
	noSession   = "no session is open: call session_start first, so that what you do and spend is journaled"
	brokenChain = "the journal of the open session is not as pawl wrote it: a person has to look at it (pawl session show)"
	allSpent    = "the budget of device time for agents is spent: only a person can give more, by starting a session with pawl session start --budget-seconds"
	noDollars   = "the budget in dollars of this session is spent: only a person can give more"
)

// look says what is left, and why a tool may not run now.
func (p *purse) look(needs, spends bool) (*Left, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, err := p.open()
	switch {
	case errors.Is(err, journal.ErrNoSession):
		if needs {
			return nil, noSession
		}
		return nil, ""
	case err != nil:
		if needs {
			return nil, brokenChain
		}
		return nil, ""
	}
	left := p.left(s)
	switch {
	case spends && left.Seconds < 1:
		return left, allSpent
	case spends && left.Dollars != nil && *left.Dollars <= 0:
		return left, noDollars
	}
	return left, ""
}

// settle takes note of what a command has spent: what its entry says, or the time it took
// where no entry was made.
func (p *purse) settle(spends bool, took float64) *Left {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, err := p.open()
	if err != nil {
		return nil
	}
	k := p.seen[s.ID]
	size, digest, err := digestOf(s.Path, -1)
	if err != nil {
		return nil
	}
	if k == nil {
		k = &seen{Began: s.Began, Agent: len(s.Entries) > 0 && s.Entries[0].Actor.Kind != journal.Person}
		p.seen[s.ID] = k
	}
	entries := ofAgents(s)
	if spends && entries == k.Entries {
		k.Extra += took
	}
	sec, dollars := s.Spent(journal.Agent)
	k.Seconds, k.Dollars, k.Entries, k.Size, k.Digest = max(k.Seconds, sec), max(k.Dollars, dollars), entries, size, digest
	p.keep()
	return p.left(s)
}

// ofAgents counts the entries that a command of an agent makes: what people do at the same
// time says nothing of it.
func ofAgents(s *journal.Session) int {
	n := 0
	for _, e := range s.Entries {
		if e.Actor.Kind == journal.Agent && (e.Did != nil || e.Refused != nil) {
			n++
		}
	}
	return n
}

// errChanged says that a journal is not what it was.
var errChanged = errors.New("the journal was changed")

// open reads the open session and compares it with what was seen of it.
func (p *purse) open() (*journal.Session, error) {
	w, err := p.folder.Open()
	if err != nil {
		return nil, err
	}
	s := w.Session()
	if k := p.seen[s.ID]; k != nil && k.Size > 0 {
		size, digest, err := digestOf(s.Path, k.Size)
		if err != nil || size != k.Size || digest != k.Digest {
			return nil, errChanged
		}
	}
	return s, nil
}

func (p *purse) left(s *journal.Session) *Left {
	sec, dollars := s.Spent(journal.Agent)
	var extra float64
	if k := p.seen[s.ID]; k != nil {
		sec, dollars, extra = max(sec, k.Seconds), max(dollars, k.Dollars), k.Extra
	}
	sec += extra
	l := &Left{SpentSeconds: round(sec), SpentDollars: round(dollars)}
	limit := float64(DefaultSeconds)
	if s.Budget != nil && s.Budget.Seconds > 0 {
		limit = s.Budget.Seconds
	}
	byAgent := len(s.Entries) == 0 || s.Entries[0].Actor.Kind != journal.Person
	if byAgent {
		limit = min(limit, DefaultSeconds)
		limit = min(limit, DefaultSeconds-p.earlier(s.ID))
	}
	l.Seconds = round(max(0, limit-sec))
	if s.Budget != nil && s.Budget.Dollars > 0 {
		rest := round(max(0, s.Budget.Dollars-dollars))
		l.Dollars = &rest
	}
	return l
}

// earlier is what agents spent within a day in other sessions that agents began.
func (p *purse) earlier(id string) float64 {
	since := p.now().Add(-day)
	sum := 0.0
	for other, k := range p.seen {
		if other != id && k.Agent && k.Began.After(since) {
			sum += k.Seconds + k.Extra
		}
	}
	sessions, _ := p.folder.Sessions() // those that cannot be read were seen, or cost nothing yet
	for _, s := range sessions {
		if s.ID == id || p.seen[s.ID] != nil || s.Began.Before(since) || len(s.Entries) == 0 || s.Entries[0].Actor.Kind == journal.Person {
			continue
		}
		sec, _ := s.Spent(journal.Agent)
		sum += sec
	}
	return sum
}

// keep writes down what was seen. Sessions that count no more are forgotten.
func (p *purse) keep() {
	since := p.now().Add(-30 * day)
	for id, k := range p.seen {
		if k.Began.Before(since) {
			delete(p.seen, id)
		}
	}
	if p.path == "" {
		return
	}
	text, err := json.Marshal(p.seen)
	if err != nil {
		return
	}
	_ = os.MkdirAll(filepath.Dir(p.path), 0o700)
	_ = disk.Replace(p.path, 0o600, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// digestOf is the digest of the beginning of a file, of all of it for -1.
func digestOf(path string, size int64) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	var r io.Reader = f
	if size >= 0 {
		r = io.LimitReader(f, size)
	}
	h := sha256.New()
	n, err := io.Copy(h, r)
	return n, hex.EncodeToString(h.Sum(nil)[:16]), err
}

func round(x float64) float64 { return math.Round(x*1000) / 1000 }
