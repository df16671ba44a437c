package trial

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Programs take turns AB BA AB BA, one at a time, as long as they are there.
func TestTable(t *testing.T) {
	for name, tt := range map[string]struct {
		asks []string // of each program: ? for a turn, ! for one of a new call
		want []int    // who has a turn
	}{
		"equal":                       {[]string{"???", "???"}, []int{0, 1, 1, 0, 0, 1}},
		"one has more":                {[]string{"?", "????"}, []int{0, 1, 1, 1, 1}},
		"one asks for none":           {[]string{"", "??"}, []int{1, 1}},
		"three":                       {[]string{"??", "??", "??"}, []int{0, 1, 2, 2, 1, 0}},
		"neither asks":                {[]string{"", ""}, nil},
		"new calls start together":    {[]string{"!?!", "!???!"}, []int{0, 1, 1, 0, 1, 1, 0, 1}},
		"the other has no more calls": {[]string{"!!", "!"}, []int{0, 1, 0}},
		"the other starts no call":    {[]string{"!?", "??"}, []int{1, 1, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			table := newTable(len(tt.asks))
			var mu sync.Mutex
			var got []int
			var all sync.WaitGroup
			for i, script := range tt.asks {
				all.Go(func() {
					s := table.seats[i]
					defer s.leave()
					p := program(t, s)
					defer p.end()
					for _, ask := range script {
						p.begin(t, string(ask))
						mu.Lock()
						got = append(got, i)
						mu.Unlock()
						p.say(t, "."+"junk") // what is not known is ignored
					}
				})
			}
			all.Wait()
			if !slices.Equal(got, tt.want) {
				t.Errorf("turns of %v, want %v", got, tt.want)
			}
		})
	}
}

// The first program says how many samples a turn of a call holds, and the others hear it.
func TestTable_SaysTheSizeOfATurn(t *testing.T) {
	table := newTable(2)
	heard := make([][]byte, 2)
	var all sync.WaitGroup
	for i, size := range []string{"C", "D"} {
		all.Go(func() {
			s := table.seats[i]
			defer s.leave()
			p := program(t, s)
			defer p.end()
			for _, ask := range "!?!?" {
				heard[i] = append(heard[i], p.begin(t, string(ask)))
				p.say(t, size)
			}
		})
	}
	all.Wait()
	if want := [][]byte{{0, 3, 0, 3}, {3, 3, 3, 3}}; !cmp.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
}

// player is the recorder's end of the pipes.
type player struct {
	ask, answer *os.File
	closePipes  func()
}

func program(t *testing.T, s *seat) (p player) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "samples")
	var err error
	if p.closePipes, err = s.take(path); err != nil {
		t.Error(err)
		return p
	}
	if p.ask, err = os.OpenFile(path+".ask", os.O_WRONLY, 0); err != nil {
		t.Error(err)
	}
	if p.answer, err = os.Open(path + ".answer"); err != nil {
		t.Error(err)
	}
	return p
}

func (p player) say(t *testing.T, text string) {
	t.Helper()
	if _, err := p.ask.WriteString(text); err != nil {
		t.Error(err)
	}
}

func (p player) begin(t *testing.T, ask string) byte {
	t.Helper()
	p.say(t, ask)
	answer := make([]byte, 1)
	if _, err := p.answer.Read(answer); err != nil {
		t.Error(err)
	}
	return answer[0]
}

func (p player) end() {
	_, _ = p.ask.Close(), p.answer.Close()
	p.closePipes()
}
