package amd

import (
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
)

func FuzzTable(f *testing.F) {
	for _, version := range []byte{3, 6, 7, 8, 9} {
		f.Add(devicetest.AMDTable(version, 1<<40, [5]uint32{1, 2, 3, 4, 5}))
	}
	f.Add([]byte{})
	f.Add([]byte{255, 255, 1, 8})
	f.Fuzz(func(t *testing.T, b []byte) {
		if table := parseTable(b); table.energyJ < 0 || table.now != nil && table.grown != nil {
			t.Errorf("%+v", table)
		}
	})
}

func FuzzViolations(f *testing.F) {
	for _, seed := range []string{
		`[{"gpu":0,"throttle":{"accumulation_counter":11240028,"prochot_accumulated":0,"ppt_accumulated":12,"socket_thermal_accumulated":0,"vr_thermal_accumulated":0,"hbm_thermal_accumulated":0,"ppt_violation_status":"NOT ACTIVE","ppt_violation_activity":{"value":0,"unit":"%"}}}]`,
		`{"gpu_data":[{"gpu":0,"throttle":{"ppt_accumulated":{"value":8,"unit":""},"prochot_accumulated":"N/A"}}]}`,
		`[{"throttle":{"ppt_violation_accumulated":5}}]`, `[]`, `{}`, `null`, `[{"throttle":"N/A"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := parseViolations(b); err != nil && c != nil {
			t.Errorf("%q: counters and an error", b)
		}
	})
}
