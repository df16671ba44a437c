package bench

import (
	"fmt"

	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// warmStart reads what was found elsewhere, for the strategy to begin with. Nil for nothing.
func (t *tuner) warmStart() (*search.Source, error) {
	known := 0
	for _, path := range t.WarmStart {
		_, list, err := tune.Load(path)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if _, ok := t.point(e.Point); ok {
				known++
			}
		}
	}
	if len(t.WarmStart) > 0 && known == 0 {
		return nil, fmt.Errorf("no point of %v is one of this space: its parameters or values are others", t.WarmStart)
	}
	return nil, nil
}
