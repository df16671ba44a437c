package seal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
)

// difference is something that a run depends on, as it was in the unfinished run and as it is now.
type difference struct {
	what    string
	was, is any
}

// Differs returns how the question of a run differs from that of the unfinished one, in one line; empty if it does not.
// Rounds of different questions must not be mixed.
func (p *Past) Differs(is measure.Header, cases []measure.Case, q Question) (string, error) {
	was := p.Header
	list := []difference{
		{"the version of pawl", was.Pawl, is.Pawl},
		{"the suite", was.Suite, is.Suite},
		{"the definition that differs from the base's", was.Definition, is.Definition},
		{"the level of trust", string(was.Trust), string(is.Trust)},
		{"the reason of --accept", was.Accepted, is.Accepted},
		{"the seed", was.Plan.Seed, is.Plan.Seed},
		{"the device", was.Device, is.Device},
		{"the testbed", was.Testbed, is.Testbed},
		{"the environment", was.Environment, is.Environment},
		{"the plan of the measurement", withoutSeed(was.Plan), withoutSeed(is.Plan)},
		{"the list of sides", names(was.Implementations), names(is.Implementations)},
		{"the working tree", []string{p.Seal.Tree}, []string{q.Tree}},
		{"the policy or a baseline", []string{p.Seal.Terms}, []string{q.Terms}},
	}
	for i, now := range is.Implementations {
		if len(was.Implementations) == len(is.Implementations) {
			list = append(list, sideDifferences(was.Implementations[i], now)...)
		}
	}
	list = append(list, difference{"the definition of the cases", byKey(p.Cases), byKey(cases)})
	for _, d := range list {
		if why, err := d.describe(); why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}

// sideDifferences lists what a side is made of. How long its build took, and what is derived from its outputs, is
// not part of it.
func sideDifferences(was, is measure.Implementation) []difference {
	made := func(i measure.Implementation) measure.Implementation {
		i.Ref, i.Build.Seconds, i.Build.Cached, i.Build.Elsewhere, i.Build.Kernels, i.Build.Code = "", 0, false, false, nil, nil
		return i
	}
	return []difference{
		{"the commit of " + is.Name, was.Commit, is.Commit},
		{"the build outputs of " + is.Name, was.Build.Outputs, is.Build.Outputs},
		{"the harness of " + is.Name, was.Harness, is.Harness},
		{"the implementation " + is.Name, made(was), made(is)},
	}
}

// describe compares the JSON of both, since that is what the journal has.
func (d difference) describe() (string, error) {
	was, err := json.Marshal(d.was)
	if err != nil {
		return "", fmt.Errorf("cannot compare %s: %w", d.what, err)
	}
	is, err := json.Marshal(d.is)
	if err != nil {
		return "", fmt.Errorf("cannot compare %s: %w", d.what, err)
	}
	switch {
	case bytes.Equal(was, is):
		return "", nil
	case short(was) && short(is):
		return fmt.Sprintf("%s was %s and is %s", d.what, was, is), nil
	default:
		return d.what + " changed", nil
	}
}

// short reports whether a JSON value fits in a sentence.
func short(value []byte) bool { return len(value) <= 60 && !bytes.ContainsAny(value[:1], "{[n") }

// withoutSeed returns a plan without what may change between two processes: the seed is compared by itself, and more
// is known about the testbed after every run on it.
func withoutSeed(p measure.Plan) measure.Plan {
	p.Seed, p.Dependence = 0, nil
	return p
}

func names(list []measure.Implementation) []string {
	var names []string
	for _, i := range list {
		names = append(names, i.Name)
	}
	return names
}

// byKey returns cases without their rounds, in an order that does not depend on when they were declared.
func byKey(cases []measure.Case) []measure.Case {
	list := WithoutRounds(cases)
	slices.SortFunc(list, func(a, b measure.Case) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// WithoutRounds returns a copy of cases that has no rounds.
func WithoutRounds(cases []measure.Case) []measure.Case {
	list := slices.Clone(cases)
	for i := range list {
		list[i].Rounds = nil
	}
	return list
}
