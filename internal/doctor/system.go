package doctor

import (
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// maxFile bounds what is read of one file of the kernel.
const maxFile = 8 << 20

// system is a machine's root folder.
type system struct{ fs.FS }

// text reads a small file; what is missing or unreadable is empty, because every
// kernel leaves some files out.
func (s system) text(name string) string {
	f, err := s.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// exists tells whether there is such a file.
func (s system) exists(name string) bool {
	_, err := fs.Stat(s, name)
	return err == nil
}

// field returns the value of the first "key: value" line.
func field(text, key string) string {
	for line := range strings.Lines(text) {
		k, v, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// counts reads the numbers of a line; what is no number ends it.
func counts(line string) []float64 {
	var list []float64
	for word := range strings.FieldsSeq(line) {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			break
		}
		list = append(list, float64(n))
	}
	return list
}

// capSysAdmin is the bit of CAP_SYS_ADMIN in a mask of capabilities.
const capSysAdmin = 21

// admin tells whether this process may change settings of a driver. NVIDIA's
// asks the kernel for CAP_SYS_ADMIN, not for the user's number: root in a container
// has usually lost it, and in a user namespace it does not count.
func (s system) admin() bool {
	mask, err := strconv.ParseUint(field(s.text("proc/self/status"), "CapEff"), 16, 64)
	if err != nil || mask&(1<<capSysAdmin) == 0 {
		return false
	}
	users := counts(s.text("proc/self/uid_map"))
	return len(users) < 3 || users[2] == 1<<32-1
}
