package adapter

import (
	"math"
	"strconv"

	"github.com/goatnote-inc/pawl/measure"
)

// ncclFile is what nccl-tests -J writes. Numbers that are NaN are text.
type ncclFile struct {
	Start  string `json:"start_time"`
	Args   []text `json:"args"`
	Config struct {
		Iterations number `json:"iterations"`
		Aggregated number `json:"aggregated_iterations"`
		Devices    []struct {
			Info string `json:"device_info"`
		} `json:"devices"`
	} `json:"config"`
	Results []struct {
		Size    number     `json:"size"`
		Type    text       `json:"type"`
		Redop   text       `json:"redop"`
		Root    text       `json:"root"`
		Out     *ncclPlace `json:"out_of_place"`
		In      *ncclPlace `json:"in_place"`
		OutEach *ncclEach  `json:"out_of_place_per_iter"`
		InEach  *ncclEach  `json:"in_place_per_iter"`
	} `json:"results"`
}

type ncclPlace struct {
	Time    *text `json:"time"` // microseconds
	CPUTime *text `json:"cpu_time"`
	Bus     text  `json:"bus_bw"` // GB/s
	Wrong   *text `json:"nwrong"` // nil if unchecked
}

// ncclEach has the time of every iteration, with --per-iter.
type ncclEach struct {
	Times numbers `json:"times_us"`
}

func readNCCLFile(in *input, b *builder) error {
	var file ncclFile
	if err := in.document(&file); err != nil {
		return err
	}
	b.created(file.Start)
	r := &ncclRun{b: b, batch: count(float64(file.Config.Iterations) * max(float64(file.Config.Aggregated), 1))}
	if len(file.Args) > 0 {
		r.name = string(file.Args[0])
	}
	for _, d := range file.Config.Devices {
		r.device(d.Info)
	}
	for _, result := range file.Results {
		if math.IsNaN(float64(result.Size)) {
			result.Size = 0
		}
		row := ncclRow{size: float64(result.Size), dtype: string(result.Type), redop: string(result.Redop), root: string(result.Root)}
		row.outOfPlace, row.inPlace = r.place(result.Out, result.OutEach), r.place(result.In, result.InEach)
		if err := r.emit(row); err != nil {
			return err
		}
	}
	return nil
}

// place returns the measurement in one of the two ways; nil if there is none.
func (r *ncclRun) place(p *ncclPlace, each *ncclEach) *ncclResult {
	if p == nil {
		return nil
	}
	value := func(t *text) float64 {
		if t == nil {
			return math.NaN()
		}
		v, err := strconv.ParseFloat(string(*t), 64)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	out := &ncclResult{bus: value(&p.Bus), wrong: value(p.Wrong), cpu: p.Time == nil && p.CPUTime != nil, averaged: r.batch}
	took := value(p.Time)
	if out.cpu {
		took = value(p.CPUTime)
	}
	out.samples = measure.Samples{1e3 * took}
	if each != nil && len(each.Times) > 0 {
		out.samples, out.averaged = each.Times.scaled(1e3), 0
	}
	return out
}
