package adapter

import (
	"maps"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
)

var bencher = format{
	Format: Format{"bmf", "Bencher Metric Format: the value of every measure"},
	detect: isBMF,
	read:   readBMF,
}

// isBMF reports whether every value of a document is one of the three that a measure has.
func isBMF(o outline) bool {
	values, parents := 0, map[string]bool{}
	for name := range o.members { // a name may have dots of its own
		for i, r := range name {
			if r == '.' {
				parents[name[:i]] = true
			}
		}
	}
	for name := range o.members {
		switch {
		case strings.HasSuffix(name, ".value"):
			values++
		case strings.HasSuffix(name, ".lower_value"), strings.HasSuffix(name, ".upper_value"):
		case !parents[name]:
			return false
		}
	}
	return values > 0 && !o.has("value")
}

type bmfMetric struct {
	Value *number `json:"value"` // its bounds are not samples
}

// bmfMeasures are the measures that Bencher defines, with their units.
var bmfMeasures = map[string]struct {
	unit   string
	better measure.Better
}{
	"throughput": {"ops/s", measure.Higher}, "build-time": {"s", measure.Lower}, "file-size": {"B", measure.Lower},
}

func readBMF(in *input, b *builder) error {
	var file map[string]map[string]*bmfMetric
	if err := in.document(&file); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		for _, slug := range slices.Sorted(maps.Keys(file[name])) {
			if err := file[name][slug].read(b, strings.TrimSuffix(name, "-bencher-ignore"), slug); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *bmfMetric) read(b *builder, name, slug string) error {
	c := measure.Case{}
	c.Benchmark, c.Config = split(name)
	if m == nil || m.Value == nil {
		b.warn(warnIgnored, c.Name(), "the measure %s has no value", label(slug))
		return nil
	}
	v := float64(*m.Value)
	if strings.EqualFold(slug, "latency") { // Bencher's unit of it is the nanosecond
		c.Timer = measure.TimerWall
		return b.time(c, measure.CaseRound{Samples: measure.Samples{v}})
	}
	c.Metric, c.Better = slug, guessBetter(slug)
	if known, ok := bmfMeasures[strings.ToLower(slug)]; ok {
		c.Unit, c.Better = known.unit, known.better
	}
	return b.metric(c, []float64{v})
}
