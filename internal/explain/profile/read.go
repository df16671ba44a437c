package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Read reads a profile in any supported format; it recognizes the format by its first lines.
func Read(r io.Reader) (*Profile, error) {
	return readAs(r, func(data []byte) (*Profile, error) {
		for _, form := range forms {
			if form.is(data) {
				return form.read(data)
			}
		}
		if len(bytes.TrimSpace(data)) == 0 {
			return nil, errors.New("cannot read profile: the file is empty; did the tool that should write it fail?")
		}
		return nil, errors.New("cannot read profile: it is none of: " + formNames() + ". To read a report (.ncu-rep), use ncu --import")
	})
}

func readAs(r io.Reader, read func([]byte) (*Profile, error)) (*Profile, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	return read(data)
}

// forms are tried in this order.
var forms = []struct {
	name string
	is   func([]byte) bool
	read func([]byte) (*Profile, error)
}{
	{"the JSON of rocprofv3", isRocprofJSON, readRocprofJSON},
	{"a profile record", isJSON, readJSON},
	{"an ncu raw page (--page raw --csv)", isRaw, readRaw},
	{"an ncu details page (--page details --csv)", isDetails, readDetails},
	{"the counters of rocprofv3", isRocprofCounters, readRocprofCounters},
	{"a rocprofv3 kernel trace", isRocprof, rocprofTrace.read},
	{"an nsys cuda_gpu_trace", isNsysTrace, nsysTrace.read},
	{"an nsys cuda_gpu_kern_sum", isKernelSum, readKernelSum},
	{"an ncu text page", isText, readText},
	{"a callgrind file", isCallgrind, readCallgrind},
	{"the counters of perf stat -x,", isPerf, readPerf},
}

// titled returns a reader whose errors name what cannot be read.
func titled(title string, page func([]byte) (*Profile, error)) func([]byte) (*Profile, error) {
	return func(data []byte) (*Profile, error) {
		p, err := page(data)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", title, err)
		}
		return p, nil
	}
}

var (
	readJSON      = titled("profile record", decode)
	readRaw       = titled("ncu raw page", rawPage)
	readDetails   = titled("ncu details page", detailsPage)
	readKernelSum = titled("the cuda_gpu_kern_sum of nsys", kernelSum)
)

func formNames() string {
	names := make([]string, len(forms))
	for i, form := range forms {
		names[i] = form.name
	}
	return strings.Join(names, ", ")
}

func isJSON(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}

// Main returns the launch with the longest time, multiplied by its number of launches.
func (p *Profile) Main() (Launch, bool) {
	var most float64
	best := -1
	for i, l := range p.Launches {
		spent, _ := l.time()
		n, _ := l.direct("launches")
		spent *= max(1, n)
		if best < 0 || spent > most {
			best, most = i, spent
		}
	}
	if best < 0 {
		return Launch{}, false
	}
	return p.Launches[best], true
}
