package suite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// Build describes how to build an implementation. Without a command or a recipe nothing is built.
type Build struct {
	Recipe  string // "command", or the method that composes the command line: "nvcc", "cmake", "torch", "make"
	Command string // for recipe command
	Sources []string
	Target  string
	Flags   string
	Link    string
	Arch    []string // "auto", or names of architectures
	Folder  string
	Jobs    int // 0 means as many as the machine supports
	Memory  int64
	Outputs []string // globs
	Inputs  []string // nil means the whole repository
	Env     map[string]string
	Timeout time.Duration
	Cache   bool
	Sandbox string // "auto", "always" or "never"
}

// Needed reports whether there is anything to build.
func (b Build) Needed() bool { return b.Command != "" || b.Recipe != "" && b.Recipe != commandRecipe }

// String describes the build on one line.
func (b Build) String() string {
	if !b.Needed() || b.Recipe == "" || b.Recipe == commandRecipe {
		return b.Command
	}
	return strings.Join(slices.DeleteFunc([]string{b.Recipe, strings.Join(b.Sources, " "), b.Target, b.Flags}, func(s string) bool { return s == "" }), " ")
}

// Key returns a text that is equal for equal builds. It leaves out Memory.
func (b Build) Key() string {
	key := fmt.Sprintf("%q %q %q %s %s", b.Command, b.Outputs, Variables(b.Env), b.Timeout, b.Sandbox)
	if b.Recipe != "" && b.Recipe != commandRecipe {
		key += fmt.Sprintf(" %s %q %q %q %q %q %q %d", b.Recipe, b.Sources, b.Target, b.Flags, b.Link, b.Arch, b.Folder, b.Jobs)
	}
	if b.Inputs != nil || !b.Cache {
		key += fmt.Sprintf(" %t %q", b.Cache, b.Inputs)
	}
	return key
}

// recipe names the method that composes the command line of a build.
type recipe string

const commandRecipe = "command"

func (recipe) Words() []string { return []string{commandRecipe, "nvcc", "cmake", "torch", "make"} }

// recipeKeys lists the keys that a recipe reads in addition to those of every build.
var recipeKeys = map[recipe][]string{
	commandRecipe: {"command"},
	"nvcc":        {"sources", "target", "flags", "link", "arch", "jobs"},
	"cmake":       {"sources", "target", "flags", "arch", "folder", "jobs"},
	"torch":       {"sources", "target", "flags", "link", "arch", "jobs"},
	"make":        {"target", "flags", "arch", "jobs"},
}

// recipeNeeds lists the keys that a recipe requires.
var recipeNeeds = map[recipe][]string{"nvcc": {"sources", "target"}, "torch": {"sources", "target"}}

// written returns the keys set in b that only some recipes read, with their positions.
func (b buildDoc) written() map[string]*strictyaml.Node {
	places := map[string]*strictyaml.Node{"command": b.Command.at, "target": b.Target.at, "flags": b.Flags.at, "link": b.Link.at, "folder": b.Folder.at}
	if len(b.Sources) > 0 {
		places["sources"] = b.Sources[0].at
	}
	if len(b.Arch) > 0 {
		places["arch"] = b.Arch[0].at
	}
	for key, at := range places {
		if at == nil {
			delete(places, key)
		}
	}
	return places
}

// checkBuild reports keys that the recipe does not read, and required keys that are missing.
// It reports a missing key at node at.
func (r *resolver) checkBuild(b buildDoc, at *strictyaml.Node) {
	if b.Recipe == "" { // an unknown recipe: the keys it reads are unknown too
		return
	}
	written := b.written()
	for _, key := range []string{"command", "sources", "target", "flags", "link", "arch", "folder"} {
		if n := written[key]; n != nil && !slices.Contains(recipeKeys[b.Recipe], key) {
			r.Add(n, b.hint(key), "recipe %s does not use %q", b.Recipe, key)
		}
	}
	for _, key := range recipeNeeds[b.Recipe] {
		if written[key] == nil {
			r.Add(at, "", "recipe %s requires %q", b.Recipe, key)
		}
	}
	if t := b.Target; b.Recipe == "torch" && t.at != nil && !strings.HasSuffix(t.string, ".so") {
		r.Add(t.at, "write "+strconv.Quote(t.string+".so"), "target: recipe torch builds a library, its name must end in .so")
	}
}

// hint names the recipes that read a key.
func (b buildDoc) hint(key string) string {
	if key == "command" {
		return "set recipe: command, or remove the command"
	}
	var names []string
	for _, name := range b.Recipe.Words() {
		if slices.Contains(recipeKeys[recipe(name)], key) {
			names = append(names, name)
		}
	}
	return "only for recipe " + strings.Join(names, ", ")
}

// over overlays a reference's build on the candidate's. If the recipes differ, it inherits
// nothing that only the candidate's recipe reads.
func (b buildDoc) over(base buildDoc) buildDoc {
	if b.Recipe == "" && b.Command.at != nil {
		b.Recipe = commandRecipe
	}
	if b.Recipe != "" && b.Recipe != base.Recipe {
		base.Command, base.Target, base.Flags, base.Link, base.Folder = text{}, text{}, text{}, text{}, text{}
		base.Sources, base.Arch, base.Outputs = nil, nil, nil
	}
	b.Env = mergeEnv(b.Env, base.Env)
	return overlay(b, base)
}

