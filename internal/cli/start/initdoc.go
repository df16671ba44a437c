package start

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// initDoc is the JSON output of pawl init.
type initDoc struct {
	Seen    []seenDoc `json:"seen"`
	LeftOut string    `json:"left_out,omitempty"`
	Source  string    `json:"source,omitempty"`
	Suite   string    `json:"suite,omitempty"`
	Wrote   []string  `json:"wrote,omitempty"`
	Cases   []string  `json:"cases,omitempty"`
	Runs    bool      `json:"runs"`
	Problem string    `json:"problem,omitempty"`
	Next    []string  `json:"next,omitempty"`

	name  string
	built bool // the suite has a build command
	plain bool
	todo  bool
}

type seenDoc struct {
	Source   string   `json:"source"`
	What     string   `json:"what"`
	Level    string   `json:"level"`
	Evidence []string `json:"evidence"`
	Notes    []string `json:"notes,omitempty"`
}

func seen(s discover.Survey) []seenDoc {
	list := []seenDoc{}
	for _, x := range s.Sightings {
		d := seenDoc{Source: x.Source, What: x.What, Level: x.Level.String(), Notes: x.Doubts}
		for _, e := range x.Evidence {
			d.Evidence = append(d.Evidence, e.Place()+": "+e.Says)
		}
		list = append(list, d)
	}
	return list
}

func (f *initFlags) describe(s discover.Survey, x discover.Finding, res discover.Result) initDoc {
	doc := initDoc{
		Seen: seen(s), LeftOut: x.LeftOut, Source: x.Source, Suite: discover.SuiteFile, Wrote: res.Wrote, Runs: res.Problem == nil,
		name: res.Suite.Name, plain: x.Level == discover.Tool, todo: x.Level == discover.Kernel,
	}
	candidate, _ := res.Suite.Implementation(suite.Candidate)
	doc.built = candidate.Build.Command != ""
	for _, c := range res.Suite.Cases() {
		if c.Implementation == suite.Candidate {
			doc.Cases = append(doc.Cases, c.Name())
		}
	}
	if res.Problem != nil {
		doc.Problem = res.Problem.Error()
		return doc
	}
	doc.Next = []string{"pawl doctor", "pawl bench", "pawl bench --base HEAD", "pawl run"}
	if doc.todo {
		doc.Next = slices.Insert(doc.Next, 0, "$EDITOR "+x.Source)
	}
	return doc
}

// print writes the JSON document, or the files that were written and the commands to run next.
func (f *initFlags) print(d initDoc) error {
	if f.json && f.github.on {
		return nil // --github prints the only document
	}
	if f.json {
		return command.WriteJSON(f.Out, d)
	}
	if d.Suite == "" {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nwrote %s\n", strings.Join(d.Wrote, ", "))
	switch {
	case !d.Runs:
	case d.plain && d.built:
		fmt.Fprintf(&b, "%s builds; its cases are known after the first run\n", d.name)
	case d.plain:
		fmt.Fprintf(&b, "the cases of %s are known after the first run\n", d.name)
	case d.todo:
		fmt.Fprintf(&b, "%s %s, and measures a placeholder until %s calls your kernel\n", d.name, d.works(), d.Source)
	default:
		fmt.Fprintf(&b, "%s %s: %s\n", d.name, d.works(), someOf(d.Cases))
	}
	if len(d.Next) > 0 {
		b.WriteString("\nnext:\n")
	}
	about := map[string]string{
		"pawl doctor": "check whether this machine is fit to measure on", "pawl bench": "measure the working tree",
		"pawl bench --base HEAD": "after a change: compare it with the last commit",
		"pawl run":               "before merging: check, measure, decide, explain",
	}
	for _, n := range d.Next {
		line := fmt.Sprintf("  %-24s", n)
		if about[n] != "" {
			line += "# " + about[n]
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	_, err := fmt.Fprint(f.Out, b.String())
	return err
}

// works says which steps succeeded with the suite.
func (d initDoc) works() string {
	if d.built {
		return "builds and runs"
	}
	return "runs"
}

// someOf counts names and lists the first of them.
func someOf(names []string) string {
	const most = 6
	if len(names) == 1 {
		return "1 case, " + names[0]
	}
	shown := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		shown += ", ..."
	}
	return fmt.Sprintf("%d cases, %s", len(names), shown)
}
