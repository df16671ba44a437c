package workflow

import (
	"path"
	"slices"
	"strings"
)

// A caller is a small workflow that passes its event to a full one: that of a shared
// repository or, for a second suite, the local one.
type caller struct {
	Name, Triggers, Job, Uses string
	Grants, With              []string // lines
}

// grants holds the max permissions that any job of a workflow needs. A called job gets no
// more than its caller has.
var grants = map[string][]string{
	"pawl-gate":     {"actions: read", "checks: write", "contents: read", "pull-requests: write"},
	"pawl-publish":  {"actions: read", "checks: write", "contents: read", "pull-requests: write"},
	"pawl-ratchet":  {"contents: write"},
	"pawl-autotune": {"actions: read", "contents: write", "pull-requests: write"},
	"pawl-nightly":  {"actions: read", "contents: read"},
}

const dispatchTune = `  workflow_dispatch:
    inputs:
      case:
        description: The case to tune, such as matmul/N512. Empty where there is only one.
        type: string
      budget:
        description: How long to search.
        type: string
        default: 20m
      draft:
        description: Open a draft pull request with the values that won.
        type: boolean
        default: false
`

// callerOf returns the workflow that passes a suite's events to the named workflow.
func callerOf(name string, s Settings, n int) caller {
	c := caller{Name: name, Job: strings.TrimPrefix(name, "pawl-"), Grants: slices.Clone(grants[name])}
	if n > 0 {
		c.Name += "-" + Slug(s.Folders[n])
	}
	gate := strings.Replace(c.Name, "pawl-publish", "pawl-gate", 1)
	branch, _ := quoted(s.Branch)
	cron, _ := quoted(s.Cron)
	c.Triggers = map[string]string{
		"pawl-gate":     "  pull_request:\n  merge_group:\n  workflow_dispatch:\n",
		"pawl-publish":  "  workflow_run:\n    workflows: [" + gate + "]\n    types: [requested, completed]\n  issue_comment:\n    types: [created]\n",
		"pawl-ratchet":  "  push:\n    branches: [" + branch + "]\n",
		"pawl-autotune": dispatchTune,
		"pawl-nightly":  "  schedule:\n    - cron: " + cron + "\n  workflow_dispatch:\n",
	}[name]
	c.Uses = "./" + path.Join(Folder, name+".yml")
	if repo, ref, ok := strings.Cut(s.Shared, "@"); ok {
		c.Uses = repo + "/" + path.Join(Folder, name+".yml") + "@" + ref
	}
	c.with("folder", s.Folders[n])
	c.with("version", s.Install)
	if len(s.Names) > 0 && (name == "pawl-gate" || name == "pawl-publish") {
		c.with("name", s.Names[n])
	}
	if name != "pawl-publish" {
		c.withJSON("runner", s.Runner)
	}
	switch name {
	case "pawl-gate":
		c.withJSON("fork-runner", s.ForkRunner)
	case "pawl-publish":
		c.with("gate", path.Join(Folder, gate+".yml"))
	case "pawl-autotune":
		for _, input := range []string{"case", "budget", "draft"} {
			c.With = append(c.With, input+": ${{ inputs."+input+" }}")
		}
	}
	return c
}

func (c *caller) with(input, value string) {
	text, _ := quoted(value)
	c.With = append(c.With, input+": "+text)
}

func (c *caller) withJSON(input string, labels []string) {
	list, _ := asJSON(labels)
	c.With = append(c.With, input+": '"+list+"'") // labels contain no quotes
}

func (c caller) text() ([]byte, error) { return execute("caller.yml.tmpl", c) }
