package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Summary is what lists, forecasts and models need of a session.
type Summary struct {
	Started
	Began    time.Time `json:"began"`
	By       Actor     `json:"by"`
	Open     bool      `json:"open,omitempty"`
	Ended    *Ended    `json:"ended,omitempty"`
	Minutes  float64   `json:"minutes"`
	Device   float64   `json:"device_seconds,omitempty"`
	Dollars  float64   `json:"dollars,omitempty"`
	Entries  int       `json:"entries"`
	Agents   int       `json:"agents,omitempty"` // entries by agents
	Refused  int       `json:"refused,omitempty"`
	Overrode int       `json:"overrode,omitempty"`
	Attempts int       `json:"attempts,omitempty"`
	Followed []Attempt `json:"followed,omitempty"` // of the attempts, those that followed a lesson
	Broken   string    `json:"broken,omitempty"`   // why it cannot be read to its end
	Path     string    `json:"-"`
}

// Sum is the summary of a session; now counts where it goes on.
func Sum(s *Session, now time.Time) Summary {
	sum := Summary{
		Started: s.Started, Began: s.Began, Open: s.Ended == nil, Ended: s.Ended, Minutes: s.Minutes(now),
		Entries: len(s.Entries), Path: s.Path,
	}
	for _, a := range Attempts(s) {
		sum.Attempts++
		if a.Lesson != "" {
			sum.Followed = append(sum.Followed, a)
		}
	}
	sum.Device, sum.Dollars = s.Spent()
	for i, e := range s.Entries {
		if i == 0 {
			sum.By = e.Actor
		}
		if e.Actor.Kind == Agent {
			sum.Agents++
		}
		switch e.Kind { //nolint:exhaustive // the others are not counted
		case KindRefused:
			sum.Refused++
		case KindOverrode:
			sum.Overrode++
		}
	}
	return sum
}

// The summaries of journals are kept beside the open ones, where git does not see them: a
// session that ended does not change, and reading ten thousand takes seconds. A summary
// counts only while size and time of its journal are the same; they are not even looked at
// while the folder has the files that it had, as git and pawl make a new file of whatever
// they change. pawl session verify reads the files.
const summaryFile = "summaries"

// kept is a summary as that file has it.
type kept struct {
	name       string
	size, time int64  // of the journal; the time of its last change in nanoseconds
	packed     string // the summary
}

// Summaries are those of all sessions, by their start; the open one is the last. A journal
// that cannot be read is told of by its summary's Broken.
func (f Folder) Summaries() ([]Summary, error) {
	stamp := Stamp(f.dir()) // before it is listed: what comes later changes it
	known, when := f.remembered()
	list, ok := []Summary(nil), false
	if stamp != 0 && stamp == when {
		list, ok = f.unpacked(known)
	}
	if !ok {
		var err error
		if list, err = f.sumAll(known, stamp, when); err != nil {
			return nil, fmt.Errorf("sum up sessions: %w", err)
		}
	}
	switch w, err := f.Open(); {
	case err == nil:
		list = append(list, Sum(w.session, f.now()))
	case !errors.Is(err, ErrNoSession):
		list = append(list, Summary{Started: Started{ID: "open"}, Open: true, Broken: err.Error(), Path: f.openDir()})
	}
	return list, nil
}

// Stamp changes whenever a file comes into a folder or goes. It is 0 where that was only just
// now: one more could still come in the same tick of the clock of files, which is the
// system's own.
func Stamp(dir string) int64 {
	info, err := os.Stat(dir)
	if err != nil || time.Since(info.ModTime()) < time.Second {
		return 0
	}
	return info.ModTime().UnixNano()
}

// unpacked are the summaries that are kept; false where one of them is not whole.
func (f Folder) unpacked(known []kept) ([]Summary, bool) {
	list := make([]Summary, len(known))
	var bad atomic.Bool
	share(len(known), func(i int) {
		u := unpack{s: known[i].packed}
		if u.summary(&list[i]) != nil || list[i].ID == "" {
			bad.Store(true)
		}
		list[i].Path = filepath.Join(f.dir(), known[i].name)
	})
	return list, !bad.Load()
}

