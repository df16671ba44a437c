package suite

// The structs of this file define the format. A field is a key of pawl.yaml. Its tags hold
// its name, meaning, example and range. decode.go reads by them, schema.go describes them,
// and a test checks the reference with them.
//
// A field that can be left out and whose zero value has a meaning is a pointer.

type fileDoc struct {
	Version         int                                   `key:"version" require:"true" min:"1" max:"1" doc:"Version of this format. Always the first line."`
	Name            text                                  `key:"name" example:"attention" doc:"Name of the suite in reports."`
	Extends         many[text]                            `key:"extends" example:"../common/pawl.yaml" doc:"Suite files to start from, relative to this one; a later one wins over an earlier, this file over all. Mappings merge, lists and values replace."`
	Trust           trust                                 `key:"trust" example:"checked" doc:"How far a change is trusted: trusted (its harness may run, as the base has it), checked (pawl's own launcher runs the kernel and no host code of the change), self-timed (only the clock outside counts). Without it: trusted."`
	Definition      []text                                `key:"definition" most:"1000" example:"[harness.c, oracle.py]" doc:"Globs of the files that a change is measured with, beside this one: harness, oracle, tolerances. They are the base's; a change of them needs a person's accept."`
	Device          deviceDoc                             `key:"device" doc:"The device to measure on."`
	Build           buildDoc                              `key:"build" doc:"How the candidate is built. Without a command or a recipe nothing is built."`
	Harness         harnessDoc                            `key:"harness" doc:"The program that runs the kernel."`
	Measure         measureDoc                            `key:"measure" doc:"How a case is measured."`
	Budget          budgetDoc                             `key:"budget" doc:"Where measuring ends, decided or not. Without it only the rounds do."`
	Policy          policyDoc                             `key:"policy" doc:"What makes a verdict."`
	Preflight       gatesDoc                              `key:"preflight" doc:"What is asked of every kernel before it runs."`
	Baseline        baselineDoc                           `key:"baseline" doc:"Where the best confirmed results are kept."`
	Gate            gateDoc                               `key:"gate" doc:"What a pull request is told, and when it fails. The base's counts, never the change's own."`
	Quarantine      []quarantineDoc                       `key:"quarantine" most:"1000" example:"[{case: 'softmax/*', owner: '@kernels', until: '2026-12-31', reason: 'two speeds, see #12'}]" doc:"Cases that are measured and shown and fail nobody until a day, with whoever looks after them. The base's counts."`
	Metrics         named[metricName, metricDoc]          `key:"metrics" most:"100" doc:"What is computed of a case beside its time."`
	Implementations named[implementationName, variantDoc] `key:"implementations" most:"100" doc:"References measured beside the candidate. An empty one shares the candidate's build and harness."`
	Benchmarks      named[benchmarkName, benchmarkDoc]    `key:"benchmarks" doc:"The kernels or operations to measure. Without it the harness lists them."`
}

type deviceDoc struct {
	Kind           deviceKind `key:"kind" example:"nvidia" doc:"Family of the device. auto takes an NVIDIA GPU where there is one, else the CPU."`
	Select         loose      `key:"select" example:"GPU-5c3a" doc:"Which device of that kind: its UUID, the start of it, or its index."`
	Clocks         clocks     `key:"clocks" example:"1500MHz" doc:"What the SM clock is held at: free, base (the highest clock the card sustains), max, or a frequency."`
	Persistence    *bool      `key:"persistence" doc:"Keep the driver loaded between processes, where pawl may set that."`
	PricePerHour   *float64   `key:"price_per_hour" min:"0" max:"10000" example:"0.80" doc:"What the device costs, in dollars."`
	MaxTemperature *float64   `key:"max_temperature" min:"20" max:"120" doc:"Degrees Celsius above which a round carries a warning."`
}

