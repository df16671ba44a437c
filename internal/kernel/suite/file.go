package suite

// The structs of this file define the format. A field is a key of pawl.yaml. Its tags hold
// its name, meaning, example and range. base/strictyaml reads by them, schema.go describes them,
// and a test checks the reference with them.
//
// A field that can be left out and whose zero value has a meaning is a pointer.

type fileDoc struct {
	Version         int                                   `yaml:"version" require:"true" min:"1" max:"1" doc:"Version of the format. Always the first line."`
	Name            text                                  `yaml:"name" example:"attention" doc:"Name of the suite in reports."`
	Extends         many[text]                            `yaml:"extends" example:"../common/pawl.yaml" doc:"Suite files to extend, relative to this file. A later file overrides an earlier one, and this file overrides all. Mappings are merged; lists and values are replaced."`
	Trust           trust                                 `yaml:"trust" example:"checked" doc:"How far to trust a change. trusted: the harness of the base may run it. checked: pawl's own launcher runs the kernel, and no host code of the change runs. self-timed: only the clock outside the process counts. Default: trusted."`
	Definition      []text                                `yaml:"definition" most:"1000" example:"[harness.c, oracle.py]" doc:"Globs of the other files that define the measurement: harness, oracle, tolerances. The base's versions are used. A person must accept a change to them."`
	Device          deviceDoc                             `yaml:"device" doc:"The device to measure on."`
	Build           buildDoc                              `yaml:"build" doc:"How to build the candidate. Without a command or a recipe, nothing is built."`
	Harness         harnessDoc                            `yaml:"harness" doc:"The program that runs the kernel."`
	Measure         measureDoc                            `yaml:"measure" doc:"How a case is measured."`
	Budget          budgetDoc                             `yaml:"budget" doc:"Limits at which measuring stops, decided or not. Without it, only the rounds limit a run."`
	Policy          policyDoc                             `yaml:"policy" doc:"How verdicts are decided."`
	Preflight       gatesDoc                              `yaml:"preflight" doc:"What is required of every kernel before it runs."`
	Baseline        baselineDoc                           `yaml:"baseline" doc:"Where the best confirmed results are kept."`
	Gate            gateDoc                               `yaml:"gate" doc:"What a pull request shows, and when its check fails. The gate of the base applies, never the change's own."`
	Quarantine      []quarantineDoc                       `yaml:"quarantine" most:"1000" example:"[{case: 'softmax/*', owner: '@kernels', until: '2026-12-31', reason: 'two speeds, see #12'}]" doc:"Cases that are measured and shown but cannot fail a change until a given day, each with an owner. The base's list applies."`
	Metrics         named[metricName, metricDoc]          `yaml:"metrics" most:"100" doc:"Numbers of a case in addition to its time: computed from it, or reported by the harness."`
	Implementations named[implementationName, variantDoc] `yaml:"implementations" most:"100" doc:"References to measure next to the candidate. An empty entry shares the candidate's build and harness."`
	Benchmarks      named[benchmarkName, benchmarkDoc]    `yaml:"benchmarks" doc:"Kernels or operations to measure. Default: those that the harness lists."`
}

type deviceDoc struct {
	Kind           deviceKind `yaml:"kind" example:"nvidia" doc:"Device family. auto selects a GPU if there is one, NVIDIA's before AMD's, otherwise the CPU."`
	Select         loose      `yaml:"select" example:"GPU-5c3a" doc:"Which device of that kind: its UUID, the start of it, or its index."`
	Clocks         clocks     `yaml:"clocks" example:"1500MHz" doc:"SM clock during a measurement: free (not locked), base (the highest clock that the card sustains), max, or a frequency."`
	Persistence    *bool      `yaml:"persistence" doc:"Keep the driver loaded between processes, if pawl is allowed to set that."`
	PricePerHour   *float64   `yaml:"price_per_hour" min:"0" max:"10000" example:"0.80" doc:"Price of the device per hour, in dollars."`
	MaxTemperature *float64   `yaml:"max_temperature" min:"20" max:"120" doc:"Temperature in degrees Celsius above which a round gets a warning."`
}

