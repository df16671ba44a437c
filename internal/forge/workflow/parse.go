package workflow

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// maxBytes limits the input. GitHub accepts no workflow of this size.
const maxBytes = 1 << 20

// A document is a workflow file, as far as the rules need it.
type document struct {
	triggers    map[string]*yaml.Node
	permissions *yaml.Node // nil if unset
	env         *yaml.Node
	concurrency *yaml.Node
	jobs        []job
}

type job struct {
	id    string
	node  *yaml.Node // its mapping
	line  int
	steps []step
}

type step struct {
	node      *yaml.Node
	line      int
	uses, run string
	with      *yaml.Node
}

// read returns the root of a file, which is nil if the file is empty, and what is wrong with it.
func read(path string, text []byte) (*yaml.Node, strictyaml.Errors) {
	w := strictyaml.Walker{Problems: &strictyaml.Problems{}, File: path}
	top, _ := w.Parse(text, strictyaml.Format{Name: "the file", MaxBytes: maxBytes, Invalid: "not valid YAML"})
	return top, w.All()
}

// parse reads one workflow. It rejects anchors, because a rule that reads the text could
// see something other than GitHub does.
func parse(path string, text []byte) (document, strictyaml.Errors) {
	top, wrong := read(path, text)
	if len(wrong) > 0 {
		return document{}, wrong
	}
	if top == nil || top.Kind != yaml.MappingNode {
		return document{}, strictyaml.Errors{{File: path, Line: 1, Col: 1, Msg: "not a mapping"}}
	}
	if n := aliased(top); n != nil {
		return document{}, strictyaml.Errors{{File: path, Line: n.Line, Col: n.Column, Msg: "aliases are not supported by these rules"}}
	}
	d := document{triggers: triggersOf(get(top, "on")), permissions: get(top, "permissions"), env: get(top, "env"), concurrency: get(top, "concurrency")}
	for id, node := range pairs(get(top, "jobs")) {
		if node.Kind == yaml.MappingNode {
			d.jobs = append(d.jobs, job{id: id.Value, node: node, line: id.Line, steps: stepsOf(get(node, "steps"))})
		}
	}
	return d, nil
}

func aliased(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return n
	}
	for _, c := range n.Content {
		if found := aliased(c); found != nil {
			return found
		}
	}
	return nil
}

// triggersOf reads the three forms of on: a word, a list, a mapping.
func triggersOf(on *yaml.Node) map[string]*yaml.Node {
	list := map[string]*yaml.Node{}
	if on == nil {
		return list
	}
	if on.Kind == yaml.ScalarNode {
		list[on.Value] = on
	}
	if on.Kind == yaml.SequenceNode {
		for _, n := range on.Content {
			list[n.Value] = n
		}
	}
	for key, value := range pairs(on) {
		list[key.Value] = value
	}
	return list
}

func stepsOf(list *yaml.Node) []step {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var steps []step
	for _, n := range list.Content {
		if n.Kind == yaml.MappingNode {
			steps = append(steps, step{node: n, line: n.Line, uses: scalar(n, "uses"), run: strings.ReplaceAll(scalar(n, "run"), "\\\n", " "), with: get(n, "with")})
		}
	}
	return steps
}

// pairs iterates over the keys and values of a mapping; empty for other nodes.
func pairs(n *yaml.Node) func(func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

func get(n *yaml.Node, name string) *yaml.Node {
	for key, value := range pairs(n) {
		if key.Value == name {
			return value
		}
	}
	return nil
}

func scalar(n *yaml.Node, name string) string {
	if v := get(n, name); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// allText returns all text under a node, for rules about what may be mentioned at all.
func allText(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(n.Value)
	for _, c := range n.Content {
		b.WriteString("\n" + allText(c))
	}
	return b.String()
}

// on reports whether any of these events starts the workflow.
func (d document) on(events ...string) bool {
	for _, e := range events {
		if _, ok := d.triggers[e]; ok {
			return true
		}
	}
	return false
}

// grants returns the permissions of a job: its own, or the workflow's.
func (d document) grants(j job) (grants map[string]string, all bool) {
	node := get(j.node, "permissions")
	if node == nil {
		node = d.permissions
	}
	if node == nil || node.Kind == yaml.ScalarNode && node.Value != "read-all" {
		return nil, true // the repository's default, or write-all
	}
	grants = map[string]string{}
	if node.Kind == yaml.ScalarNode && node.Value == "read-all" {
		grants["everything"] = "read"
	}
	for key, value := range pairs(node) {
		if value.Value != "none" {
			grants[key.Value] = value.Value
		}
	}
	return grants, false
}

// mayWrite reports whether a job's token can write anything.
func (d document) mayWrite(j job) bool {
	grants, all := d.grants(j)
	for _, level := range grants {
		all = all || level == "write"
	}
	return all
}

// kernelCommand matches pawl commands that run the user's build or kernels.
var kernelCommand = lazyregexp.New(`(?m)\bpawl\b[^\n|;&]*?\s(?:run|bench|build|fuzz|sweep|profile|tune(?:\s+apply)?|doctor\s+--(?:gate|noise|fix))\b`)

// runsKernels reports whether a job builds or runs what is measured.
func (j job) runsKernels() bool {
	for _, s := range j.steps {
		for _, m := range kernelCommand.FindAllString(s.run, -1) {
			if !strings.HasSuffix(m, "apply") {
				return true
			}
		}
	}
	return false
}