type buildDoc struct {
	Recipe  recipe                `key:"recipe" example:"nvcc" doc:"Who composes the command line: command takes it as it is written; nvcc, cmake, torch (an extension of PyTorch) and make do it from a few keys, with a compiler cache where ccache is installed."`
	Command text                  `key:"command" example:"make harness BLOCK=${BLOCK}" doc:"Command that builds, run in the folder of the suite. ${NAME} stands for a parameter: one build for each distinct command."`
	Sources []text                `key:"sources" least:"1" most:"1000" example:"[harness.cu, 'kernels/*.cu']" doc:"Globs of the files to compile (nvcc, torch), or the folder of CMakeLists.txt (cmake)."`
	Target  text                  `key:"target" example:"harness" doc:"What is made: a file for nvcc and torch, of which the end of the name says the kind (.so, .cubin, .ptx, .fatbin, else a program); a target for cmake and make."`
	Flags   text                  `key:"flags" example:"--use_fast_math -DTILE=${TILE}" doc:"Flags for the compiler (nvcc, torch), for configuring (cmake), or further arguments (make)."`
	Link    text                  `key:"link" example:"-lcublas" doc:"Flags for the linker (nvcc, torch)."`
	Arch    many[archName]        `key:"arch" example:"[sm_80, sm_89]" doc:"Architectures to compile for. auto is that of the device."`
	Folder  text                  `key:"folder" example:"build-${TILE}" doc:"Where cmake builds, below the folder of the suite; build without it."`
	Jobs    *int                  `key:"jobs" min:"1" max:"1024" example:"4" doc:"Compilers at once. Without it as many as there are processors, and as the free memory allows."`
	Memory  size                  `key:"memory" example:"4GB" doc:"What one compiler may take. It bounds how many run at once."`
	Outputs []text                `key:"outputs" example:"[harness]" doc:"Globs of the files that the build makes. Their digests identify the build; without them it is not cached. For nvcc and torch: the target."`
	Inputs  []text                `key:"inputs" most:"1000" example:"[../../sdk/cpp]" doc:"Files and folders that the build reads outside the folder of the suite. Without it the whole repository counts: a change anywhere in it makes another build."`
	Env     named[envName, loose] `key:"env" most:"1000" example:"{CFLAGS: -O3}" doc:"Environment variables of the command."`
	Timeout duration              `key:"timeout" doc:"How long a build may take."`
	Cache   *bool                 `key:"cache" doc:"Whether finished builds are kept, and taken from there when nothing has changed."`
	Sandbox confinement           `key:"sandbox" example:"always" doc:"Whether a build is kept from network, home and everything but a copy of its sources: always, never, or auto for code that is not one's own."`
}

type harnessDoc struct {
	Command text                  `key:"command" example:"./harness" doc:"Command that starts the harness, run in the folder of the suite. ${NAME} stands for a parameter: one process for each distinct command."`
	Files   []text                `key:"files" example:"[weights.bin]" doc:"Globs of other files that the result depends on. Their digests identify the harness."`
	Env     named[envName, loose] `key:"env" most:"1000" example:"{OMP_NUM_THREADS: 1}" doc:"Environment variables of the command."`
	Timeout duration              `key:"timeout" doc:"How long a harness may be silent."`
	Format  format                `key:"format" example:"google-benchmark" doc:"pawl for a harness that speaks the protocol; otherwise the format that a plain command prints, or auto to recognise it."`
	Output  text                  `key:"output" example:"out.json" doc:"File in which a plain command leaves its result. Without it the result is read from its stdout."`
}

// settingsDoc holds settings of a suite, a benchmark or an override.
type settingsDoc struct {
	Samples *int            `key:"samples" min:"1" max:"1000000" example:"50" doc:"Samples of a case in one round."`
	Warmup  *int            `key:"warmup" min:"0" max:"1000000" example:"20" doc:"The least number of runs before samples count."`
	Timer   timer           `key:"timer" example:"device" doc:"The clock that decides: device (events on the device), wall, cpu, or auto for the best one the harness has."`
	Cache   many[cacheMode] `key:"cache" example:"[hot, cold]" doc:"What a run finds in the device's cache. Hot and cold are two different cases."`
}

type measureDoc struct {
	settingsDoc
	Turns  turns `key:"turns" example:"never" doc:"Whether sides take turns inside a round, both processes alive: always, never, or auto for yes on the CPU and no on a GPU, where two processes would share its memory."`
	Rounds []int `key:"rounds" least:"1" most:"16" min:"1" max:"10000" example:"[4, 8, 16, 32, 64]" doc:"Rounds after which the verdict is looked at. Undecided cases go on to the next number."`
}