type buildDoc struct {
	Recipe  recipe                `yaml:"recipe" example:"nvcc" doc:"How the command line is composed. command: as written. nvcc, cmake, torch (a PyTorch extension) and make: from a few keys, with a compiler cache if ccache is installed."`
	Command text                  `yaml:"command" example:"make harness BLOCK=${BLOCK}" doc:"Build command, run in the folder of the suite. ${NAME} is replaced with a parameter: one build per distinct command."`
	Sources []text                `yaml:"sources" least:"1" most:"1000" example:"[harness.cu, 'kernels/*.cu']" doc:"Globs of the files to compile (nvcc, torch), or the folder of CMakeLists.txt (cmake)."`
	Target  text                  `yaml:"target" example:"harness" doc:"What to build. For nvcc and torch: a file, whose extension sets its kind (.so, .cubin, .ptx, .fatbin, otherwise a program). For cmake and make: a target."`
	Flags   text                  `yaml:"flags" example:"--use_fast_math -DTILE=${TILE}" doc:"Compiler flags (nvcc, torch), configure flags (cmake), or further arguments (make)."`
	Link    text                  `yaml:"link" example:"-lcublas" doc:"Linker flags (nvcc, torch)."`
	Arch    many[archName]        `yaml:"arch" example:"[sm_80, sm_89]" doc:"Architectures to compile for. auto is the architecture of the device."`
	Folder  text                  `yaml:"folder" example:"build-${TILE}" doc:"Build folder of cmake, below the folder of the suite. Default: build."`
	Jobs    *int                  `yaml:"jobs" min:"1" max:"1024" example:"4" doc:"Compilers to run at once. Default: one per processor, fewer if free memory is low."`
	Memory  size                  `yaml:"memory" example:"4GB" doc:"Memory that one compiler may use. It limits how many run at once."`
	Outputs []text                `yaml:"outputs" example:"[harness]" doc:"Globs of the files that the build writes. Their digests identify the build; without them it is not cached. Default for nvcc and torch: the target."`
	Inputs  []text                `yaml:"inputs" most:"1000" example:"[../../sdk/cpp]" doc:"Files and folders outside the folder of the suite that the build reads. Default: the whole repository, so that any change in it causes a new build."`
	Env     named[envName, loose] `yaml:"env" most:"1000" example:"{CFLAGS: -O3}" doc:"Environment variables of the command."`
	Timeout duration              `yaml:"timeout" doc:"Max duration of a build."`
	Cache   *bool                 `yaml:"cache" doc:"Whether to cache finished builds and reuse them if nothing has changed."`
	Sandbox confinement           `yaml:"sandbox" example:"always" doc:"Whether to isolate a build from the network, the home folder and everything but a copy of its sources: always, never, or auto (only for untrusted code)."`
}

type harnessDoc struct {
	Command text                  `yaml:"command" example:"./harness" doc:"Command that starts the harness, run in the folder of the suite. ${NAME} is replaced with a parameter: one process per distinct command."`
	Files   []text                `yaml:"files" example:"[weights.bin]" doc:"Globs of other files that affect the result. Their digests identify the harness."`
	Env     named[envName, loose] `yaml:"env" most:"1000" example:"{OMP_NUM_THREADS: 1}" doc:"Environment variables of the command."`
	Timeout duration              `yaml:"timeout" doc:"How long a harness may be silent before it is killed."`
	Format  format                `yaml:"format" example:"google-benchmark" doc:"pawl for a harness that speaks the protocol; otherwise the format that a plain command prints, auto to detect it, python for the times of Python's timers, or process to time the whole command."`
	Output  text                  `yaml:"output" example:"out.json" doc:"File to which a plain command writes its result, or a glob of files: what the * stands for starts the names of their cases. Default: its stdout."`
	Pattern text                  `yaml:"pattern" example:"'size (?<N>[0-9]+): (?<ms>[0-9.]+) ms'" doc:"For format lines: a regular expression whose groups name what a line holds. ns, us, ms or s is the time in that unit, case the name of the case, all others its parameters. Default: the first number with a unit of time."`
}

