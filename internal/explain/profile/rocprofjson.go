package profile

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

var readRocprofJSON = titled("the JSON of rocprofv3", rocprofJSON)

func isRocprofJSON(data []byte) bool {
	return isJSON(data) && bytes.Contains(data[:min(len(data), 4096)], []byte(`"rocprofiler-sdk-tool"`))
}

// rocprofDocument holds what is read of rocprofv3's output. One document has an entry for each process.
type rocprofDocument struct {
	Tools []rocprofProcess `json:"rocprofiler-sdk-tool"`
}

type rocprofProcess struct {
	Agents   []rocprofAgent   `json:"agents"`
	Counters []rocprofCounter `json:"counters"`
	Symbols  []rocprofSymbol  `json:"kernel_symbols"`
	Callback struct {
		Counted []rocprofCounted `json:"counter_collection"`
	} `json:"callback_records"`
	Buffer struct {
		Dispatches []rocprofDispatch `json:"kernel_dispatch"`
	} `json:"buffer_records"`
}

type rocprofHandle struct {
	Handle uint64 `json:"handle"`
}

type rocprofAgent struct {
	ID   rocprofHandle `json:"id"`
	Name string        `json:"name"` // gfx942
}

type rocprofCounter struct {
	ID   rocprofHandle `json:"id"`
	Name string        `json:"name"`
}

type rocprofSymbol struct {
	ID        uint64  `json:"kernel_id"`
	Name      string  `json:"formatted_kernel_name"`
	Mangled   string  `json:"kernel_name"`
	Registers float64 `json:"arch_vgpr_count"`
	Accum     float64 `json:"accum_vgpr_count"`
	Scalar    float64 `json:"sgpr_count"`
}

type rocprofInfo struct {
	Agent    rocprofHandle `json:"agent_id"`
	Kernel   uint64        `json:"kernel_id"`
	Dispatch uint64        `json:"dispatch_id"`
	Scratch  float64       `json:"private_segment_size"`
	LDS      float64       `json:"group_segment_size"`
	Block    rocprofDims   `json:"workgroup_size"`
	Grid     rocprofDims   `json:"grid_size"`
}

type rocprofDims struct {
	X int `json:"x"`
	Y int `json:"y"`
	Z int `json:"z"`
}

type rocprofDispatch struct {
	Start float64     `json:"start_timestamp"`
	End   float64     `json:"end_timestamp"`
	Info  rocprofInfo `json:"dispatch_info"`
}

type rocprofCounted struct {
	Data    rocprofDispatch `json:"dispatch_data"` // newer releases have times here, too
	Records []struct {
		Counter rocprofHandle `json:"counter_id"`
		Value   float64       `json:"value"`
	} `json:"records"`
}

func rocprofJSON(data []byte) (*Profile, error) {
	// Two bytes of JSON can become a launch in memory, so count before decoding.
	if n := bytes.Count(data, []byte("{")); n > maxMetrics+maxLaunches {
		return nil, fmt.Errorf("it has %d objects (max %d): profile fewer launches", n, maxMetrics+maxLaunches)
	}
	var d rocprofDocument
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	p := &Profile{Format: Format, Tool: Tool{Name: rocprofTool, Page: "json"}}
	var total count
	for i := range d.Tools {
		if err := d.Tools[i].launches(p, &total); err != nil {
			return nil, err
		}
	}
	if len(p.Launches) == 0 {
		return nil, errEmpty
	}
	countLaunches(p.Launches)
	return p, nil
}

// launches adds the launches of a process: those of the trace, and those that were only counted.
func (r *rocprofProcess) launches(p *Profile, total *count) error {
	symbols, agents, names := map[uint64]rocprofSymbol{}, map[uint64]string{}, map[uint64]string{}
	for _, s := range r.Symbols {
		s.Name, s.Mangled = clip(s.Name), clip(s.Mangled)
		symbols[s.ID] = s
	}
	for _, a := range r.Agents {
		agents[a.ID.Handle] = clip(a.Name)
	}
	for _, c := range r.Counters {
		names[c.ID.Handle] = clip(c.Name)
	}
	at := map[uint64]int{} // by dispatch
	add := func(d rocprofDispatch) (*Launch, error) {
		i, seen := at[d.Info.Dispatch]
		if !seen {
			i = len(p.Launches)
			at[d.Info.Dispatch] = i
			l := d.launch(symbols[d.Info.Kernel], i)
			l.CC = agents[d.Info.Agent.Handle]
			p.Launches = append(p.Launches, l)
			total.launches, total.metrics = total.launches+1, total.metrics+len(l.Metrics)+1
		}
		return &p.Launches[i], total.check()
	}
	for _, d := range r.Buffer.Dispatches {
		if _, err := add(d); err != nil {
			return err
		}
	}
	for _, c := range r.Callback.Counted {
		l, err := add(c.Data)
		if err != nil {
			return err
		}
		for _, v := range c.Records {
			name := cmp.Or(names[v.Counter.Handle], fmt.Sprintf("counter_%d", v.Counter.Handle))
			l.addCounter(name, strconv.FormatFloat(v.Value, 'g', -1, 64))
			total.metrics++
			if err := l.checkCounters(); err != nil {
				return err
			}
		}
	}
	return total.check()
}

func (d rocprofDispatch) launch(s rocprofSymbol, id int) Launch {
	l := Launch{ID: id, Kernel: cmp.Or(s.Name, s.Mangled, fmt.Sprintf("kernel %d", d.Info.Kernel))}
	l.Fields = []Field{{"Dispatch_Id", strconv.FormatUint(d.Info.Dispatch, 10)}}
	block, grid := d.Info.Block.array(), d.Info.Grid.array()
	for i := range 3 {
		if block[i] > 0 && grid[i] > 0 {
			l.Block[i], l.Grid[i] = block[i], (grid[i]-1)/block[i]+1 // the grid counts threads
		}
	}
	for i, v := range []float64{d.Info.LDS, d.Info.Scratch, s.Registers, s.Accum, s.Scalar} {
		l.Metrics = append(l.Metrics, Metric{Name: rocprofSizes[i], Value: &v})
	}
	l.addTime(d.Start, d.End, d.End > 0)
	return l
}

// clip bounds a name that every launch repeats.
func clip(name string) string {
	const most = 4 << 10
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "..."
}

func (d rocprofDims) array() [3]int { return [3]int{d.X, d.Y, d.Z} }