type budgetDoc struct {
	Time    duration `key:"time" example:"10m" doc:"The longest a run may take."`
	Dollars *float64 `key:"dollars" min:"0" max:"1000000" example:"0.10" doc:"The most a run may cost, by device.price_per_hour."`
}

type policyDoc struct {
	Rule      policyRule      `key:"rule" example:"paired" doc:"paired compares round by round and controls both errors. classic is the older table on pooled samples; it often calls equal code a regression."`
	Slower    share           `key:"slower" example:"3%" doc:"A regression is slower by at least this."`
	Faster    share           `key:"faster" example:"10%" doc:"A claimed improvement is faster by at least this."`
	Moves     share           `key:"moves" example:"5%" doc:"The baseline moves on a confirmed gain of at least this."`
	Suite     share           `key:"suite" example:"1%" doc:"By how much all cases together may be slower."`
	Alpha     share           `key:"alpha" example:"0.1%" doc:"Chance of a false regression of one case, over all looks."`
	Beta      share           `key:"beta" example:"5%" doc:"Chance to pass a slowdown of exactly slower as maintained."`
	Family    share           `key:"family" example:"1%" doc:"Chance of any false regression among all cases of a run."`
	Undecided share           `key:"undecided" min:"0" example:"2%" doc:"Share of the gated cases, rounded, that may stay without an answer in a run that passes. Cases that look slower, or noisier than their base, never count."`
	Strict    *bool           `key:"strict" doc:"Whether drift fails a change: the merge base is slower than the baseline, by earlier changes."`
	Cases     []caseLimitsDoc `key:"cases" most:"1000" example:"[{match: 'softmax/*', slower: 5%}]" doc:"Other limits for some cases; a later one wins."`
}

type caseLimitsDoc struct {
	Match  text  `key:"match" require:"true" example:"softmax/*" doc:"Which cases: a glob over names, or over benchmarks where it has no slash."`
	Slower share `key:"slower" example:"5%" doc:"A regression is slower by at least this."`
	Faster share `key:"faster" example:"10%" doc:"A claimed improvement is faster by at least this."`
	Moves  share `key:"moves" example:"5%" doc:"The baseline moves on a confirmed gain of at least this."`
}

type baselineDoc struct {
	Keep   keeping `key:"keep" example:"branch" doc:"none, a file in the tree, or a branch of its own, so that a protected main needs no commits of a robot."`
	File   text    `key:"file" example:"perf/baselines.jsonl" doc:"The file that holds the ledger, relative to the suite."`
	Branch text    `key:"branch" example:"pawl/baselines" doc:"The branch that holds the ledger, apart from the code."`
	Remote text    `key:"remote" example:"origin" doc:"The remote to which that branch is pushed. Empty keeps it in this clone."`
	Main   text    `key:"main" example:"main" doc:"The branch on which baselines may move."`
}

// gateDoc defines what happens because of a verdict, not how a verdict is made.
type gateDoc struct {
	Mode   gateMode          `key:"mode" example:"advise" doc:"enforce fails the check of a pull request for what fail-on names; advise only reports what would have failed."`
	Since  date              `key:"since" example:"'2026-11-15'" doc:"The day advise began. Two weeks later reports propose to enforce."`
	FailOn many[failingKind] `key:"fail-on" example:"[regression, broken, missing, inconclusive]" doc:"What fails the check. Anything else that is no pass is neutral; error is a failure of pawl or its machine."`
	Quiet  *bool             `key:"quiet" doc:"Begin no report on a pull request in which nothing changed."`
	Paths  []text            `key:"paths" most:"1000" example:"['kernels/**']" doc:"Globs of the files outside the suite's folder that a build or a kernel reads, from the top of the repository. ** crosses folders. Without it any file may be read."`
	Ignore []text            `key:"ignore" most:"1000" example:"['**/*.md', 'docs/**']" doc:"Globs of files that no build and no kernel reads, from the top of the repository, in any case of letters; docs/** for all of a folder. A file that a command or a source names counts all the same. A change of nothing else is identical to its base."`
	Accept acceptor          `key:"accept" example:"maintain" doc:"The least permission in the repository that lets somebody accept what would fail a pull request."`
}