// settingsDoc holds settings of a suite, a benchmark or an override.
type settingsDoc struct {
	Samples *int            `yaml:"samples" min:"1" max:"1000000" example:"50" doc:"Samples of a case per round."`
	Warmup  *int            `yaml:"warmup" min:"0" max:"1000000" example:"20" doc:"Min number of runs before samples count."`
	Timer   timer           `yaml:"timer" example:"device" doc:"Clock that decides the verdict: device (events on the device), kernel (records of CUPTI, for runs of one CUDA kernel), wall, cpu, or auto for the best one that the harness has."`
	Cache   many[cacheMode] `yaml:"cache" example:"[hot, cold]" doc:"State of the device's cache at the start of a run. Hot and cold are two different cases."`
}

type measureDoc struct {
	settingsDoc
	Turns  turns `yaml:"turns" example:"never" doc:"Whether sides take turns within a round, with both processes alive: always, never, or auto (yes on a CPU; on a GPU with free clocks, as long as its memory holds all processes; no with locked clocks)."`
	Rounds []int `yaml:"rounds" least:"1" most:"16" min:"1" max:"10000" example:"[4, 8, 16, 32, 64]" doc:"Numbers of rounds after which to evaluate the verdict. Undecided cases continue to the next number."`
}

type budgetDoc struct {
	Time    duration `yaml:"time" example:"10m" doc:"Max duration of a run."`
	Dollars *float64 `yaml:"dollars" min:"0" max:"1000000" example:"0.10" doc:"Max cost of a run in dollars, based on device.price_per_hour."`
}

type policyDoc struct {
	Rule      policyRule      `yaml:"rule" example:"paired" doc:"paired compares round by round and controls both error rates. classic is the older table on pooled samples; it often reports equal code as a regression."`
	Slower    share           `yaml:"slower" example:"3%" doc:"Min slowdown of a regression."`
	Faster    share           `yaml:"faster" example:"10%" doc:"Min speedup of a claimed improvement."`
	Moves     share           `yaml:"moves" example:"5%" doc:"Min confirmed gain that moves the baseline."`
	Suite     share           `yaml:"suite" example:"1%" doc:"Max slowdown of all cases together."`
	Alpha     share           `yaml:"alpha" example:"0.1%" doc:"Probability of a false regression in one case, over all looks."`
	Beta      share           `yaml:"beta" example:"5%" doc:"Probability that a slowdown of exactly slower passes as maintained."`
	Family    share           `yaml:"family" example:"1%" doc:"Probability of any false regression among all cases of a run."`
	Undecided share           `yaml:"undecided" min:"0" example:"2%" doc:"Share of gated cases, rounded, that may stay undecided in a run that passes. A case that looks slower, or is noisier than its base, may never stay undecided."`
	Strict    *bool           `yaml:"strict" doc:"Whether drift fails a change. Drift means that earlier changes made the merge base slower than the baseline."`
	Cases     []caseLimitsDoc `yaml:"cases" most:"1000" example:"[{match: 'softmax/*', slower: 5%}]" doc:"Different limits for some cases; a later entry overrides an earlier one."`
}

type caseLimitsDoc struct {
	Match  text  `yaml:"match" require:"true" example:"softmax/*" doc:"Which cases: a glob over names, or over benchmarks if it has no slash."`
	Slower share `yaml:"slower" example:"5%" doc:"Min slowdown of a regression."`
	Faster share `yaml:"faster" example:"10%" doc:"Min speedup of a claimed improvement."`
	Moves  share `yaml:"moves" example:"5%" doc:"Min confirmed gain that moves the baseline."`
}

type baselineDoc struct {
	Keep   keeping `yaml:"keep" example:"branch" doc:"Where to keep the ledger: none, a file in the tree, or a separate branch, so that a protected main needs no commits from a bot."`
	File   text    `yaml:"file" example:"perf/baselines.jsonl" doc:"File that holds the ledger, relative to the suite."`
	Branch text    `yaml:"branch" example:"pawl/baselines" doc:"Branch that holds the ledger, separate from the code."`
	Remote text    `yaml:"remote" example:"origin" doc:"Remote to push that branch to. Empty keeps it in this clone."`
	Main   text    `yaml:"main" example:"main" doc:"Branch on which baselines may move."`
}

