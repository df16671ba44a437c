package diagnose

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// Every cause can be told both ways, names only causes that exist as what follows from
// it, has a fix, and stands in the documentation.
func TestCausesAreComplete(t *testing.T) {
	list, err := allCauses()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/explanation/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*cause{}
	for _, c := range list {
		byName[c.Name] = c
	}
	if len(byName) != len(list) {
		t.Error("two causes have one name")
	}
	for _, c := range list {
		for _, s := range c.Symptoms {
			if byName[s] == nil || s == c.Name {
				t.Errorf("%s: there is no cause %q that could follow from it", c.Name, s)
			}
		}
		if len(c.Fixes) == 0 || c.Fixes[0].Do == "" {
			t.Errorf("%s: nothing to try", c.Name)
		}
		if len(c.Slower) != len(c.Faster) {
			t.Errorf("%s: %d ways to say that it is slower, %d that it is faster", c.Name, len(c.Slower), len(c.Faster))
		}
		if !strings.Contains(string(page), "| `"+c.Name+"` |") {
			t.Errorf("docs/explanation/differences.md does not list %s", c.Name)
		}
	}
}

func TestMistakesInCauses(t *testing.T) {
	good := "name: a\ntitle: b\nkind: code\nwhen: [slow_registers > 1]\nslower: [\"{slow_registers}\"]\nfaster: [x]\nchain: [registers]\n"
	if _, err := readCause([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		"kind: code": "kind: odd", "slow_registers > 1": "slow_regs > 1", "{slow_registers}": "{slow_registers", "[registers]": "[regs]",
		"title: b\n": "", "name: a": "nam: a", "{slow_registers}\"": "{slow_x}\"",
	} {
		if _, err := readCause([]byte(strings.Replace(good, from, to, 1))); err == nil {
			t.Errorf("%q instead of %q is taken", to, from)
		}
	}
}

// Causes that no pair has as its first: what they need to speak, and what keeps them
// silent.
func TestCausesSpeak(t *testing.T) {
	warps := values{"time_ns": 100.0, "instructions": 1000.0, "warp_latency": 20.0, "active_warps": 8.0, "sm_active_pct": 98.0, "stall_long_scoreboard": 10.0, "stall_lg_throttle": 1.0, "stall_math_pipe_throttle": 1.0, "stall_no_instruction": 0.1}
	host := values{"host_instructions": 1e6, "host_l1_misses": 1000.0, "host_llc_misses": 100.0, "host_branch_misses": 100.0}
	for name, c := range map[string]struct {
		fast values
		slow values // what differs
	}{
		"memory-clock": {merged(warps, values{"dram_clock_hz": 6.0e9, "dram_pct": 80.0}), values{"time_ns": 130.0, "dram_clock_hz": 4.6e9, "dram_pct": 80.0}},
		"more-work":    {merged(warps, values{"threads": 1e6}), values{"time_ns": 200.0, "threads": 2e6, "instructions": 2000.0}},
		"block-size": {
			merged(warps, values{"block_size": 256.0, "registers": 40.0, "shared_bytes": 0.0, "occupancy_max_pct": 100.0, "occupancy_pct": 95.0}),
			values{"time_ns": 130.0, "block_size": 1024.0, "occupancy_max_pct": 67.0, "occupancy_pct": 64.0, "active_warps": 5.4},
		},
		"l1-locality": {
			merged(warps, values{"l1_hit_pct": 80.0, "l2_hit_pct": 60.0}),
			values{"time_ns": 160.0, "l1_hit_pct": 40.0, "l2_hit_pct": 70.0, "warp_latency": 32.0, "stall_long_scoreboard": 22.0},
		},
		"atomics":           {merged(warps, values{"atomic_code": 0.0}), values{"time_ns": 160.0, "atomic_code": 1.0, "warp_latency": 32.0, "stall_lg_throttle": 13.0}},
		"code-size":         {merged(warps, values{"code_size": 900.0}), values{"time_ns": 160.0, "code_size": 30000.0, "warp_latency": 32.0, "stall_no_instruction": 12.1}},
		"idle":              {warps, values{"time_ns": 150.0, "sm_active_pct": 65.0}},
		"math-waits":        {warps, values{"time_ns": 150.0, "warp_latency": 30.0, "stall_math_pipe_throttle": 11.0}},
		"memory-waits":      {warps, values{"time_ns": 150.0, "warp_latency": 30.0, "stall_long_scoreboard": 20.0}},
		"more-traffic":      {values{"time_ns": 100.0, "dram_bytes": 1e9, "dram_pct": 80.0}, values{"time_ns": 150.0, "dram_bytes": 1.5e9}},
		"host-memory":       {host, values{"host_llc_misses": 20000.0, "host_l1_misses": 21000.0}},
		"host-branches":     {host, values{"host_branch_misses": 50000.0}},
		"more-instructions": {warps, values{"time_ns": 150.0, "instructions": 1500.0}},
	} {
		t.Run(name, func(t *testing.T) {
			slow := merged(c.fast, c.slow)
			d, err := Compare(Subject{Facts: facts(c.fast)}, Subject{Facts: facts(slow)})
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Causes) == 0 || d.Causes[0].Name != name {
				t.Errorf("%s %+v", d.Sentence, d.Causes)
			}
			quiet, err := Compare(Subject{Facts: facts(c.fast)}, Subject{Facts: facts(merged(c.fast, values{"time_ns": 150.0}))})
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(quiet.Causes, func(c Cause) bool { return c.Name == name }) {
				t.Errorf("nothing changed but the time: %s", quiet.Sentence)
			}
		})
	}
}

func merged(a, b values) values {
	m := maps.Clone(a)
	maps.Copy(m, b)
	return m
}

func facts(v values) profile.Facts {
	f := profile.Facts{}
	for name := range v {
		f[name], _ = v.get(name)
	}
	return f
}

func TestBaseName(t *testing.T) {
	for name, want := range map[string]string{
		"kernel": "kernel", "void attention<64>(float const*)": "attention", "ns::k<float, (int)4>(float const*)": "k",
		"(anonymous namespace)::k(const float *, int)": "k", "matmul'2": "matmul", "matmul.constprop.0": "matmul", "sinf@plt": "sinf",
		"float *ns::find(int)": "find", "": "", "(": "(",
	} {
		if got := baseName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// What was measured and what the profiler saw may disagree.
func TestProfilerSeesNoChange(t *testing.T) {
	side := func(ns, profiled float64) Subject {
		return Subject{Profile: &profile.Profile{Subject: profile.Subject{Nanoseconds: ns}}, Facts: profile.Facts{"time_ns": profiled, "registers": 32}}
	}
	d, err := Compare(side(100, 90), side(130, 90.5))
	if err != nil || !strings.HasPrefix(d.Sentence, "30.0 % slower (130 ns, was 100 ns): under the profiler both take the same time") {
		t.Errorf("%v %+v", err, d)
	}
	d, err = Compare(side(100, 90), side(130, 120))
	if err != nil || !strings.Contains(d.Sentence, "nothing in this profile explains it") {
		t.Errorf("%v %+v", err, d)
	}
}
