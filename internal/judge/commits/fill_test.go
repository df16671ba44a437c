package commits

import (
	"slices"
	"testing"
)

func TestEvery(t *testing.T) {
	list := []string{"a", "b", "c", "d", "e", "f", "g"}
	for _, test := range []struct {
		n    int
		want []string
	}{
		{1, list},
		{2, []string{"a", "c", "e", "g"}},
		{3, []string{"a", "d", "g"}},
		{4, []string{"c", "g"}},
		{9, []string{"g"}},
	} {
		if got := Every(list, test.n); !slices.Equal(got, test.want) {
			t.Errorf("every %d: %v, want %v", test.n, got, test.want)
		}
	}
	if got := Every(nil, 2); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