type quarantineDoc struct {
	Case   text `key:"case" require:"true" example:"softmax/*" doc:"Which cases: a glob over names, or over benchmarks where it has no slash."`
	Owner  text `key:"owner" require:"true" example:"'@kernels'" doc:"Who looks after them."`
	Until  date `key:"until" require:"true" example:"'2026-12-31'" doc:"The last day (UTC). From the next on they fail a change again."`
	Reason text `key:"reason" require:"true" example:"'two speeds, see #12'" doc:"Why."`
}

type metricDoc struct {
	Expr   formula `key:"expr" example:"flops / time / 30.3e3" doc:"How it is computed: from time (nanoseconds), flops, bytes and the parameters."`
	Unit   text    `key:"unit" example:"GFLOP/s" doc:"Unit of the number in reports."`
	Better better  `key:"better" example:"higher" doc:"Which direction is good."`
	Gate   *bool   `key:"gate" doc:"Whether it may fail a change. Otherwise it is only watched."`
}

type variantDoc struct {
	Build   buildDoc   `key:"build" doc:"What its build has other than the candidate's."`
	Harness harnessDoc `key:"harness" doc:"What its harness has other than the candidate's."`
}

// workDoc is the declared work of one run, for throughput and the roofline.
type workDoc struct {
	Flops formula `key:"flops" example:"4*B*H*S*S*D" doc:"Floating-point operations of one run."`
	Bytes formula `key:"bytes" example:"4*B*H*S*D*sizeof(dtype)" doc:"Bytes that one run has to move."`
}

type benchmarkDoc struct {
	Matrix  named[paramName, many[scalar]] `key:"matrix" least:"1" most:"64" example:"{B: [16, 32], S: [128, 512]}" doc:"Parameters with their values; every combination is a config. Without matrix and include the harness lists the configs."`
	Include []named[paramName, scalar]     `key:"include" example:"[{B: 1, S: 64}]" doc:"Configs beside those of the matrix."`
	Exclude []filter                       `key:"exclude" most:"1000" example:"[{B: 16, S: 512}, 'B * S > 100000']" doc:"Configs of the matrix to leave out: parameters that match, or an expression."`
	settingsDoc
	workDoc
	Arguments       named[argumentName, argumentDoc] `key:"arguments" most:"64" example:"{x: {in: f32, shape: [N]}, y: {out: f32, shape: [N]}, N: {value: N}}" doc:"What the kernel is given, in the order of its signature. Correctness checks and pawl's own launcher need it."`
	Launch          *launchDoc                       `key:"launch" example:"{file: sum.cubin, kernel: sum, grid: [ceil(N / 256)], block: [256]}" doc:"How pawl's own launcher starts the kernel, for trust: checked."`
	Check           checkDoc                         `key:"check" doc:"What a right result is, and where to look for wrong ones."`
	Preflight       preflightDoc                     `key:"preflight" doc:"What is known of the kernel before it runs, and what is asked of it."`
	Claims          claimsDoc                        `key:"claims" doc:"What the kernel is said to reach. A claim that the hardware rules out stops pawl preflight."`
	Profile         profileDoc                       `key:"profile" doc:"What a profiler looks at, and how much it collects."`
	Tune            *tuneDoc                         `key:"tune" doc:"What may be tried out to make it faster, for pawl tune."`
	Gate            *bool                            `key:"gate" doc:"Whether its cases may fail a change."`
	Implementations []text                           `key:"implementations" example:"[candidate, sdpa]" doc:"Implementations to measure. Without it all of the suite. The candidate is always there."`
	Overrides       []overrideDoc                    `key:"overrides" most:"1000" example:"[{when: S >= 512, samples: 50}]" doc:"Settings of some configs; a later override wins."`
}

type overrideDoc struct {
	When filter `key:"when" require:"true" example:"S >= 512" doc:"Which configs: parameters that match, or an expression."`
	settingsDoc
	workDoc
	Gate *bool `key:"gate" doc:"Whether these cases may fail a change."`
}

// gatesDoc holds preflight settings of a suite or a benchmark.
type gatesDoc struct {
	Spills    spills `key:"spills" example:"warn" doc:"What registers spilled to memory are: allowed, a warning, or a stop; auto warns below 64 bytes a thread and stops from there on. Without it: auto."`
	Occupancy share  `key:"occupancy" example:"25%" doc:"The least share of an SM's warps that has to be resident. Without it any."`
}

