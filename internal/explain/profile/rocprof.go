package profile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// rocprofTool is the name of AMD's profiler in records.
const rocprofTool = "rocprofv3"

// ReadCounters reads the counter_collection.csv of rocprofv3, or its JSON.
func ReadCounters(r io.Reader) (*Profile, error) {
	return readAs(r, func(data []byte) (*Profile, error) {
		if isRocprofJSON(data) {
			return readRocprofJSON(data)
		}
		return readRocprofCounters(data)
	})
}

var readRocprofCounters = titled("the counters of rocprofv3", rocprofCounters)

func isRocprofCounters(data []byte) bool {
	return hasHeader(data, "Kernel_Name", "Counter_Name", "Counter_Value")
}

// rocprofFields are columns that identify a launch.
var rocprofFields = []string{"Process_Id", "Agent_Id", "Dispatch_Id", "Queue_Id", "Thread_Id", "Kernel_Id", "Correlation_Id"}

// rocprofSizes are columns with what a launch needs, named as in the trace.
var rocprofSizes = []string{"LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count"}

// rocprofCounters reads a row for each counter of each launch.
func rocprofCounters(data []byte) (*Profile, error) {
	s, err := openRows(data, false, []string{"Kernel_Name", "Dispatch_Id", "Counter_Name", "Counter_Value"})
	if err != nil {
		return nil, err
	}
	p := &Profile{Format: Format, Tool: Tool{Name: rocprofTool, Page: "counter_collection"}, Notes: s.notes}
	at := map[string]int{} // launches by process, device and dispatch
	var total count
	for row, err := range s.rows() {
		if err != nil {
			return nil, err
		}
		if s.at(row, "Kernel_Name") == "" { // a message of the tool
			continue
		}
		key := strings.Join([]string{s.at(row, "Process_Id"), s.at(row, "Agent_Id"), s.at(row, "Dispatch_Id")}, "|")
		i, seen := at[key]
		if !seen {
			i = len(p.Launches)
			at[key] = i
			p.Launches = append(p.Launches, countedLaunch(s, row, i))
			total.launches, total.metrics = total.launches+1, total.metrics+len(p.Launches[i].Metrics)+1
		}
		p.Launches[i].addCounter(strings.Clone(s.at(row, "Counter_Name")), s.at(row, "Counter_Value"))
		total.metrics++
		if err := cmp.Or(total.check(), p.Launches[i].checkCounters()); err != nil {
			return nil, err
		}
	}
	if len(p.Launches) == 0 {
		return nil, errEmpty
	}
	countLaunches(p.Launches)
	return p, nil
}

// countedLaunch reads a launch from the first of its rows. Sizes are products of the three dimensions.
func countedLaunch(s *sheet, row []string, id int) Launch {
	l := Launch{ID: id, Kernel: strings.Clone(s.at(row, "Kernel_Name"))}
	threads, _ := strconv.Atoi(s.at(row, "Workgroup_Size"))
	grid, _ := strconv.Atoi(s.at(row, "Grid_Size"))
	if threads > 0 && grid > 0 {
		l.Block, l.Grid = [3]int{threads, 1, 1}, [3]int{(grid-1)/threads + 1, 1, 1}
	}
	for _, name := range rocprofFields {
		if text := s.at(row, name); text != "" {
			l.Fields = append(l.Fields, Field{name, strings.Clone(text)})
		}
	}
	for _, name := range rocprofSizes {
		if text := s.at(row, name); text != "" {
			l.addCounter(name, text)
		}
	}
	start, _, known := parseNumber(s.at(row, "Start_Timestamp"))
	end, _, ok := parseNumber(s.at(row, "End_Timestamp"))
	l.addTime(start, end, known && ok)
	return l
}

func (l *Launch) addTime(start, end float64, ok bool) {
	if ok && end >= start && start >= 0 {
		l.Metrics = append(l.Metrics, Metric{Name: "time_ns", Unit: nanoseconds, Value: new(end - start)})
	}
}

// maxCounters bounds the values of one launch: a chip counts a few hundred things.
const maxCounters = 500

func (l *Launch) checkCounters() error {
	if len(l.Metrics) > maxCounters {
		return fmt.Errorf("a launch has more than %d counters", maxCounters)
	}
	return nil
}

// addCounter adds the value of a counter. Values of the parts of a chip under one name add up.
func (l *Launch) addCounter(name, text string) {
	m := Metric{Name: name}
	m.setValue(text, new(float64))
	i := slices.IndexFunc(l.Metrics, func(m Metric) bool { return m.Name == name })
	switch {
	case i < 0:
		l.Metrics = append(l.Metrics, m)
	case m.Value != nil && l.Metrics[i].Value != nil:
		if sum := *m.Value + *l.Metrics[i].Value; sum-sum == 0 { // a number
			l.Metrics[i] = Metric{Name: name, Value: &sum}
		}
	}
}

// AddCounters adds to each launch of a trace the counters of its kernel: their mean over the counted launches.
// Counting slows kernels down, so the times stay those of the trace.
func AddCounters(trace, counted *Profile) {
	byKernel, values := map[string][]Launch{}, map[string][]Metric{}
	for _, l := range counted.Launches {
		byKernel[l.Kernel] = append(byKernel[l.Kernel], l)
	}
	for kernel, launches := range byKernel {
		values[kernel] = means(launches)
	}
	for i := range trace.Launches {
		l := &trace.Launches[i]
		for _, m := range values[l.Kernel] {
			if !slices.ContainsFunc(l.Metrics, func(have Metric) bool { return have.Name == m.Name }) {
				l.Metrics = append(l.Metrics, m)
			}
		}
		if same := byKernel[l.Kernel]; len(same) > 0 {
			l.CC = cmp.Or(l.CC, same[0].CC)
		}
	}
}

// means returns the mean of each metric over launches, with the lowest and the highest value.
func means(launches []Launch) []Metric {
	var list []Metric
	n := map[string]float64{}
	for _, l := range launches {
		for _, m := range l.Metrics {
			if m.Value == nil || m.Name == "launches" {
				continue
			}
			i := slices.IndexFunc(list, func(have Metric) bool { return have.Name == m.Name })
			if n[m.Name]++; i < 0 {
				list = append(list, Metric{Name: m.Name, Unit: m.Unit, Value: new(*m.Value), Low: new(*m.Value), High: new(*m.Value)})
				continue
			}
			have := list[i]
			*have.Value += (*m.Value - *have.Value) / n[m.Name]
			*have.Low, *have.High = min(*have.Low, *m.Value), max(*have.High, *m.Value)
		}
	}
	return list
}

// DropWarmup removes the launches of the runs before those that count. It returns an error, and removes nothing, if a
// kernel was not launched equally often in every run, so that its launches cannot be told apart.
func DropWarmup(p *Profile, warmup, runs int) error {
	launches := map[string]int{}
	for _, l := range p.Launches {
		launches[l.Kernel]++
	}
	for kernel, n := range launches {
		if n%(warmup+runs) != 0 {
			return fmt.Errorf("%.60q was launched %d times in %d runs", kernel, n, warmup+runs)
		}
	}
	seen := map[string]int{}
	p.Launches = slices.DeleteFunc(p.Launches, func(l Launch) bool {
		seen[l.Kernel]++
		return seen[l.Kernel] <= launches[l.Kernel]/(warmup+runs)*warmup
	})
	return nil
}
