package keep

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// kept is a thing as the file has it.
type kept struct {
	name       string // of its file
	size, time int64  // of that; the time of its last change in nanoseconds
	packed     string
}

// most is how large the file may be.
const most = 1 << 30

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// remembered is what is kept, by name, and the folder's stamp then; nothing where the file is
// not whole.
func (f *Folder[T]) remembered() (list []kept, stamp int64) {
	text, sum, err := readSummed(f.File)
	if err != nil || len(text) < 4 || sum != binary.LittleEndian.Uint32([]byte(text[:4])) {
		return nil, 0
	}
	body, ok := strings.CutPrefix(text[4:], f.Form)
	if !ok {
		return nil, 0
	}
	u := Unpack{s: body}
	stamp = u.Count()
	for u.s != "" {
		k := kept{name: u.Text(), size: u.Count(), time: u.Count(), packed: u.Text()}
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

// readSummed reads a file with the checksum of all but its first four bytes.
func readSummed(path string) (text string, sum uint32, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", 0, err
	}
	if info.Size() > most {
		return "", 0, errors.New("too large")
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	if _, err := io.CopyN(&b, file, 4); err != nil {
		return "", 0, err
	}
	check := crc32.New(castagnoli)
	_, err = io.Copy(io.MultiWriter(&b, check), io.LimitReader(file, most))
	return b.String(), check.Sum32(), err
}

// remember writes the file, where there is a folder to remember.
func (f *Folder[T]) remember(list []kept, stamp int64) {
	p := Pack("\x00\x00\x00\x00" + f.Form)
	p.Count(stamp)
	for _, k := range list {
		p.Text(k.name)
		p.Count(k.size)
		p.Count(k.time)
		p.Text(k.packed)
	}
	binary.LittleEndian.PutUint32(p, crc32.Checksum(p[4:], castagnoli))
	if _, err := os.Stat(f.Dir); err == nil && os.MkdirAll(filepath.Dir(f.File), 0o755) == nil {
		_ = disk.WriteAtomic(f.File, p)
	}
}
