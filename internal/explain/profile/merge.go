package profile

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Merge combines both pages of one report: the exact numbers of the raw page with the labels and
// rules of the details page. Values that the raw page lacks, or that the details page repeats under
// another label, are appended, so that nothing is lost.
func Merge(raw, details *Profile) (*Profile, error) {
	if raw.Tool.Name != details.Tool.Name {
		return nil, fmt.Errorf("cannot merge two pages: one is from %s, the other from %s", raw.Tool.Name, details.Tool.Name)
	}
	if len(raw.Launches) != len(details.Launches) {
		return nil, fmt.Errorf("cannot merge two pages: one has %d launches, the other %d: they are not from the same report", len(raw.Launches), len(details.Launches))
	}
	p := *raw
	p.Tool.Page = raw.Tool.Page + "+" + details.Tool.Page
	if p.Tool.Version == "" {
		p.Tool.Version = details.Tool.Version
	}
	p.Notes = slices.Clone(raw.Notes)
	for _, note := range details.Notes {
		if !slices.Contains(p.Notes, note) {
			p.Notes = append(p.Notes, note)
		}
	}
	p.Launches = make([]Launch, len(raw.Launches))
	for i := range raw.Launches {
		l, err := raw.Launches[i].merge(details.Launches[i])
		if err != nil {
			return nil, fmt.Errorf("cannot merge launch %d (%.60s): %w", raw.Launches[i].ID, raw.Launches[i].Kernel, err)
		}
		p.Launches[i] = l
	}
	return &p, nil
}

func (l Launch) merge(other Launch) (Launch, error) {
	if l.ID != other.ID || l.Kernel != other.Kernel {
		return Launch{}, fmt.Errorf("the other page has launch %d (%.60s) in its place: the pages are not from the same report", other.ID, other.Kernel)
	}
	a, known := l.time()
	if b, ok := other.time(); ok && known && math.Abs(a-b) > 0.02*max(a, b) {
		return Launch{}, errors.New("the two pages have different times for it: they are not from the same report")
	}
	l.Metrics = slices.Clone(l.Metrics)
	index := make(map[string]int, len(l.Metrics))
	for i, m := range l.Metrics {
		index[m.Name] = i
	}
	for _, m := range other.Metrics {
		l.Metrics = label(l.Metrics, index, m)
	}
	l.Rules = append(slices.Clone(l.Rules), other.Rules...)
	for _, f := range other.Fields {
		if !slices.Contains(l.Fields, f) {
			l.Fields = append(slices.Clone(l.Fields), f)
		}
	}
	return l, nil
}

// label adds the display label of m to the matching metric of the raw page, or appends m.
func label(metrics []Metric, index map[string]int, m Metric) []Metric {
	names := metricNames(m.Section, m.Label)
	if m.Name != "" {
		names = []string{m.Name}
	}
	for _, name := range names {
		i, ok := index[name]
		if !ok {
			continue
		}
		if metrics[i].Section == "" {
			metrics[i].Section, metrics[i].Label = m.Section, m.Label
			return metrics
		}
		m.Name = name
		break
	}
	return append(metrics, m)
}