// gateDoc defines what happens because of a verdict, not how a verdict is made.
type gateDoc struct {
	Mode   gateMode          `yaml:"mode" example:"advise" doc:"enforce fails the check of a pull request for what fail-on lists; advise only reports what would fail."`
	Since  date              `yaml:"since" example:"'2026-11-15'" doc:"Day on which advise started. Two weeks later, reports suggest enforce."`
	FailOn many[failingKind] `yaml:"fail-on" example:"[regression, broken, missing, inconclusive]" doc:"What fails the check. Anything else that is not a pass is neutral. error is a failure of pawl or its machine."`
	Quiet  *bool             `yaml:"quiet" doc:"Start no report on a pull request in which nothing changed."`
	Paths  []text            `yaml:"paths" most:"1000" example:"['kernels/**']" doc:"Globs of files outside the suite's folder that a build or a kernel reads, from the top of the repository. ** matches across folders. Default: any file may be read."`
	Ignore []text            `yaml:"ignore" most:"1000" example:"['**/*.md', 'docs/**']" doc:"Globs of files that no build and no kernel reads, from the top of the repository, case-insensitive; docs/** matches a whole folder. A file that a command or a source names still counts. A change to ignored files only is identical to its base."`
	Accept acceptor          `yaml:"accept" example:"maintain" doc:"Min permission in the repository that is needed to accept what would fail a pull request."`
}

type quarantineDoc struct {
	Case   text `yaml:"case" require:"true" example:"softmax/*" doc:"Which cases: a glob over names, or over benchmarks if it has no slash."`
	Owner  text `yaml:"owner" require:"true" example:"'@kernels'" doc:"Owner of the cases."`
	Until  date `yaml:"until" require:"true" example:"'2026-12-31'" doc:"Last day (UTC). From the next day on, the cases can fail a change again."`
	Reason text `yaml:"reason" require:"true" example:"'two speeds, see #12'" doc:"Reason for the quarantine."`
}

type metricDoc struct {
	Expr   formula  `yaml:"expr" example:"flops / time / 30.3e3" doc:"How to compute it, from time (nanoseconds), flops, bytes and the parameters. Without it, the harness reports the metric."`
	Unit   text     `yaml:"unit" example:"GFLOP/s" doc:"Unit of the metric in reports. A harness must report it in this unit."`
	Better better   `yaml:"better" example:"higher" doc:"Which direction is better."`
	Gate   *bool    `yaml:"gate" doc:"Whether it can fail a change. Otherwise it is only watched."`
	Limit  *float64 `yaml:"limit" example:"0.001" doc:"Limit of every value, in the unit of the metric: a max if lower is better, a min if higher is. It replaces the comparison with the base."`
}

type variantDoc struct {
	Build   buildDoc   `yaml:"build" doc:"Build settings that differ from the candidate's."`
	Harness harnessDoc `yaml:"harness" doc:"Harness settings that differ from the candidate's."`
}

// workDoc is the declared work of one run, for throughput and the roofline.
type workDoc struct {
	Flops formula `yaml:"flops" example:"4*B*H*S*S*D" doc:"Floating-point operations of one run."`
	Bytes formula `yaml:"bytes" example:"4*B*H*S*D*sizeof(dtype)" doc:"Bytes that one run must move."`
}

