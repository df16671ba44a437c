package gates

import (
	"cmp"
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

const (
	assess   = "assess"
	build    = "build"
	baseline = "baseline"
	optimize = "optimize"
)

// The numbers of the method.
const (
	halfSpeed     = 0.5  // speedup at the smallest config below which it is profiled first
	minimumShare  = 2    // a target asks for at least so many times the least possible time
	brokenMinutes = 30   // of broken builds until the last working commit is looked for
	silentMinutes = 60   // without an entry until the host is checked again
	fallingSlope  = -0.1 // of log speedup against log work
	maxAttempts   = 3    // in a row that gain less than enough
	enough        = 1.2  // times as fast that an attempt should gain, and a session without a target
	wrongAbove    = 0.1  // difference that is a bug and not imprecision
)

var (
	devicework = []string{"fuzz", "bench", "run", "sweep", "tune", "profile"}
	allwork    = append([]string{"build", "preflight"}, devicework...)
	timing     = []string{"bench", "run", "sweep", "tune", "profile"}
)

// gates are all there are, in the order of the work.
var gates = []Gate{
	{
		ID: "host", Phase: assess, Title: "The host is the one that was checked, and it is alive",
		Why: "A spot host dies without a message; ten minutes of a silent build went with one.", ask: askHost,
	},
	{
		ID: "environment", Phase: assess, Title: "Driver, toolkit and libraries fit each other", Stops: allwork, lasts: true,
		Why: "A check takes seconds; an ABI mismatch found without it took 67 minutes.", ask: askEnvironment,
	},
	{
		ID: "claims", Phase: assess, Title: "What is claimed to be fast builds here",
		Why: "A target was taken from a claim that was never run.", ask: askClaims,
	},
	{
		ID: "limits", Phase: assess, Title: "The limits of the device are known, and the target is possible",
		Why: "A design for another device does not scale down to this one.", ask: askLimits,
	},
	{
		ID: "reference", Phase: assess, Title: "The reference is measured on this device, the smallest config first",
		Why: "Without the reference's own time on this device no target means anything.", ask: askReference,
	},
	{
		ID: "shared-memory", Phase: build, Title: "Shared memory is computed before compiling, and everything fits",
		Why: "A tile that does not fit is known from its size; compiling it first costs the build.", ask: askSharedMemory,
	},
	{
		ID: "builds", Phase: build, Title: "It builds: no source is missing, every template is instantiated", Stops: devicework,
		Why: "Instantiation and library paths took 55 minutes to see through; a broken build that once worked took two hours.", ask: askBuilds,
	},
	{
		ID: "correct", Phase: build, Title: "The results are right, the smallest config first, after each change", Stops: timing,
		Why: "A kernel was made faster while its results were off by 4.72.", ask: askCorrect,
	},
	{
		ID: "smallest-speed", Phase: baseline, Title: "The smallest config has half of the reference's speed, or a profile says why not",
		Why: "Below half of the reference one large thing is wrong, which no parameter fixes; 0.12x became 0.09x by trying.", ask: askSmallestSpeed,
	},
	{
		ID: "scaling", Phase: baseline, Title: "The speedup does not fall with the size, or a profile says why",
		Why: "A speedup that falls with the size is bound by launches or bandwidth.", ask: askScaling,
	},
	{
		ID: "concurrency", Phase: baseline, Title: "The speedup does not fall with more independent work, or a profile says why",
		Why: "A grid too small for the device shows when the batch grows.", ask: askConcurrency,
	},
	{
		ID: "definition", Phase: optimize, Title: "What it is measured with is unchanged", Stops: devicework, lasts: true,
		Why: "Times of two definitions are answers to two questions.", ask: askDefinition,
	},
	{
		ID: "budget", Phase: optimize, Title: "There is budget left", Stops: devicework, lasts: true,
		Why: "A budget that is only checked afterwards is none.", ask: askBudget,
	},
	{
		ID: "profile-first", Phase: optimize, Title: "Profile before you optimize",
		Why: "Threads and tiles were changed on a guess, and 0.12x became 0.09x.", ask: askProfile,
	},
	{
		ID: "one-variable", Phase: optimize, Title: "One variable at a time",
		Why: "Of two changes that are measured together it is unknown which one did it.", ask: askOneVariable,
	},
	{
		ID: "measure-again", Phase: optimize, Title: "Measured again after each change",
		Why: "A change that was not measured is a guess.", ask: askMeasureAgain,
	},
	{
		ID: "attempts", Phase: optimize, Title: "At most three attempts in a row without 20 %",
		Why: "The fourth blind attempt has never been the one that worked.", ask: askAttempts,
	},
	{
		ID: "target", Phase: optimize, Title: "The target is reached",
		Why: "Work without a target has no end.", ask: askTarget,
	},
	{
		ID: "validate", Phase: optimize, Title: "All configs are measured at the end",
		Why: "What was reached at one config may be lost at another.", ask: askValidate,
	},
}

func askHost(f Facts) verdict {
	silent := f.num("minutes_silent")
	switch {
	case f.is("host_changed"):
		return no("pawl doctor", "The last check was on %s and this host is %s: check this one, then build again.", f.text("last_host", "another host"), f.text("host", "another"))
	case silent >= silentMinutes:
		return no("pawl doctor", "The last entry is %.0f minutes old: check that the host is as it was.", silent)
	}
	return passed("The last entry is %.0f minutes old, on this host.", silent)
}

func askEnvironment(f Facts) verdict {
	switch {
	case !f.is("abi_ok"):
		return no("pawl doctor", "What was built does not load, or the toolchain failed (%s): fix the environment, not the code, then check again.", f.text("build_class", "see the build log"))
	case !f.known("environment_ok"):
		return open("pawl doctor", "Check the environment before any work on the build.")
	case !f.is("environment_ok"):
		return no("pawl doctor", "pawl doctor found %s: fix the environment, not the code, then check again.", f.text("problems", "problems"))
	}
	return passed("pawl doctor found no problem.")
}

func askClaims(f Facts) verdict {
	switch {
	case f.is("claims_verified"):
		return passed("It was built here.")
	case f.known("claims_verified"):
		return no("pawl build", "%s: until it builds and runs here, every figure about it is a claim.", f.text("claim_words", "It does not build here"))
	}
	return open("pawl build", "Build it; until then every figure about it is a claim.")
}

func askLimits(f Facts) verdict {
	switch least := f.num("target_minimums"); {
	case !f.known("limits_known"):
		return open("pawl preflight", "Compute what the device allows, and the least time it needs.")
	case f.known("target_minimums") && least < minimumShare:
		return no("pawl profile --roofline", "The target of %sx asks for %s times the least time that the device needs; below %d times it is not reached. Choose another algorithm, device or target.", short(f.num("target")), short(least), minimumShare)
	}
	return passed("The limits are computed.")
}

func askReference(f Facts) verdict {
	command := benchSmallest(f)
	switch {
	case f.is("reference_measured") && f.is("smallest_measured"):
		return passed("%s is measured%s.", f.text("reference", "the reference"), optional(" at %s", f.Texts["smallest"]))
	case f.known("reference_measured"):
		return no(command, "%s is not measured at the smallest config%s. If it is missing from the result, name it under implementations of the benchmark.", f.text("reference", "the reference"), optional(", %s", f.Texts["smallest"]))
	}
	return open(command, "Measure %s and the kernel%s.", f.text("reference", "the reference"), optional(" at %s, the smallest config", f.Texts["smallest"]))
}

func askSharedMemory(f Facts) verdict {
	switch {
	case !f.is("gpu") && (!f.known("fits") || f.is("fits")):
		return idle
	case !f.known("limits_known"):
		return open("pawl preflight", "Compute shared memory, registers and blocks before compiling.")
	case !f.is("fits") || f.known("shared_limit") && f.num("shared_memory") > f.num("shared_limit"):
		return no("pawl preflight", "It does not fit: a block needs %s KB of shared memory, and the device has %s KB. Use a smaller tile, or dynamic shared memory.", kilobytes(f.num("shared_memory")), kilobytes(f.num("shared_limit")))
	}
	return passed("It fits: %s KB of shared memory in a block.", kilobytes(f.num("shared_memory")))
}

func askBuilds(f Facts) verdict {
	switch {
	case f.is("build_ok"):
		return passed("It builds.")
	case !f.known("build_ok") && f.is("claims_verified") && f.num("build_minutes_broken") == 0:
		return idle // the source changed after a working build: the next command builds it
	case !f.known("build_ok"):
		return open("pawl build", "Build it.")
	}
	fix := "Fix the first error, and build again."
	switch f.Texts["build_class"] {
	case journal.MissingFile:
		fix = "Add the missing file to the sources or the include paths of the build."
	case journal.UndefinedSymbol, journal.Instantiation:
		fix = "Instantiate the template where it is defined, include the kernel in one compilation unit, or add the library; pawl preflight names the file."
	}
	minutes := f.num("build_minutes_broken")
	what := fmt.Sprintf("This source does not build (%s%s), for %.0f minutes.", f.text("build_class", "compile error"), optional(" at %s", f.Texts["build_where"]), minutes)
	if minutes >= brokenMinutes {
		return no(bisect(f), "%s %d minutes are enough: look for the last commit that worked.", what, brokenMinutes)
	}
	return no("pawl build", "%s %s", what, fix)
}

func bisect(f Facts) string {
	return "git stash && git bisect start HEAD" + optional(" %s", f.Texts["good"]) + " && git bisect run pawl build"
}

func askCorrect(f Facts) verdict {
	switch {
	case f.is("unchecked"):
		return idle
	case !f.known("correct_since_change"):
		return open("pawl fuzz", "Check the results%s, the smallest config first: correctness comes before speed.", optional(" after changing %s", f.Texts["changes"]))
	case f.is("correct_since_change"):
		return passed("All %.0f checked points are right, the largest difference is %s.", f.num("points"), short(f.num("max_difference")))
	}
	sentence := fmt.Sprintf("The results are wrong%s%s. ", optional(" at %s", f.Texts["first_bad"]), optional(": %s", f.Texts["difference_words"]))
	if tiles := f.num("first_bad_tiles"); tiles > 1 && tiles <= 2 && f.is("smallest_correct") {
		sentence += fmt.Sprintf("It is right up to one tile and wrong at %s tiles: an index of the whole problem is used inside the tile. Use the index inside the tile (index modulo tile).", short(tiles))
	} else {
		sentence += "Correctness before speed: find the bug in the smallest wrong config, fix it, and check again."
	}
	return no(cmp.Or(f.Texts["replay"], "pawl fuzz"), "%s", sentence)
}

// measurable reports whether speed is the question now: the last measured source is not known to be
// wrong.
func measurable(f Facts) bool { return f.num("measurements") > 0 && !f.is("repairing") }

// explained reports whether a profile can say why it is slow, or none can be taken here.
func explained(f Facts) bool { return f.is("profiled") || f.is("no_profiler") }

func askSmallestSpeed(f Facts) verdict {
	speed := f.num("smallest_speedup")
	at := fmt.Sprintf("%s runs at %sx of %s", f.text("smallest", "The smallest config"), short(speed), f.text("reference", "the reference"))
	switch {
	case f.is("repairing"):
		return idle
	case !f.known("smallest_speedup"):
		return open(benchSmallest(f), "Measure the smallest config side by side with %s.", f.text("reference", "the reference"))
	case speed >= halfSpeed || explained(f):
		return passed("%s.", at)
	}
	at += fmt.Sprintf(", below %sx", short(halfSpeed))
	if speed < 0.1 {
		at += " (below 0.1x there is a fundamental bug)"
	}
	return no("pawl profile "+f.arg("smallest", "CASE"), "%s. Stop and profile it before anything is changed or tuned.", at)
}

func askScaling(f Facts) verdict {
	if f.num("measurements") > 0 && !f.known("speedup_slope") && !f.is("repairing") {
		return open("pawl bench", "Measure all configs, to see how the speedup changes with the size.")
	}
	return askSlope(f, "speedup_slope", "the size", "launches or bandwidth. Profile the largest config")
}

func askConcurrency(f Facts) verdict {
	return askSlope(f, "concurrency_slope", "the amount of independent work", "look at the size of the grid")
}

// askSlope asks whether the speedup falls with something.
func askSlope(f Facts, fact, with, then string) verdict {
	slope := f.num(fact)
	switch {
	case f.is("repairing") || !f.known(fact):
		return idle
	case slope >= fallingSlope || explained(f):
		return passed("The speedup changes with %s by a slope of %s.", with, short(slope))
	}
	return no("pawl profile "+f.arg("largest", "CASE"), "The speedup falls with %s (slope %s): %s.", with, short(slope), then)
}

func askDefinition(f Facts) verdict {
	switch {
	case f.num("measurements") == 0:
		return idle
	case f.is("definition_changed"):
		return no("pawl session end --outcome stopped", "The suite, the harness, the oracle or a tolerance changed since the first measurement of this session. Restore it, or end this session and start one with the new definition.")
	}
	return passed("The definition is that of the first measurement.")
}

func askBudget(f Facts) verdict {
	left := f.num("budget_left")
	switch {
	case !f.known("budget_left"):
		return idle
	case left <= 0:
		return no("pawl session end --outcome stopped", "The budget of the session is spent (%.0f seconds on the device, $%.2f). Write down what is known and end it.", f.num("device_seconds"), f.num("dollars"))
	}
	return passed("%.0f %% of the budget is left.", math.Floor(100*left))
}

func askProfile(f Facts) verdict {
	command := "pawl profile " + f.arg("smallest", "CASE")
	switch {
	case !measurable(f):
		return idle
	case f.is("profiled"):
		return passed("There is a profile%s.", optional(": limited by %s", f.Texts["bottleneck"]))
	case f.is("no_profiler"):
		return passed("No profiler works here: each change is judged by its measurement alone.")
	case f.num("changed") > 0:
		return no(command, "%s changed since the last measurement without a profile. Profile first, then change what the first finding names.", f.text("changes", "The source"))
	}
	return open(command, "Profile what was measured last; the finding with the highest impact says what to change.")
}

func askOneVariable(f Facts) verdict {
	switch n := f.num("changed"); {
	case !measurable(f) || n == 0:
		return idle
	case n > 1:
		return no("git diff", "%s changed since the last measurement: measure them one at a time.", f.text("changes", "The source"))
	}
	return passed("%s changed since the last measurement.", f.text("changes", "The source"))
}

func askMeasureAgain(f Facts) verdict {
	if f.num("measurements") == 0 || f.num("changed") == 0 {
		return idle
	}
	return open("pawl bench", "Measure what changing %s did.", f.text("changes", "the source"))
}

func askAttempts(f Facts) verdict {
	n := f.num("attempts_without_20")
	switch {
	case f.num("measurements") == 0:
		return idle
	case n >= maxAttempts:
		return no("pawl session end --outcome stopped", "%.0f attempts in a row gained less than 20 %%. Write down what was tried and end the session; the next one starts with another idea.", n)
	}
	return passed("%.0f of %d attempts in a row without 20 %%.", n, maxAttempts)
}

func askTarget(f Facts) verdict {
	at := fmt.Sprintf("%sx of %s", short(f.num("speedup")), f.text("reference", "the reference"))
	if f.known("target") {
		at += fmt.Sprintf("; the target is %sx", short(f.num("target")))
	}
	switch {
	case f.num("measurements") == 0:
		return idle
	case f.is("reached"):
		return passed("%s.", at)
	}
	return open("pawl session next --fixes", "%s. Change one thing: the first fix for what the profile shows.", at)
}

func askValidate(f Facts) verdict {
	done, all := f.num("configs_measured"), f.num("configs")
	switch {
	case f.num("measurements") == 0 || !f.is("reached"):
		return idle
	case done < all:
		return open("pawl bench", "%.0f of %.0f configs are measured with this source: measure all of them.", done, all)
	}
	return passed("All %.0f configs are measured with this source.", all)
}

func benchSmallest(f Facts) string {
	return "pawl bench" + optional(" --case %s", f.arg("smallest", ""))
}

func kilobytes(x float64) string { return short(math.Round(x/102.4) / 10) }

// optional formats a text; empty if the value is.
func optional(format, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(format, value)
}
