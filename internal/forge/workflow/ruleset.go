package workflow

import "encoding/json"

// actionsApp is the ID of the app that writes the checks of GitHub Actions. A check with
// the same name by another app does not count.
const actionsApp = 15368

// The files of the proposals that Rulesets returns.
const (
	RulesetFile         = ".github/pawl-ruleset.json"
	BaselineRulesetFile = ".github/pawl-ruleset-baseline.json"
)

type ruleset struct {
	Name         string    `json:"name"`
	Target       string    `json:"target"`
	Enforcement  string    `json:"enforcement"`
	Conditions   condition `json:"conditions"`
	Rules        []setRule `json:"rules"`
	BypassActors []string  `json:"bypass_actors"`
}

type condition struct {
	RefName struct {
		Include []string `json:"include"`
		Exclude []string `json:"exclude"`
	} `json:"ref_name"`
}

type setRule struct {
	Type       string      `json:"type"`
	Parameters *parameters `json:"parameters,omitempty"`
}

type parameters struct {
	Strict   bool            `json:"strict_required_status_checks_policy"`
	Required []requiredCheck `json:"required_status_checks"`
}

type requiredCheck struct {
	Context     string `json:"context"`
	Integration int    `json:"integration_id"`
}

// Rulesets returns proposals in GitHub's import format: the default branch requires the
// checks, and the baseline branch cannot be rewritten or deleted. Without a baseline branch
// there is no second ruleset.
func Rulesets(checks []string, baselineBranch string) ([]File, error) {
	var required []requiredCheck
	for _, c := range checks {
		required = append(required, requiredCheck{c, actionsApp})
	}
	require, err := rulesetFile(RulesetFile, "pawl: require the check", "~DEFAULT_BRANCH",
		setRule{"required_status_checks", &parameters{Required: required}})
	if err != nil || baselineBranch == "" {
		return []File{require}, err
	}
	protect, err := rulesetFile(BaselineRulesetFile, "pawl: protect the baselines", "refs/heads/"+baselineBranch,
		setRule{Type: "deletion"}, setRule{Type: "non_fast_forward"})
	return []File{require, protect}, err
}

func rulesetFile(path, name, ref string, rules ...setRule) (File, error) {
	r := ruleset{Name: name, Target: "branch", Enforcement: "active", Rules: rules, BypassActors: []string{}}
	r.Conditions.RefName.Include, r.Conditions.RefName.Exclude = []string{ref}, []string{}
	text, err := json.MarshalIndent(r, "", "  ")
	return File{Path: path, Text: append(text, '\n')}, err
}
