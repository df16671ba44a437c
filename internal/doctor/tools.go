package doctor

import (
	"context"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/doctor/setup"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// install returns how to get a program on this machine; empty if unknown.
func (e *exam) install(program string) string { return setup.SystemOf(e.Root).Hint(program) }

// usual lists the tools to report if there is no suite to say which are needed.
var usual = []string{"cc", "nvcc", "cmake", "ninja", "ccache", "python3"}

// tools reports the programs that the suite's commands need.
func tools(ctx context.Context, e *exam) []Finding {
	if e.suite == nil {
		return e.usualTools()
	}
	versions := map[string]string{}
	for _, t := range build.Toolchain(ctx, e.dir(), setup.Commands(e.suite)...) {
		versions[t.Name] = " (" + t.Version + ")"
	}
	var list []Finding
	for _, n := range setup.Needs(e.suite, e.dir(), e.Path) {
		if at, found := n.In.Find(n.Program); found {
			list = append(list, ok(n.Program, "%s%s", at, versions[n.Program]))
			continue
		}
		absent := warn
		if n.Sure {
			absent = missing
		}
		list = append(list, absent(n.Program, "not found, but %s", n.Why).withFix("%s", e.install(n.Program)))
	}
	return list
}

func (e *exam) usualTools() []Finding {
	var list []Finding
	for _, name := range usual {
		if at, found := e.search(nil).Find(name); found {
			list = append(list, ok(name, "%s", at))
		} else {
			list = append(list, note(name, "not found").withFix("%s", e.install(name)))
		}
	}
	return list
}

// search returns where a command with this environment finds its programs.
func (e *exam) search(env map[string]string) shell.Search {
	return setup.SearchOf(e.dir(), e.Path, env)
}

// variants returns what the suite builds and starts, each once.
func (e *exam) variants() []suite.Variant { return setup.Variants(e.suite) }
