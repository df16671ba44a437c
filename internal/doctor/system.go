package doctor

import (
	"io/fs"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/device/host"
)

// system is the machine's root folder, with what only a doctor asks it.
type system struct{ host.System }

// exists tells whether there is such a file.
func (s system) exists(name string) bool {
	_, err := fs.Stat(s, name)
	return err == nil
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
	mask, err := strconv.ParseUint(host.Field(s.Text("proc/self/status"), "CapEff"), 16, 64)
	if err != nil || mask&(1<<capSysAdmin) == 0 {
		return false
	}
	users := counts(s.Text("proc/self/uid_map"))
	return len(users) < 3 || users[2] == 1<<32-1
}
