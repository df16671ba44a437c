package doctor

import (
	"io/fs"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
)

// system is the machine's root folder, with queries that only doctor needs.
type system struct{ host.System }

// exists reports whether a file exists.
func (s system) exists(name string) bool {
	_, err := fs.Stat(s, name)
	return err == nil
}

// counts reads the numbers of a line, up to the first word that is not a number.
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

// admin reports whether this process may change settings of a driver.
func (s system) admin() bool { return s.Capable(host.SysAdmin) }