type preflightDoc struct {
	Kernel  text    `key:"kernel" example:"attention<*>" doc:"Which kernels of the build belong to the benchmark: a glob over their names. Without it the one of launch, or all. ${NAME} stands for a parameter."`
	Shared  formula `key:"shared" example:"3*64*D*2 + 64*64*4" doc:"Static shared memory of a block in bytes, which is checked before anything is compiled."`
	Dynamic formula `key:"dynamic" example:"2 * 64 * D * sizeof(dtype)" doc:"Dynamic shared memory of a block in bytes. Without it that of launch."`
	Threads formula `key:"threads" example:"128" doc:"Threads of a block, for occupancy. Without it those of launch, or what the kernel is compiled for at most."`
	gatesDoc
}

type profileDoc struct {
	Kernel text       `key:"kernel" example:"^attention" doc:"Which kernels of a run count: a regular expression over their names, without arguments. Without it all of them. ${NAME} stands for a parameter."`
	NVTX   text       `key:"nvtx" example:"attention" doc:"NVTX range that marks what counts, for a harness that cannot say it itself: a name that is pushed and popped, or an expression as ncu takes it."`
	Set    profileSet `key:"set" example:"cheap" doc:"How much ncu collects: full is everything, in some forty runs of the kernel; cheap is what a diagnosis needs most, in a few."`
}

type claimsDoc struct {
	GFLOPS formula `key:"gflops" example:"95000" doc:"Operations in a second, in 10^9."`
	GBps   formula `key:"gbps" example:"270" doc:"Bytes in a second, in 10^9."`
	TimeUS formula `key:"time_us" example:"325" doc:"Time of one run in microseconds."`
}

type tuneDoc struct {
	Parameters  named[paramName, tunable] `key:"parameters" require:"true" least:"1" most:"32" example:"{BLOCK: [16, 32, 64], UNROLL: {values: [1, 2, 4], default: 2}}" doc:"Tunables with their values. Each is a parameter of every config, in commands, expressions and for the harness, and of no config's name."`
	Constraints []formula                 `key:"constraints" most:"100" example:"['BLOCK * UNROLL <= 128']" doc:"What has to be true of a point, over tunables and the parameters of the config. The defaults have to keep to it."`
	Occupancy   *occupancyDoc             `key:"occupancy" example:"{threads: BLOCK * 8, shared: BLOCK * 256}" doc:"What a block of the kernel takes: points that no SM has room for are left out before they are built."`
}

type tunableDoc struct {
	Values  many[scalar] `key:"values" require:"true" example:"[16, 32, 64]" doc:"What it may be: numbers, text, true or false."`
	Default scalar       `key:"default" example:"32" doc:"What it is when nothing is being tuned. Without it: the first of the values."`
	When    formula      `key:"when" example:"BLOCK >= 32" doc:"Where it matters, over the parameters of the config and the tunables before it. Elsewhere it has its default."`
}

type occupancyDoc struct {
	Threads   formula `key:"threads" require:"true" example:"BLOCK * 8" doc:"Threads of a block."`
	Shared    formula `key:"shared" example:"BLOCK * 256" doc:"Shared memory of a block in bytes."`
	Registers formula `key:"registers" example:"64" doc:"Registers of a thread; 0 for not known."`
}

type argumentDoc struct {
	In      elementType `key:"in" example:"f16" doc:"A tensor that is only read: its element type, or the parameter that names it."`
	Out     elementType `key:"out" example:"dtype" doc:"A tensor that is only written, every element: its element type, or the parameter that names it."`
	InOut   elementType `key:"inout" example:"f32" doc:"A tensor that is read and written: its element type, or the parameter that names it."`
	Shape   []formula   `key:"shape" least:"1" most:"8" example:"[B, H, S, D]" doc:"Sizes of a tensor, outermost first: expressions over the parameters."`
	Strides []formula   `key:"strides" least:"1" most:"8" example:"[2 * D, 1]" doc:"Elements from one index to the next, for each size. Without it the tensor is row-major without gaps."`
	Fill    fillDoc     `key:"fill" example:"{uniform: [0, S]}" doc:"Contents that make sense for an input: normal, or uniform between two limits, of which integers exclude the upper."`
	Value   formula     `key:"value" example:"S" doc:"A number passed by value: an expression over the parameters."`
	Type    valueType   `key:"type" example:"i64" doc:"Type of a value. Without it: i32."`
}

