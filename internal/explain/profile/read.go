package profile

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// Read reads a profile in any supported format; it recognizes the format by its first lines.
func Read(r io.Reader) (*Profile, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	for _, form := range forms {
		if form.is(data) {
			return form.read(data)
		}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("reading a profile: the file is empty: did the tool fail that was to write it?")
	}
	return nil, errors.New("reading a profile: it is none of: " + formNames() + ". A report (.ncu-rep) is read by ncu --import")
}

// forms are tried in this order.
var forms = []struct {
	name string
	is   func([]byte) bool
	read func([]byte) (*Profile, error)
}{
	{"a profile record", isJSON, readJSON},
	{"a raw page of ncu (--page raw --csv)", isRaw, readRaw},
	{"a details page of ncu (--page details --csv)", isDetails, readDetails},
	{"a kernel trace of rocprofv3", isRocprof, rocprofTrace.read},
	{"a cuda_gpu_trace of nsys", isNsysTrace, nsysTrace.read},
	{"a cuda_gpu_kern_sum of nsys", isKernelSum, readKernelSum},
	{"a text page of ncu", isText, readText},
	{"a file of callgrind", isCallgrind, readCallgrind},
	{"the counters of perf stat -x,", isPerf, readPerf},
}

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
