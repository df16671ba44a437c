package discover

import (
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// axis is a parameter with its values, in order of first appearance.
type axis struct {
	name   string
	values []any
}

// matrix returns the parameters whose combinations are exactly these configs, or false if the
// configs form no such grid. The order of parameters is that of the first config, because it
// determines the names of configs.
func matrix(configs []suite.Config) ([]axis, bool) {
	if len(configs) == 0 || len(configs[0].Params) == 0 {
		return nil, false
	}
	var axes []axis
	for _, p := range configs[0].Params {
		axes = append(axes, axis{name: p.Name})
	}
	seen := map[string]bool{}
	for _, c := range configs {
		if len(c.Params) != len(axes) {
			return nil, false
		}
		ordered := make(suite.Params, len(axes))
		for i := range axes {
			v, ok := c.Params.Get(axes[i].name)
			if !ok {
				return nil, false
			}
			if !slices.Contains(axes[i].values, v) {
				axes[i].values = append(axes[i].values, v)
			}
			ordered[i] = suite.Param{Name: axes[i].name, Value: v}
		}
		seen[suite.ConfigName(ordered)] = true
	}
	combinations := 1
	for _, a := range axes {
		if combinations *= len(a.values); combinations > len(configs) {
			return nil, false
		}
	}
	// As many distinct configs as combinations: none is missing.
	return axes, combinations == len(configs) && len(seen) == len(configs)
}