// texts returns the texts that may contain placeholders.
func (b buildDoc) texts() []text {
	return slices.Concat([]text{b.Command, b.Target, b.Flags, b.Link, b.Folder}, b.Sources, b.Outputs)
}

// plain fills the placeholders of a build with the parameters; nil leaves them.
func (b buildDoc) plain(params Params) Build {
	out := Build{
		Recipe: string(b.Recipe), Command: fill(b.Command.string, params), Sources: fillAll(b.Sources, params), Target: fill(b.Target.string, params),
		Flags: fill(b.Flags.string, params), Link: fill(b.Link.string, params), Folder: fill(b.Folder.string, params),
		Jobs: value(b.Jobs), Memory: b.Memory.bytes, Outputs: fillAll(b.Outputs, params), Env: fillEnv(b.Env, params), Timeout: b.Timeout.Duration,
		Cache: value(b.Cache), Sandbox: string(b.Sandbox),
	}
	for _, a := range b.Arch {
		out.Arch = append(out.Arch, a.string)
	}
	if b.Inputs != nil {
		out.Inputs = append([]string{}, fillAll(b.Inputs, nil)...) // an empty list differs from an unset one
	}
	return out
}

// archName is an architecture in compiler spelling, or auto for the one of the device.
type archName text

const archPattern = `^(auto|sm_[0-9]{2,3}[af]?)$`

var archSpelling = lazyregexp.New(archPattern)

// CheckArch checks the name of an architecture to build for; empty for that of the device.
func CheckArch(name string) error {
	if name != "" && (name == auto || !archSpelling.MatchString(name)) {
		return fmt.Errorf("--arch %.20q: must be an architecture such as sm_89", name)
	}
	return nil
}

func (a *archName) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	if !n.IsText() || !archSpelling.MatchString(n.Text) {
		hint := ""
		if n.IsNumber() {
			hint = "write sm_" + strings.ReplaceAll(n.Text, ".", "")
		}
		d.Add(n, hint, "%s: expected auto or an architecture such as sm_89, got %s", f.Key, n.Describe())
		return
	}
	*a = archName{n.Text, n}
}

func (*archName) schema(*schemaWriter, strictyaml.Field) object {
	return object{"type": "string", "pattern": archPattern}
}

// size is an amount of memory, written with its unit.
type size struct {
	bytes int64
	at    *strictyaml.Node
}

const sizePattern = `^[0-9]+(\.[0-9]+)?\s?(MB|GB|MiB|GiB)$`

var sizeSpelling = lazyregexp.New(sizePattern)

func (s *size) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	if n.IsNumber() {
		d.Add(n, fmt.Sprintf("write %sGB", n.Text), "%s: %s has no unit", f.Key, n.Text)
		return
	}
	if !n.IsText() || !sizeSpelling.MatchString(n.Text) {
		d.Want(n, f, "a size such as 500MB or 2GB")
		return
	}
	unit := map[string]float64{"MB": 1e6, "GB": 1e9, "MiB": 1 << 20, "GiB": 1 << 30}
	number := strings.TrimRight(n.Text, "MGiB ")
	x, err := strconv.ParseFloat(number, 64)
	bytes := x * unit[strings.TrimSpace(n.Text[len(number):])]
	if err != nil || bytes < 1e6 || bytes > 1e15 {
		d.Add(n, "", "%s: expected 1MB to 1000000GB, got %s", f.Key, n.Text)
		return
	}
	*s = size{int64(bytes), n}
}

func (*size) schema(*schemaWriter, strictyaml.Field) object {
	return object{"type": "string", "pattern": sizePattern}
}

// checkOutputs reports builds of one implementation that write the same file. Otherwise the
// last of them would be measured for all.
func (r *resolver) checkOutputs() {
	for _, s := range r.suite.sides {
		texts := s.Build.texts()
		for _, e := range s.Build.Env {
			texts = append(texts, text(e.value))
		}
		places := placeholders(texts)
		owner := map[string]string{}
		for _, v := range s.variants {
			name, at := s.Build.collision(v.Build, owner)
			if at != nil && len(places) > 0 {
				p := places[0].param
				r.Add(at, fmt.Sprintf("give each build its own file, such as %s", withPlaceholder(name, p)),
					"%q is written by a separate build for each ${%s}, so only the last build would be measured", strictyaml.Shorten(name), p)
				break
			}
		}
	}
}

// withPlaceholder inserts a placeholder into a file name, before its extension.
func withPlaceholder(name, param string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot <= strings.LastIndexByte(name, '/') {
		dot = len(name)
	}
	return name[:dot] + "-${" + param + "}" + name[dot:]
}

// collision returns the first output that another build writes too, and where the suite names
// it. It ignores globs with wildcards, which may match different files.
func (b buildDoc) collision(built Build, owner map[string]string) (string, *strictyaml.Node) {
	outputs, texts := built.Outputs, b.Outputs
	if len(outputs) == 0 && built.Target != "" && slices.Contains(recipeNeeds[b.Recipe], "target") {
		outputs, texts = []string{built.Target}, []text{b.Target}
	}
	key := built.Key()
	for i, o := range outputs {
		if strings.ContainsAny(o, "*?[") {
			continue
		}
		if other, ok := owner[o]; ok && other != key {
			return o, texts[i].at
		}
		owner[o] = key
	}
	return "", nil
}