type benchmarkDoc struct {
	Matrix  named[paramName, many[scalar]] `yaml:"matrix" least:"1" most:"64" example:"{B: [16, 32], S: [128, 512]}" doc:"Parameters and their values; every combination is a config. Without matrix and include, the harness lists the configs."`
	Include []named[paramName, scalar]     `yaml:"include" example:"[{B: 1, S: 64}]" doc:"Configs in addition to those of the matrix."`
	Exclude []filter                       `yaml:"exclude" most:"1000" example:"[{B: 16, S: 512}, 'B * S > 100000']" doc:"Configs of the matrix to leave out: matching parameters, or an expression."`
	settingsDoc
	workDoc
	Arguments       named[argumentName, argumentDoc] `yaml:"arguments" most:"64" example:"{x: {in: f32, shape: [N]}, y: {out: f32, shape: [N]}, N: {value: N}}" doc:"Arguments of the kernel, in the order of its signature. Correctness checks and pawl's own launcher need them."`
	Launch          *launchDoc                       `yaml:"launch" example:"{file: sum.cubin, kernel: sum, grid: [ceil(N / 256)], block: [256]}" doc:"How pawl's own launcher starts the kernel, for trust: checked."`
	Check           checkDoc                         `yaml:"check" doc:"How to get correct results, and where to search for wrong ones."`
	Preflight       preflightDoc                     `yaml:"preflight" doc:"What is known about the kernel before it runs, and what is required of it."`
	Claims          claimsDoc                        `yaml:"claims" doc:"Performance that the kernel is claimed to reach. A claim that the hardware rules out stops pawl preflight."`
	Profile         profileDoc                       `yaml:"profile" doc:"What to profile, and how much to collect."`
	Tune            *tuneDoc                         `yaml:"tune" doc:"What pawl tune may vary to make it faster."`
	Gate            *bool                            `yaml:"gate" doc:"Whether its cases can fail a change."`
	Implementations []text                           `yaml:"implementations" example:"[candidate, sdpa]" doc:"Implementations to measure. Default: all of the suite. The candidate is always included."`
	Overrides       []overrideDoc                    `yaml:"overrides" most:"1000" example:"[{when: S >= 512, samples: 50}]" doc:"Settings for some configs; a later override wins."`
}

type overrideDoc struct {
	When filter `yaml:"when" require:"true" example:"S >= 512" doc:"Which configs: matching parameters, or an expression."`
	settingsDoc
	workDoc
	Gate *bool `yaml:"gate" doc:"Whether these cases can fail a change."`
}

// gatesDoc holds preflight settings of a suite or a benchmark.
type gatesDoc struct {
	Spills    spills `yaml:"spills" example:"warn" doc:"What to do about registers spilled to memory: allow, warn or stop. auto warns below 64 bytes per thread and stops from 64 on. Default: auto."`
	Occupancy share  `yaml:"occupancy" example:"25%" doc:"Min share of an SM's warps that must be resident. Default: no minimum."`
}

type preflightDoc struct {
	Kernel  text    `yaml:"kernel" example:"attention<*>" doc:"Which kernels of the build belong to the benchmark: a glob over their names. Default: the kernel of launch, or all. ${NAME} is replaced with a parameter."`
	Shared  formula `yaml:"shared" example:"3*64*D*2 + 64*64*4" doc:"Static shared memory per block in bytes, checked before anything is compiled."`
	Dynamic formula `yaml:"dynamic" example:"2 * 64 * D * sizeof(dtype)" doc:"Dynamic shared memory per block in bytes. Default: that of launch."`
	Threads formula `yaml:"threads" example:"128" doc:"Threads per block, for occupancy. Default: those of launch, or the max that the kernel is compiled for."`
	gatesDoc
}

type profileDoc struct {
	Kernel text       `yaml:"kernel" example:"^attention" doc:"Which kernels of a run to profile: a regular expression over their names, without arguments. Default: all. ${NAME} is replaced with a parameter."`
	NVTX   text       `yaml:"nvtx" example:"attention" doc:"NVTX range that marks what to profile, for a harness that cannot mark it itself: the name of a push/pop range, or an expression in the syntax of ncu."`
	Set    profileSet `yaml:"set" example:"cheap" doc:"How much ncu collects: full collects everything, in about forty runs of the kernel; cheap collects what a diagnosis needs most, in a few."`
}

type claimsDoc struct {
	GFLOPS formula `yaml:"gflops" example:"95000" doc:"Operations per second, in 10^9."`
	GBps   formula `yaml:"gbps" example:"270" doc:"Bytes per second, in 10^9."`
	TimeUS formula `yaml:"time_us" example:"325" doc:"Time of one run in microseconds."`
}

