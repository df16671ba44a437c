package profile

import (
	"io"
	"strings"
)

// ReadTrace reads the start and end times of launches: nsys stats --report cuda_gpu_trace --format
// csv, or the kernel_trace.csv of rocprofv3.
func ReadTrace(r io.Reader) (*Profile, error) {
	return readAs(r, func(data []byte) (*Profile, error) {
		if isRocprof(data) {
			return rocprofTrace.read(data)
		}
		return nsysTrace.read(data)
	})
}

func isNsysTrace(data []byte) bool { return hasHeader(data, "Name", "CorrId") }

func isRocprof(data []byte) bool { return hasHeader(data, "Kernel_Name", "Start_Timestamp") }

func isKernelSum(data []byte) bool { return hasHeader(data, "Name", "Instances") }

// kernelSum reads the total times of kernels over all their launches: nsys stats --report
// cuda_gpu_kern_sum --format csv.
func kernelSum(data []byte) (*Profile, error) {
	s, err := openSheet(data, "Name", "Instances", "Avg")
	if err != nil {
		return nil, err
	}
	p := &Profile{Format: Format, Tool: Tool{Name: "nsys", Page: "cuda_gpu_kern_sum"}, Notes: s.notes}
	var total count
	for row, err := range s.rows() {
		if err != nil {
			return nil, err
		}
		if s.at(row, "Name") == "" { // a message of the tool
			continue
		}
		l := Launch{ID: len(p.Launches), Kernel: strings.Clone(s.at(row, "Name"))}
		for i, name := range s.header {
			switch {
			case i >= len(row) || row[i] == "" || name == "Name":
			case name == "GridXYZ" || name == "BlockXYZ":
				l.Fields = append(l.Fields, Field{name, strings.Clone(row[i])})
			default:
				m := Metric{Name: name, Unit: s.units[name]}
				m.setValue(row[i], new(float64))
				l.Metrics = append(l.Metrics, m)
			}
		}
		l.Grid, l.Block = spaced(s.at(row, "GridXYZ")), spaced(s.at(row, "BlockXYZ"))
		p.Launches = append(p.Launches, l)
		total.launches, total.metrics = total.launches+1, total.metrics+len(l.Metrics)
		if err := total.check(); err != nil {
			return nil, err
		}
	}
	if len(p.Launches) == 0 {
		return nil, errEmpty
	}
	return p, nil
}

// spaced reads sizes as release 2022 prints them: "  64   32    1".
func spaced(cell string) [3]int {
	dims, _ := parseDims("(" + strings.Join(strings.Fields(cell), ", ") + ")")
	return dims
}
