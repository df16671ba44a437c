package smi

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever nvidia-smi prints, a query yields rows of known fields or an error.
func FuzzParse(f *testing.F) {
	f.Add("210, 405, 0x0000000000000004, NVIDIA L4\n", 4)
	f.Add("[N/A], [Not Supported], , a, b\n\n1,2,3,4", 4)
	f.Add("Field \"mig.mode.current\" is not a valid field to query.\n", 1)
	f.Add("GPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 1g.5gb     Device  0: (UUID: MIG-2)\n", 2)
	all := []string{"clocks.current.sm", "clocks.current.memory", "clocks_throttle_reasons.active", "name"}
	f.Fuzz(func(t *testing.T, out string, n int) {
		fields := all[:1+uint(n)%uint(len(all))]
		rows, err := parse(out, fields)
		if err == nil && len(rows) > strings.Count(out, "\n")+1 {
			t.Errorf("%d rows from %q", len(rows), out)
		}
		for _, r := range rows {
			if len(r) > len(fields) {
				t.Errorf("row %v has more than %v", r, fields)
			}
			for name, v := range r {
				if v == "" || !utf8.ValidString(v) {
					t.Errorf("%s = %q", name, v)
				}
				if x := r.number(name); !(x >= 0 && x <= 1e9) {
					t.Errorf("%s = %v", name, x)
				}
				_, _ = r.reasons(name)
				r.onOff(name)
			}
		}
		refused(out)
		for card, slices := range parseList(out) {
			if !strings.HasPrefix(card, "GPU-") || len(slices) == 0 {
				t.Errorf("card %q with %v", card, slices)
			}
		}
	})
}