type tuneDoc struct {
	Parameters  named[paramName, tunable] `yaml:"parameters" require:"true" least:"1" most:"32" example:"{BLOCK: [16, 32, 64], UNROLL: {values: [1, 2, 4], default: 2}}" doc:"Tunables and their values. Each is a parameter of every config, in commands, expressions and for the harness, but not part of the config's name."`
	Constraints []formula                 `yaml:"constraints" most:"100" example:"['BLOCK * UNROLL <= 128']" doc:"Conditions that must be true of a point, over tunables and the parameters of the config. The defaults must meet them too."`
	Occupancy   *occupancyDoc             `yaml:"occupancy" example:"{threads: BLOCK * 8, shared: BLOCK * 256}" doc:"What a block of the kernel uses. Points that do not fit on an SM are skipped before they are built."`
}

type tunableDoc struct {
	Values  many[scalar] `yaml:"values" require:"true" example:"[16, 32, 64]" doc:"Possible values: numbers, text, true or false."`
	Default scalar       `yaml:"default" example:"32" doc:"Value when nothing is being tuned. Default: the first of the values."`
	When    formula      `yaml:"when" example:"BLOCK >= 32" doc:"Condition under which it matters, over the parameters of the config and the tunables before it. Otherwise it has its default."`
}

type occupancyDoc struct {
	Threads   formula `yaml:"threads" require:"true" example:"BLOCK * 8" doc:"Threads per block."`
	Shared    formula `yaml:"shared" example:"BLOCK * 256" doc:"Shared memory per block in bytes."`
	Registers formula `yaml:"registers" example:"64" doc:"Registers per thread; 0 if unknown."`
}

type argumentDoc struct {
	In      elementType `yaml:"in" example:"f16" doc:"A tensor that is only read: its element type, or the parameter that names the type."`
	Out     elementType `yaml:"out" example:"dtype" doc:"A tensor that is only written, in every element: its element type, or the parameter that names the type."`
	InOut   elementType `yaml:"inout" example:"f32" doc:"A tensor that is read and written: its element type, or the parameter that names the type."`
	Shape   []formula   `yaml:"shape" least:"1" most:"8" example:"[B, H, S, D]" doc:"Sizes of a tensor, outermost first, as expressions over the parameters."`
	Strides []formula   `yaml:"strides" least:"1" most:"8" example:"[2 * D, 1]" doc:"Distance in elements from one index to the next, for each size. Default: row-major without gaps."`
	Map     *mapDoc     `yaml:"map" example:"{box: [128, 64], swizzle: 128}" doc:"How a CUDA kernel of launch takes the tensor, if as a tensor map (const __grid_constant__ CUtensorMap) instead of a pointer. From sm_90 on."`
	Fill    fillDoc     `yaml:"fill" example:"{uniform: [0, S]}" doc:"Meaningful contents for an input: normal, or uniform between two limits. For integers the upper limit is excluded."`
	Value   formula     `yaml:"value" example:"S" doc:"A number passed by value, as an expression over the parameters."`
	Type    valueType   `yaml:"type" example:"i64" doc:"Type of a value. Default: i32."`
}

// mapDoc describes a tensor map, which the driver makes of the tensor's type, sizes and strides.
type mapDoc struct {
	Box     []formula `yaml:"box" require:"true" least:"1" most:"5" example:"[128, 64]" doc:"Elements of a tile in each dimension, outermost first, as expressions over the parameters: at most 256 each."`
	Swizzle formula   `yaml:"swizzle" example:"128" doc:"How the rows of a tile lie in shared memory, in bytes: 32, 64 or 128. Default: 0, not swizzled."`
}