// sumAll looks at every journal, and keeps what is new.
func (f Folder) sumAll(known []kept, stamp, when int64) ([]Summary, error) {
	ended, err := journalsIn(f.dir())
	if err != nil {
		return nil, err
	}
	list := slices.Grow([]Summary(nil), len(ended)+1)[:len(ended)]
	now := make([]kept, len(ended))
	fresh := make([]bool, len(ended))
	share(len(ended), func(i int) {
		// Both are sorted, and mostly the same.
		k, ok := slices.BinarySearchFunc(known, ended[i], func(k kept, name string) int { return strings.Compare(k.name, name) })
		if ok {
			now[i] = known[k]
		}
		fresh[i] = f.sumUp(ended[i], &list[i], &now[i])
	})
	if slices.Contains(fresh, true) || len(known) != len(ended) || stamp != when && stamp != 0 {
		f.remember(now, stamp) // only to be faster next time
	}
	return slices.DeleteFunc(list, func(s Summary) bool { return s.ID == "" }), nil
}

// sumUp is the summary of a journal, by what is kept of it or else by the file; true where
// it is new.
func (f Folder) sumUp(name string, sum *Summary, k *kept) bool {
	path := filepath.Join(f.dir(), name)
	info, err := os.Lstat(path)
	if err != nil {
		return true // gone meanwhile
	}
	if k.size == info.Size() && k.time == info.ModTime().UnixNano() {
		u := unpack{s: k.packed}
		if u.summary(sum) == nil && sum.ID != "" {
			sum.Path = path
			return false
		}
	}
	s, err := ReadFile(path)
	if s == nil || s.ID == "" {
		s = &Session{Started: Started{ID: strings.TrimSuffix(name, ".jsonl")}, Path: path}
	}
	*sum = Sum(s, s.Last())
	sum.Open = false
	if err != nil {
		sum.Broken = err.Error()
	}
	var p pack
	p.summary(sum)
	*k = kept{name: name, size: info.Size(), time: info.ModTime().UnixNano(), packed: string(p)}
	return true
}

// remembered is what is kept, by name, and the folder's stamp then; nothing where the file is
// not whole.
func (f Folder) remembered() (list []kept, stamp int64) {
	text, err := os.ReadFile(filepath.Join(f.openDir(), summaryFile))
	if err != nil || len(text) < 4 || crc32.Checksum(text[4:], castagnoli) != binary.LittleEndian.Uint32(text) {
		return nil, 0
	}
	body, ok := strings.CutPrefix(string(text[4:]), packForm)
	if !ok {
		return nil, 0
	}
	u := unpack{s: body}
	stamp = u.count()
	for u.s != "" && !u.wrong {
		k := kept{name: u.text(), size: u.count(), time: u.count(), packed: u.text()}
		if len(list) > 0 && k.name <= list[len(list)-1].name {
			return nil, 0
		}
		list = append(list, k)
	}
	if u.wrong {
		return nil, 0
	}
	return list, stamp
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (f Folder) remember(list []kept, stamp int64) {
	p := pack("\x00\x00\x00\x00" + packForm)
	p.count(stamp)
	for _, k := range list {
		if k.name != "" {
			p.text(k.name)
			p.count(k.size)
			p.count(k.time)
			p.text(k.packed)
		}
	}
	binary.LittleEndian.PutUint32(p, crc32.Checksum(p[4:], castagnoli))
	if _, err := os.Stat(f.dir()); err == nil && os.MkdirAll(f.openDir(), 0o755) == nil {
		_ = WriteWhole(filepath.Join(f.openDir(), summaryFile), p)
	}
}

// share does n things in a few goroutines.
func share(n int, do func(i int)) {
	const workers, chunk = 4, 64
	var all sync.WaitGroup
	next := make(chan int)
	for range workers {
		all.Go(func() {
			for from := range next {
				for i := from; i < min(n, from+chunk); i++ {
					do(i)
				}
			}
		})
	}
	for from := 0; from < n; from += chunk {
		next <- from
	}
	close(next)
	all.Wait()
}
