package mcp

import (
	"os"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// pot is a purse over journals that a test writes.
type pot struct {
	t      *testing.T
	o      Options
	now    time.Time
	purse  *purse
	folder journal.Folder
}

func newPot(t *testing.T) *pot {
	t.Helper()
	p := &pot{t: t, now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	p.o = Options{Dir: t.TempDir(), State: t.TempDir(), Now: func() time.Time { return p.now }}
	p.folder = journal.Folder{Root: p.o.Dir, Now: p.o.Now}
	p.purse = newPurse(p.o)
	return p
}

var (
	anAgent = journal.Actor{Kind: journal.Agent, Name: "x"}
	aPerson = journal.Actor{Kind: journal.Person, Name: "y"}
)

func (p *pot) start(by journal.Actor, b *journal.Budget) *journal.Writer {
	p.t.Helper()
	w, err := p.folder.Start(journal.Started{Suite: "pawl.yaml", Budget: b}, by)
	if err != nil {
		p.t.Fatal(err)
	}
	p.purse.settle(false, 0)
	return w
}

func (p *pot) spend(w *journal.Writer, by journal.Actor, seconds, dollars float64) {
	p.t.Helper()
	err := w.Append(journal.Entry{Actor: by, Kind: journal.KindDid, Did: &journal.Did{Command: "bench", Device: seconds, Dollars: dollars}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.purse.settle(by.Kind == journal.Agent, seconds)
}

func (p *pot) want(seconds float64, refused string) {
	p.t.Helper()
	left, why := p.purse.look(true, true)
	if why != refused {
		p.t.Errorf("it says %q, not %q", why, refused)
	}
	if left != nil && left.Seconds != seconds {
		p.t.Errorf("%v seconds are left, not %v", left.Seconds, seconds)
	}
}

func TestBudget(t *testing.T) {
	p := newPot(t)
	p.want(0, noSession)
	w := p.start(anAgent, nil)
	p.want(1200, "")
	p.spend(w, anAgent, 200, 0)
	p.spend(w, aPerson, 5000, 0) // a person's own time is not the agent's
	p.want(1000, "")
	p.spend(w, anAgent, 1000, 0)
	p.want(0, allSpent)
}

func TestBudgetOfAPerson(t *testing.T) {
	p := newPot(t)
	w := p.start(aPerson, &journal.Budget{Seconds: 5000, Dollars: 2})
	p.want(5000, "")
	p.spend(w, anAgent, 10, 2)
	p.want(4990, noDollars)
}

func TestAnAgentCannotGiveItselfMore(t *testing.T) {
	p := newPot(t)
	w := p.start(anAgent, &journal.Budget{Seconds: 1e9})
	p.want(1200, "")
	p.spend(w, anAgent, 900, 0)
	if err := w.End(journal.Ended{Outcome: journal.Nothing}, anAgent); err != nil {
		t.Fatal(err)
	}
	p.now = p.now.Add(time.Minute)
	w = p.start(anAgent, nil)
	p.want(300, "") // another session gives nothing back
	p.purse = newPurse(p.o)
	p.want(300, "") // nor does another server
	p.spend(w, anAgent, 300, 0)
	p.want(0, allSpent)
	if err := w.End(journal.Ended{Outcome: journal.Nothing}, anAgent); err != nil {
		t.Fatal(err)
	}
	p.now = p.now.Add(25 * time.Hour)
	p.start(anAgent, nil)
	p.want(1200, "") // the next day does
}

func TestAJournalThatWasCutIsNoticed(t *testing.T) {
	p := newPot(t)
	w := p.start(anAgent, nil)
	before, err := os.ReadFile(w.Session().Path)
	if err != nil {
		t.Fatal(err)
	}
	p.spend(w, anAgent, 100, 0)
	after, _ := os.ReadFile(w.Session().Path)
	write := func(text []byte) {
		if err := os.WriteFile(w.Session().Path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(before)
	p.want(0, brokenChain)
	p.purse = newPurse(p.o)
	p.want(0, brokenChain)
	write(after)
	p.want(1100, "")
	after[len(after)/2] ^= 1
	write(after)
	p.want(0, brokenChain)
}

func TestWhatNoEntryTellsOfIsCounted(t *testing.T) {
	p := newPot(t)
	p.start(anAgent, nil)
	p.purse.settle(true, 50)
	p.want(1150, "")
}

// A person who works in the same session hides nothing.
func TestAnEntryOfAPersonDoesNotPay(t *testing.T) {
	p := newPot(t)
	w := p.start(anAgent, nil)
	err := w.Append(journal.Entry{Actor: aPerson, Kind: journal.KindNoted, Noted: &journal.Noted{Text: "looks good"}})
	if err != nil {
		t.Fatal(err)
	}
	p.purse.settle(true, 50)
	p.want(1150, "")
}