type launchDoc struct {
	File        text      `yaml:"file" require:"true" example:"attention.cubin" doc:"File that contains the kernel, relative to the suite: .cubin, .ptx, .fatbin for CUDA; .cl, .spv for OpenCL; .so for the host. ${NAME} is replaced with a parameter."`
	Kernel      text      `yaml:"kernel" require:"true" example:"attention_${dtype}" doc:"Name of the kernel in that file. ${NAME} is replaced with a parameter."`
	Grid        []formula `yaml:"grid" least:"1" most:"3" example:"[ceil(S / 64), B * H]" doc:"Blocks in each dimension. Not for the host."`
	Block       []formula `yaml:"block" least:"1" most:"3" example:"[128]" doc:"Threads per block in each dimension. Not for the host."`
	Shared      formula   `yaml:"shared" example:"2 * 64 * D * sizeof(dtype)" doc:"Dynamic shared memory per block in bytes."`
	Cluster     []formula `yaml:"cluster" least:"1" most:"3" example:"[2]" doc:"Blocks per cluster in each dimension. CUDA, from sm_90 on."`
	Cooperative *bool     `yaml:"cooperative" doc:"Whether all blocks run at once, so that they can wait for each other. CUDA."`
	Dependent   *bool     `yaml:"dependent" doc:"Whether a run may start while the one before it ends, by programmatic dependent launch. CUDA, from sm_90 on."`
	Options     text      `yaml:"options" example:"-DTILE=64" doc:"Build options of an OpenCL program. ${NAME} is replaced with a parameter."`
}

type checkDoc struct {
	Oracle         text                          `yaml:"oracle" example:"python3 oracle.py" doc:"Command of a process that computes the correct result, run in the folder of the suite, in the tree of the base if there is one."`
	Implementation text                          `yaml:"implementation" example:"naive" doc:"Implementation of the suite whose result is correct, built and run in the tree of the base if there is one."`
	Expression     named[argumentName, pointDoc] `yaml:"expression" most:"64" example:"{out: a * x + y}" doc:"Correct result of each output, element by element, from inputs and parameters."`
	Fuzz           fuzzDoc                       `yaml:"fuzz" doc:"Where to search for wrong results."`
	Inputs         many[inputKind]               `yaml:"inputs" example:"[normal, large, zeros]" doc:"Kinds of inputs to try. Default: normal, large, equal_rows."`
	Seeds          *int                          `yaml:"seeds" min:"1" max:"1000" example:"2" doc:"Inputs of each kind per config, from seeds that are reported afterward. Default: 1."`
	Tolerance      toleranceDoc                  `yaml:"tolerance" doc:"How far a result may be off. Every rule that is set must hold; if none is set, the element type decides."`
	Deterministic  repeats                       `yaml:"deterministic" example:"bitwise" doc:"What two runs on the same inputs must give: the same bits (bitwise), two correct results (bounded), or anything (no). Default: bounded."`
}

type fuzzDoc struct {
	Matrix named[paramName, many[scalar]] `yaml:"matrix" most:"64" example:"{S: [448, 512, 640], B: [16, 32]}" doc:"Parameter values to try; parameters that are not listed keep the values of the benchmark. Default: the configs of the benchmark."`
	Cover  cover                          `yaml:"cover" example:"pairwise" doc:"full tries every combination; pairwise tries few combinations in which every pair of values occurs. Default: full."`
	Jitter named[paramName, int]          `yaml:"jitter" most:"64" min:"1" max:"1000000" example:"{S: 8}" doc:"Parameters whose values are secretly changed by at most this amount."`
	Edges  named[paramName, int]          `yaml:"edges" most:"64" min:"1" max:"1000000" example:"{S: 64}" doc:"Tile sizes of parameters: values around the edges of a tile are also tried."`
}

type toleranceDoc struct {
	Atol    *float64 `yaml:"atol" min:"0" max:"1000000" example:"2e-3" doc:"Absolute part of the allowed error of an element."`
	Rtol    *float64 `yaml:"rtol" min:"0" max:"1" example:"1e-3" doc:"Part of the allowed error that is relative to the correct value, added to the absolute part."`
	Flash   *float64 `yaml:"flash" min:"1" max:"1000" example:"2" doc:"Max ratio of the largest error to that of a naive computation in the same type. One step of the type is added to the limit."`
	Cosine  *float64 `yaml:"cosine" min:"0" max:"1" example:"1e-5" doc:"Max of one minus the cosine similarity."`
	Matched *float64 `yaml:"matched" min:"0" max:"1" example:"0.99" doc:"Share of the elements for which atol and rtol must hold."`
}
