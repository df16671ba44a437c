package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Traces contain the start and end of each launch, and little else. But they need no permission,
// and their clock is not the harness's.

// trace holds the names of the columns in a tool's trace.
type trace struct {
	tool, page  string
	name        string // column of the kernel's name
	start       string
	end         string // empty if there is a duration
	duration    string // empty if there is an end
	device      string
	block, grid [3]string
	inThreads   bool     // the grid counts threads, not blocks
	copies      string   // prefix of names that are not kernels
	fields      []string // columns that are not metrics
}

var nsysTrace = trace{
	tool: "nsys", page: "cuda_gpu_trace", name: "Name", start: "Start", duration: "Duration", device: "Device",
	grid: [3]string{"GrdX", "GrdY", "GrdZ"}, block: [3]string{"BlkX", "BlkY", "BlkZ"}, copies: "[CUDA ",
	fields: []string{"Device", "Ctx", "GreenCtx", "Strm", "CorrId", "SrcMemKd", "DstMemKd"},
}

var rocprofTrace = trace{
	tool: rocprofTool, page: "kernel_trace", name: "Kernel_Name", start: "Start_Timestamp", end: "End_Timestamp", device: "Agent_Id",
	grid:      [3]string{"Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"},
	block:     [3]string{"Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"},
	inThreads: true, fields: []string{"Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Correlation_Id"},
}

// event is a row of a trace, used to compute gaps.
type event struct {
	device     string
	start, end float64
	launch     int // -1 for a copy
}

func (t trace) read(data []byte) (*Profile, error) {
	return titled("the "+t.page+" of "+t.tool, t.profile)(data)
}

func (t trace) profile(data []byte) (*Profile, error) {
	s, err := openSheet(data, t.name, t.start)
	if err != nil {
		return nil, err
	}
	p := &Profile{Format: Format, Tool: Tool{Name: t.tool, Page: t.page}, Notes: s.notes}
	var events []event
	var total count
	copies := 0
	for row, err := range s.rows() {
		if err != nil {
			return nil, err
		}
		name := s.at(row, t.name)
		if name == "" { // a message of the tool
			continue
		}
		e, err := t.event(s, row)
		if err != nil {
			return nil, err
		}
		if e.launch = -1; t.copies != "" && strings.HasPrefix(name, t.copies) {
			copies++
		} else {
			e.launch = len(p.Launches)
			l := t.launch(s, row, e)
			l.ID = len(p.Launches)
			p.Launches = append(p.Launches, l)
			total.launches, total.metrics = total.launches+1, total.metrics+len(l.Metrics)+2
		}
		events = append(events, e)
		if err := total.check(); err != nil {
			return nil, err
		}
	}
	if len(p.Launches) == 0 {
		return nil, errEmpty
	}
	if copies > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d memory copies and fills are left out; the gaps account for them", copies))
	}
	gaps(p.Launches, events)
	countLaunches(p.Launches)
	return p, nil
}

func (t trace) event(s *sheet, row []string) (event, error) {
	e := event{device: strings.Clone(s.at(row, t.device))}
	for _, c := range []struct {
		column string
		into   *float64
	}{{t.start, &e.start}, {t.end, &e.end}, {t.duration, &e.end}} {
		if c.column == "" {
			continue
		}
		cell := s.at(row, c.column)
		v, _, ok := parseNumber(cell)
		v, known := convert(v, s.units[c.column], nanoseconds)
		if !ok || !known || v < 0 {
			line, _ := s.FieldPos(0)
			return event{}, fmt.Errorf("after the header: line %d: %s is %.40q %s, which is not a time", line, c.column, cell, s.units[c.column])
		}
		*c.into = v
	}
	if t.duration != "" {
		e.end += e.start
	}
	if e.end < e.start {
		line, _ := s.FieldPos(0)
		return event{}, fmt.Errorf("after the header: line %d: it ends before it starts", line)
	}
	return e, nil
}

func (t trace) launch(s *sheet, row []string, e event) Launch {
	l := Launch{Kernel: strings.Clone(s.at(row, t.name))}
	for i := range 3 {
		l.Block[i], _ = strconv.Atoi(s.at(row, t.block[i]))
		l.Grid[i], _ = strconv.Atoi(s.at(row, t.grid[i]))
		if t.inThreads && l.Block[i] > 0 && l.Grid[i] > 0 {
			l.Grid[i] = (l.Grid[i]-1)/l.Block[i] + 1
		}
	}
	for i, name := range s.header {
		switch {
		case i >= len(row) || row[i] == "" || name == t.name:
		case slices.Contains(t.fields, name):
			l.Fields = append(l.Fields, Field{name, strings.Clone(row[i])})
		default:
			m := Metric{Name: name, Unit: s.units[name]}
			m.setValue(row[i], new(float64))
			l.Metrics = append(l.Metrics, m)
		}
	}
	if t.duration == "" {
		l.Metrics = append(l.Metrics, Metric{Name: "time_ns", Unit: nanoseconds, Value: new(e.end - e.start)})
	}
	return l
}

// gaps adds to each launch how long its device was idle before it.
func gaps(launches []Launch, events []event) {
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.start, b.start) })
	busy := map[string]float64{} // end of the last event, by device
	for _, e := range events {
		until, known := busy[e.device]
		if known && e.launch >= 0 {
			l := &launches[e.launch]
			l.Metrics = append(l.Metrics, Metric{Name: "gap_ns", Unit: nanoseconds, Value: new(max(0, e.start-until))})
		}
		busy[e.device] = max(until, e.end)
	}
}

// countLaunches adds to each launch the number of launches of its kernel.
func countLaunches(launches []Launch) {
	n := map[string]int{}
	for i := range launches {
		n[launches[i].Kernel]++
	}
	for i := range launches {
		l := &launches[i]
		l.Metrics = append(l.Metrics, Metric{Name: "launches", Value: new(float64(n[l.Kernel]))})
	}
}
