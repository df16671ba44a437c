package gates

// Fact is a number that conditions ask for.
type Fact struct {
	Name   string
	About  string
	Always bool // it is known in every session, from the first entry on
}

// Names are all facts, in the order in which the work meets them. Conditions of gates and
// symptoms of lessons may ask for these.
func Names() []Fact { return facts }

var facts = []Fact{
	{"minutes", "minutes since the session began", true},
	{"minutes_silent", "minutes since the last entry", true},
	{"host_changed", "1: this is another host than that of the last look at the environment, or of the last entry", true},
	{"device_seconds", "seconds with the device taken", true},
	{"dollars", "what they cost", true},
	{"budget_left", "share of the budget that is left, of seconds or dollars the smaller", false},
	{"gpu", "1: the session works on a GPU", true},
	{"environment_ok", "1: pawl doctor found nothing wrong on this host", false},
	{"abi_ok", "0: what was built did not load, or the toolchain did not work, since pawl doctor looked", true},
	{"claims_verified", "1: it was built here", false},
	{"limits_known", "1: preflight computed what the device allows", false},
	{"fits", "1: nothing exceeds it", false},
	{"shared_memory", "bytes of shared memory in a block", false},
	{"shared_limit", "bytes that a block may have", false},
	{"minimum_ns", "least time that the smallest config can take", false},
	{"target", "speed-up that is wanted", false},
	{"target_minimums", "the target's time in least possible times; very large where either is not known", true},
	{"reference_measured", "1: the reference was measured here", false},
	{"reference_ns", "its median at the smallest config", false},
	{"smallest_measured", "1: the smallest config is among what was measured", true},
	{"build_ok", "1: the last build worked", false},
	{"build_minutes_broken", "minutes since the first of the builds that failed in a row", true},
	{"sources_ok", "0: a file is missing from the build", false},
	{"symbols_ok", "0: nothing defines a symbol", false},
	{"committed", "1: the sources are those of a commit", true},
	{"unchecked", "1: the suite does not say what is right", true},
	{"points", "points that were checked last", false},
	{"failed_points", "of them, wrong", false},
	{"smallest_correct", "1: the smallest config that was tried is right", false},
	{"not_finite", "1: NaN or infinity was among the results", true},
	{"max_difference", "largest difference that was seen", false},
	{"first_bad_tiles", "size of the smallest wrong config in tiles", false},
	{"measurements", "measurements of the candidate in this session", true},
	{"smallest_speedup", "reference over candidate at the smallest config", false},
	{"speedup", "the same over all configs measured last, geometric mean", false},
	{"speedup_slope", "slope of its logarithm against that of the work", false},
	{"concurrency_slope", "the same against heads and batch, where only these differ", false},
	{"profiled", "1: there is a profile of the present or the last measured source", true},
	{"changed", "variables that changed since the last measurement", true},
	{"changed_files", "files in which they did", true},
	{"mending", "1: what was measured last is known to be wrong, so that changes mend it", true},
	{"correct_since_change", "1: the present source was checked and is right, 0: it is wrong", false},
	{"attempts_made", "changes that were measured", true},
	{"attempts_without_20", "of the last ones, how many in a row gained less than 20 %", true},
	{"last_gain", "logarithm of before over after of the last one", false},
	{"definition_changed", "1: the definition is not that of the first measurement", true},
	{"reached", "1: the target is reached; without one, 20 % over the first measurement", true},
	{"configs", "configs of the suite, or all that were measured", true},
	{"configs_measured", "configs measured with the source as it was at the last measurement", true},
}

// texts are the words that sentences and commands may name, beside the facts.
var texts = []string{
	"host", "last_host", "last_command", "problems", "claim_words", "build_class", "build_where", "good", "reference", "smallest", "largest",
	"smallest_checked", "first_bad", "replay", "difference_words", "speed_words", "profile_case", "bottleneck", "changes", "put_back",
}