type launchDoc struct {
	File    text      `key:"file" require:"true" example:"attention.cubin" doc:"File with the kernel, relative to the suite: .cubin, .ptx, .fatbin for CUDA; .cl, .spv for OpenCL; .so for the host. ${NAME} stands for a parameter."`
	Kernel  text      `key:"kernel" require:"true" example:"attention_${dtype}" doc:"Name of the kernel in that file. ${NAME} stands for a parameter."`
	Grid    []formula `key:"grid" least:"1" most:"3" example:"[ceil(S / 64), B * H]" doc:"Blocks in each direction. Not for the host."`
	Block   []formula `key:"block" least:"1" most:"3" example:"[128]" doc:"Threads of a block in each direction. Not for the host."`
	Shared  formula   `key:"shared" example:"2 * 64 * D * sizeof(dtype)" doc:"Dynamic shared memory of a block in bytes."`
	Options text      `key:"options" example:"-DTILE=64" doc:"Build options of an OpenCL program. ${NAME} stands for a parameter."`
}

type checkDoc struct {
	Oracle         text                          `key:"oracle" example:"python3 oracle.py" doc:"Command of a process that computes the right result, run in the folder of the suite, in the tree of the base if there is one."`
	Implementation text                          `key:"implementation" example:"naive" doc:"Implementation of the suite whose result is right, built and run in the tree of the base if there is one."`
	Expression     named[argumentName, pointDoc] `key:"expression" most:"64" example:"{out: a * x + y}" doc:"The right result of each output, element by element, from inputs and parameters."`
	Fuzz           fuzzDoc                       `key:"fuzz" doc:"Where to look for wrong results."`
	Inputs         many[inputKind]               `key:"inputs" example:"[normal, large, zeros]" doc:"Kinds of contents to try. Without it: normal, large, equal_rows."`
	Seeds          *int                          `key:"seeds" min:"1" max:"1000" example:"2" doc:"Contents of each kind for each config, from seeds that are told afterwards. Without it: 1."`
	Tolerance      toleranceDoc                  `key:"tolerance" doc:"How far a result may be off. Every rule that is written must hold; with none written the type decides."`
	Deterministic  repeats                       `key:"deterministic" example:"bitwise" doc:"What two runs on the same contents must give: the same bits, both a right result (bounded), or anything. Without it: bounded."`
}

type fuzzDoc struct {
	Matrix named[paramName, many[scalar]] `key:"matrix" most:"64" example:"{S: [448, 512, 640], B: [16, 32]}" doc:"Values of the parameters to try; those not named keep the values of the benchmark. Without it the configs of the benchmark."`
	Cover  cover                          `key:"cover" example:"pairwise" doc:"Every combination, or so few that every pair of values occurs. Without it: full."`
	Jitter named[paramName, int]          `key:"jitter" most:"64" min:"1" max:"1000000" example:"{S: 8}" doc:"Parameters whose values move by at most so much, secretly."`
	Edges  named[paramName, int]          `key:"edges" most:"64" min:"1" max:"1000000" example:"{S: 64}" doc:"Tile sizes of parameters: values around a tile's edges are tried too."`
}

type toleranceDoc struct {
	Atol    *float64 `key:"atol" min:"0" max:"1000000" example:"2e-3" doc:"Absolute part of what an element may be off."`
	Rtol    *float64 `key:"rtol" min:"0" max:"1" example:"1e-3" doc:"Part relative to the right value, added to the absolute one."`
	Flash   *float64 `key:"flash" min:"1" max:"1000" example:"2" doc:"The largest error may be so many times that of a naive computation in the same type, plus atol."`
	Cosine  *float64 `key:"cosine" min:"0" max:"1" example:"1e-5" doc:"One minus the cosine similarity may be at most this."`
	Matched *float64 `key:"matched" min:"0" max:"1" example:"0.99" doc:"Share of the elements that atol and rtol have to hold for."`
}
