package discover

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// SchemaFile is where Setup writes the JSON Schema that the first line of a suite names.
const SchemaFile = ".pawl/suite.schema.json"

// maxListed is the maximum number of configs that a suite lists one by one. If there are more,
// the harness lists them.
const maxListed = 64

// Compose returns the suite for a sighting, as an engineer would write it. With the harness's
// answer, it lists the benchmarks; without, the harness lists them on each run. It returns an
// error if the suite is not valid.
func Compose(name string, s Finding, a *Answer) ([]byte, error) {
	measures := "# Measures " + s.Source + "."
	switch s.Level {
	case Harness:
	case Kernel:
		measures = "# " + s.Source + " measures an empty placeholder: call your kernel at its TODO, and remove benchmarks: here."
	case Tool:
		measures = "# Measures " + someFiles(s) + "; results are not checked."
	}
	header := "# yaml-language-server: $schema=" + SchemaFile + "\n" + measures + "\n# pawl suite check checks this file; pawl suite schema suite lists all keys.\n"
	data, err := compose(header, name, s, a)
	if err != nil && len(s.Cases.Listed) > 0 {
		s.Cases.Listed = nil // a name in the sources may be reserved, or stand for two things
		return compose(header, name, s, a)
	}
	return data, err
}

// someFiles returns the files of a sighting, or the first of them.
func someFiles(s Finding) string {
	const most = 5
	if len(s.Files) == 0 {
		return s.Source
	}
	shown := strings.Join(s.Files[:min(len(s.Files), most)], ", ")
	if len(s.Files) > most {
		shown += ", ..."
	}
	return shown
}

func compose(header, name string, s Finding, a *Answer) ([]byte, error) {
	doc := &yaml.Node{Kind: yaml.MappingNode}
	put(doc, "version", number(1))
	put(doc, "name", text(name))
	if len(s.Cases.Definition) > 0 {
		put(doc, "definition", texts(s.Cases.Definition))
	}
	putBuild(doc, s.Build)
	putHarness(doc, s)
	putMeasure(doc, s, a)
	switch {
	case a != nil && s.Level == Harness:
		putBenchmarks(doc, a.Listed)
	case s.Level == Kernel:
		put(doc, "benchmarks", emptyBenchmark(suite.Placeholder))
	case len(s.Cases.Listed) > 0:
		putBenchmarks(doc, s.Cases.Listed)
	}
	var b bytes.Buffer
	b.WriteString(header)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return nil, fmt.Errorf("cannot write a suite for %s: %w", s.Source, err)
	}
	return b.Bytes(), check(b.Bytes(), a)
}

func emptyBenchmark(name string) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	put(m, name, &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle})
	return m
}

// check parses a suite and combines it with what the harness lists.
func check(data []byte, a *Answer) error {
	parsed, err := suite.Parse("pawl.yaml", data)
	if err == nil && a != nil {
		_, err = parsed.Fill(a.Listed)
	}
	return err
}

func putBuild(doc *yaml.Node, b suite.Build) {
	if b.Command == "" {
		return
	}
	build := &yaml.Node{Kind: yaml.MappingNode}
	put(build, "command", text(b.Command))
	if len(b.Outputs) > 0 {
		put(build, "outputs", texts(b.Outputs))
	}
	put(doc, "build", build)
}

// putHarness writes the harness. It also suggests the definition key, which keeps a change from
// supplying its own harness, but only as a comment: the kernel may be in the same file.
func putHarness(doc *yaml.Node, s Finding) {
	h, harness := s.Harness, &yaml.Node{Kind: yaml.MappingNode}
	put(harness, "command", text(h.Command))
	if len(h.Files) > 0 {
		put(harness, "files", texts(h.Files))
	}
	if h.Format != "" {
		put(harness, "timeout", text(commandTimeout))
		put(harness, "format", text(h.Format))
	}
	if h.Output != "" {
		put(harness, "output", text(h.Output))
	}
	if h.Pattern != "" {
		put(harness, "pattern", text(h.Pattern))
	}
	put(doc, "harness", harness)
	if s.SDK != "" && s.Level == Harness {
		key := doc.Content[len(doc.Content)-2]
		key.HeadComment = fmt.Sprintf("definition: [%s] # if it contains no kernel: changes are then measured with the base's version", s.Source)
	}
}

// putMeasure writes the timer, if one is known.
func putMeasure(doc *yaml.Node, s Finding, a *Answer) {
	timer := s.Timer
	if a != nil && s.Level == Harness {
		timer = a.timer(s.Timer)
	}
	if timer == "" {
		return
	}
	value := text(string(timer))
	value.LineComment = map[measure.Timer]string{
		measure.TimerCPU:    "CPU time of one thread: other processes do not count. With threads, use wall",
		measure.TimerWall:   "",
		measure.TimerDevice: "device events: launches by the host do not count",
	}[timer]
	m := &yaml.Node{Kind: yaml.MappingNode}
	put(m, "timer", value)
	put(doc, "measure", m)
}

func putBenchmarks(doc *yaml.Node, listed []suite.Listed) {
	references := references(listed)
	if len(references) > 0 {
		m := &yaml.Node{Kind: yaml.MappingNode}
		for _, r := range references {
			put(m, r, &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle})
		}
		put(doc, "implementations", m)
	}
	benchmarks := &yaml.Node{Kind: yaml.MappingNode}
	for _, l := range listed {
		b := &yaml.Node{Kind: yaml.MappingNode}
		putConfigs(b, l.Configs)
		if own := others(l); len(own) < len(references) {
			put(b, "implementations", texts(append([]string{suite.Candidate}, own...)))
		}
		if l.Flops != "" {
			put(b, "flops", text(l.Flops))
		}
		if l.Bytes != "" {
			put(b, "bytes", text(l.Bytes))
		}
		if len(b.Content) == 0 {
			b.Style = yaml.FlowStyle // {}: one config without parameters, or too many to list
		}
		put(benchmarks, l.Name, b)
	}
	put(doc, "benchmarks", benchmarks)
}

// references returns the implementations of all benchmarks, except the candidate.
func references(listed []suite.Listed) []string {
	var all []string
	for _, l := range listed {
		for _, name := range others(l) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// others returns the implementations of a benchmark, except the candidate.
func others(l suite.Listed) []string {
	return slices.DeleteFunc(slices.Clone(l.Implementations), func(name string) bool { return name == suite.Candidate })
}

// putConfigs writes configs as a matrix if they form one, or else one by one.
func putConfigs(b *yaml.Node, configs []suite.Config) {
	if axes, ok := matrix(configs); ok {
		m := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, a := range axes {
			put(m, a.name, values(a))
		}
		put(b, "matrix", m)
		return
	}
	if len(configs) == 0 || len(configs) > maxListed || len(configs[0].Params) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range configs {
		m := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, p := range c.Params {
			put(m, p.Name, scalar(p.Value))
		}
		list.Content = append(list.Content, m)
	}
	put(b, "include", list)
}

// values returns the values of an axis as a list.
func values(a axis) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range a.values {
		list.Content = append(list.Content, scalar(v))
	}
	return list
}

func put(m *yaml.Node, key string, value *yaml.Node) {
	m.Content = append(m.Content, text(key), value)
}

func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

func number(v float64) *yaml.Node {
	format := byte('g')
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		format = 'f'
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(v, format, -1, 64)}
}

func scalar(v any) *yaml.Node {
	switch v := v.(type) {
	case float64:
		return number(v)
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatBool(v)}
	default:
		return text(fmt.Sprint(v))
	}
}

func texts(list []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, s := range list {
		n.Content = append(n.Content, text(s))
	}
	return n
}
