package learn

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// A session that ended does not change, and telling ten thousand takes seconds. So tales
// are kept beside the open journal, where git does not see them, and count while size and
// time of their journal are the same, or the folder has the files that it had (see
// journal.Stamp). Whoever can write that file can write journals too.
const (
	keepFile  = "open/tales.gob"
	keepForm  = "pawl tales 2\n" // changes with Tale, or with how one is told
	keepChunk = 256              // tales that are decoded together
	keepMost  = 1 << 30          // bytes
)

// keptTale is a tale with the file it was told from.
type keptTale struct {
	Name string
	Size int64
	Time int64 // of its last change, in nanoseconds
	Tale Tale
	Has  [4]bool // which of the tale's numbers are known: gob takes a pointer to 0 for none
}

// known are the numbers of a tale that may be missing.
func (k *keptTale) known() [4]**float64 {
	return [4]**float64{&k.Tale.Build, &k.Tale.Reference, &k.Tale.Bottleneck, &k.Tale.Gain}
}

func (k *keptTale) close() {
	for i, v := range k.known() {
		k.Has[i] = *v != nil
	}
}

func (k *keptTale) open() {
	for i, v := range k.known() {
		if k.Has[i] && *v == nil {
			*v = new(float64)
		}
	}
}

// Tales tells all sessions of a folder. Journals that cannot be read are named in problems,
// with what can be told of them.
func Tales(f journal.Folder, now time.Time) (tales []Tale, problems []string, err error) {
	dir := filepath.Join(f.Root, filepath.FromSlash(journal.Dir))
	stamp := journal.Stamp(dir)
	known := readKept(filepath.Join(dir, keepFile))
	if stamp == 0 || stamp != known.Stamp {
		if known.list, problems, err = tellAll(dir, known, stamp, now); err != nil {
			return nil, nil, fmt.Errorf("tell the sessions of %s: %w", dir, err)
		}
	}
	for i := range known.list {
		if known.list[i].Tale.ID != "" {
			tales = append(tales, known.list[i].Tale)
		}
	}
	switch w, err := f.Open(); {
	case err == nil:
		tales = append(tales, Tell(w.Session(), now))
	case !errors.Is(err, journal.ErrNoSession):
		problems = append(problems, err.Error())
	}
	return tales, problems, nil
}

// tellAll looks at every journal, tells what is new and keeps it.
func tellAll(dir string, known keptTales, stamp int64, now time.Time) (list []keptTale, problems []string, err error) {
	names, err := journals(dir)
	if err != nil {
		return nil, nil, err
	}
	byName := make(map[string]keptTale, len(known.list))
	for _, k := range known.list {
		byName[k.Name] = k
	}
	list = make([]keptTale, len(names))
	failed := make([]error, len(names))
	fresh := make([]bool, len(names))
	spread(len(names), keepChunk, func(i int) {
		info, err := os.Stat(filepath.Join(dir, names[i]))
		if err != nil {
			return // gone meanwhile
		}
		k, ok := byName[names[i]]
		if ok && k.Size == info.Size() && k.Time == info.ModTime().UnixNano() {
			list[i] = k
			return
		}
		fresh[i] = true
		list[i], failed[i] = told(filepath.Join(dir, names[i]), info, now)
	})
	for _, err := range failed {
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	whole := slices.DeleteFunc(slices.Clone(list), func(k keptTale) bool { return k.Name == "" })
	if len(whole) < len(list) {
		stamp = 0 // what is not kept is told each time
	}
	if slices.Contains(fresh, true) || stamp != known.Stamp && stamp != 0 {
		writeKept(filepath.Join(dir, keepFile), keptTales{Stamp: stamp, list: whole}) // it is only to be faster next time
	}
	return list, problems, nil
}

// told reads a journal and tells it. One that is broken is told as far as it can be read,
// and not kept.
func told(path string, info os.FileInfo, now time.Time) (keptTale, error) {
	s, err := journal.ReadFile(path)
	k := keptTale{Size: info.Size(), Time: info.ModTime().UnixNano()}
	if s != nil && s.ID != "" {
		k.Tale = Tell(s, now)
		k.close()
	}
	if err == nil && s != nil && s.Ended != nil {
		k.Name = filepath.Base(path)
	}
	return k, err
}

// journals are the files of sessions that ended, by their start.
func journals(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".jsonl") && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// spread does n things in chunks on all cores.
func spread(n, chunk int, do func(int)) {
	next := make(chan int)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
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

// keptTales is the file: tales in the order of their journals, in chunks that are decoded side
// by side, and the stamp of the folder they are from.
type keptTales struct {
	Stamp  int64
	Chunks [][]byte

	list []keptTale
}

// readKept are the tales that were kept; none where the file is not there or not as it
// should be.
func readKept(path string) keptTales {
	info, err := os.Stat(path)
	if err != nil || info.Size() > keepMost {
		return keptTales{}
	}
	text, err := os.ReadFile(path)
	rest, ok := bytes.CutPrefix(text, []byte(keepForm))
	if err != nil || !ok {
		return keptTales{}
	}
	var kept keptTales
	if gob.NewDecoder(bytes.NewReader(rest)).Decode(&kept) != nil {
		return keptTales{}
	}
	lists := make([][]keptTale, len(kept.Chunks))
	var bad atomic.Bool
	spread(len(kept.Chunks), 1, func(i int) {
		if gob.NewDecoder(bytes.NewReader(kept.Chunks[i])).Decode(&lists[i]) != nil {
			bad.Store(true)
		}
		for j := range lists[i] {
			lists[i][j].open()
		}
	})
	if bad.Load() {
		return keptTales{}
	}
	kept.list, kept.Chunks = slices.Concat(lists...), nil
	return kept
}

// writeKept puts the file in place whole, so that no reader sees half of it.
func writeKept(path string, kept keptTales) {
	for part := range slices.Chunk(kept.list, keepChunk) {
		var b bytes.Buffer
		if gob.NewEncoder(&b).Encode(part) != nil {
			return
		}
		kept.Chunks = append(kept.Chunks, b.Bytes())
	}
	var b bytes.Buffer
	b.WriteString(keepForm)
	if gob.NewEncoder(&b).Encode(kept) == nil && os.MkdirAll(filepath.Dir(path), 0o755) == nil {
		_ = journal.WriteWhole(path, b.Bytes())
	}
}
