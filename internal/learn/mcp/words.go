package mcp

import (
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
)

// words are the strings that a field may have and still be pawl's own. A name that is not
// here has none.
var words = wordLists(map[string]string{
	"verdict":        "regression improvement maintained inconclusive new missing broken identical",
	"ratchet":        "moves holds",
	"answer":         "yes no unknown open passed advice overridden idle pass warn stop skipped better worse same found nothing",
	"worst":          "pass warn fail stop skipped",
	"status":         "passed failed skipped ok wrong error invalid timeout pruned open overridden idle refused complete untried",
	"state":          "ok note warn bad missing fail pass skip stop skipped complete interrupted budget failed aborted proposed confirmed refuted open passed overridden idle",
	"phase":          "assess build baseline optimize done",
	"kind":           "person agent ci started did refused noted overrode ended cpu gpu cuda opencl parameter flag file",
	"what":           "parameter flag file",
	"outcome":        "reached better stopped lost nothing",
	"group":          "machine device toolchain suite harness profiler sandbox correctness gate noise github",
	"side":           "candidate base",
	"sides":          "candidate base",
	"order":          "candidate base",
	"implementation": "candidate base",
	"unit":           "ns us ms s % B GB/s GFLOPS W MHz",
	"timer":          "cpu wall cuda_events cupti gpu event",
	"clocks":         "free locked fixed capped",
	"bottleneck":     "memory compute latency occupancy launch unknown balanced",
	"class":          "memory compute latency occupancy launch unknown build correctness environment measurement method abi missing undefined instantiation toolchain other",
	"trust":          "trusted checked self-timed",
	"basis":          "pawl nvidia rules measured rule lesson",
	"source":         "starter repository",
	"rule":           "unwritten nan infinity close",
	"inputs":         "normal equal_rows zeros ones uniform edges large small",
	"repeated":       "bitwise differs",
	"strategy":       "auto random grid local anneal genetic bayes",
	"compare":        ">= <= > < == !=",
	"policy":         "paired classic",
	"tool":           toolNames,
	"next_tool":      toolNames,
	"limit":          "time budget cancelled",
	"resource":       "blocks warps shared_memory registers barriers threads",
	"limiters":       "blocks warps shared_memory registers barriers threads",
	"effect":         "negligible small medium large none",
	"pairing":        "paired unpaired",
	"better":         "lower higher",
	"schema":         "pawl.verdict/v1 pawl.run/v1",
})

const toolNames = "next session_start session_note session_end gates doctor setup_check preflight build fuzz bench compare profile diagnose tune lessons lesson learn baseline gpu occupancy"

func wordLists(in map[string]string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for key, list := range in {
		out[key] = map[string]bool{}
		for word := range strings.FieldsSeq(list) {
			out[key][word] = true
		}
	}
	return out
}

// longKeys are pawl's names of fields that have more than two words. TestLongKeys finds
// those that are missing.
var longKeys = set(`bandwidth_gb_per_s blocks_per_sm change_in_cycles cpu_scaling_enabled
dollars_per_caught dollars_per_day dollars_per_run first_bad_tiles fraction_of_optimum
global_memory_size hours_per_day l2_cache_size memory_clock_mhz memory_total_gb
memory_usage_byte multi_processor_count number_of_sms number_per_run p_mann_whitney
points_a_day power_cap_w price_per_hour random_after_1h registers_per_block
registers_per_sm registers_per_thread rounds_for_1_percent rounds_for_3_percent
shared_per_block shared_per_sm sm_clock_mhz tflops_fp16_accumulate threads_per_block
threads_per_sm warps_per_block warps_per_sm within_1_percent device_seconds_left
tune_params_keys attempts_without_20 wrong_optimizations minutes_by_phase minutes_to_build
minutes_to_bottleneck build_minutes_broken correct_since_change`)

func set(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}

var (
	// A number, a time, a digest or an id has no room for a message.
	form = lazyregexp.New(`^(|-?[0-9]{1,24}(\.[0-9]{1,24})?(e[+-]?[0-9]{1,4})?|NaN|[+-]Inf|(sha256:)?[0-9a-f]{7,64}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}(Z|[+-][0-9]{2}:[0-9]{2})|[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}|[0-9A-HJKMNP-TV-Z]{26}|sm_[0-9]{2,3}[af]?)$`)
	// A case: a short name, and parameters with their numbers.
	caseForm = lazyregexp.New(`^[a-z][a-z0-9]{0,15}([_-][a-z0-9]{1,12})?(/[A-Za-z]{1,6}[0-9]{1,9}(_[A-Za-z]{1,6}[0-9]{1,9}){0,7})?(/(candidate|base))?$`)
	// A parameter of a suite, which is the name of a field where a point is told.
	paramForm = lazyregexp.New(`^[A-Z][A-Z0-9]{0,11}(_[A-Z0-9]{1,8})?$`)
)

// caseKeys are fields that name a case, or a benchmark.
var caseKeys = set("case benchmark config name cases smallest first_bad")

// ownString tells whether a string in a field of that name is pawl's own.
func ownString(key, s string) bool {
	if form.MatchString(s) || words[key][s] {
		return true
	}
	switch {
	case caseKeys[key]:
		return caseForm.MatchString(s) || key == "name" && paramForm.MatchString(s)
	case key == "gate" || key == "id":
		return gateTexts()[s]
	case key == "title" || key == "why":
		return gateTexts()[s]
	}
	return false
}

// gateTexts are the words of the gates that pawl comes with: what is equal to one of them
// was not written by anybody else.
var gateTexts = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, g := range gates.All() {
		out[g.Phase], out[g.ID], out[g.Title], out[g.Why] = true, true, true, true
	}
	return out
})
