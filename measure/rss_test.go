package measure_test

import (
	"fmt"
	"os"
	"syscall"
)

// maxRSS is the largest memory a finished process held, in bytes (Linux).
func maxRSS(p *os.ProcessState) (int64, error) {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, fmt.Errorf("no resource usage from %T", p.SysUsage())
	}
	return usage.Maxrss << 10, nil
}
