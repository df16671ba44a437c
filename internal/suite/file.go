package suite

// The structs of this file are the format. A field is a key of pawl.yaml: its
// name, what it means, an example and its range stand in the tags, from which
// decode.go reads, schema.go describes and the reference is checked.
//
// A field that can be left out and whose zero value means something is a pointer.

type fileDoc struct {
	Version         int                                   `key:"version" require:"true" min:"1" max:"1" doc:"Version of this format. Always the first line."`
	Name            text                                  `key:"name" example:"attention" doc:"Name of the suite in reports."`
	Extends         many[text]                            `key:"extends" example:"../common/pawl.yaml" doc:"Suite files to start from, relative to this one; a later one wins over an earlier, this file over all. Mappings merge, lists and values replace."`
	Device          deviceDoc                             `key:"device" doc:"The device to measure on."`
	Build           buildDoc                              `key:"build" doc:"How the candidate is built. Without a command nothing is built."`
	Harness         harnessDoc                            `key:"harness" doc:"The program that runs the kernel."`
	Measure         measureDoc                            `key:"measure" doc:"How a case is measured."`
	Budget          budgetDoc                             `key:"budget" doc:"Where measuring ends, decided or not. Without it only the rounds do."`
	Policy          policyDoc                             `key:"policy" doc:"What makes a verdict."`
	Baseline        baselineDoc                           `key:"baseline" doc:"Where the best confirmed results are kept."`
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
	Command text                  `key:"command" example:"make harness BLOCK=${BLOCK}" doc:"Command that builds, run in the folder of the suite. ${NAME} stands for a parameter: one build for each distinct command."`
	Outputs []text                `key:"outputs" example:"[harness]" doc:"Globs of the files that the build makes. Their digests identify the build."`
	Env     named[envName, loose] `key:"env" most:"1000" example:"{CFLAGS: -O3}" doc:"Environment variables of the command."`
	Timeout duration              `key:"timeout" doc:"How long a build may take."`
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

// settingsDoc may stand at a suite, at a benchmark and at an override.
type settingsDoc struct {
	Samples *int            `key:"samples" min:"1" max:"1000000" example:"50" doc:"Samples of a case in one round."`
	Warmup  *int            `key:"warmup" min:"0" max:"1000000" example:"20" doc:"The least number of runs before samples count."`
	Timer   timer           `key:"timer" example:"device" doc:"The clock that decides: device (events on the device), wall, cpu, or auto for the best one the harness has."`
	Cache   many[cacheMode] `key:"cache" example:"[hot, cold]" doc:"What a run finds in the device's cache. Hot and cold are two different cases."`
}

type measureDoc struct {
	settingsDoc
	Turns  turns `key:"turns" example:"never" doc:"Whether sides take turns inside a round, both processes alive: always, never, or auto for yes on the CPU and no on a GPU, where two processes would share its memory."`
	Rounds []int `key:"rounds" least:"1" most:"16" min:"1" max:"10000" example:"[4, 8, 16, 32]" doc:"Rounds after which the verdict is looked at. Undecided cases go on to the next number."`
}

type budgetDoc struct {
	Time    duration `key:"time" example:"10m" doc:"The longest a run may take."`
	Dollars *float64 `key:"dollars" min:"0" max:"1000000" example:"0.10" doc:"The most a run may cost, by device.price_per_hour."`
}

type policyDoc struct {
	Rule   policyRule      `key:"rule" example:"paired" doc:"paired compares round by round and controls both errors. classic is the older table on pooled samples; it often calls equal code a regression."`
	Slower share           `key:"slower" example:"3%" doc:"A regression is slower by at least this."`
	Faster share           `key:"faster" example:"10%" doc:"A claimed improvement is faster by at least this."`
	Moves  share           `key:"moves" example:"5%" doc:"The baseline moves on a confirmed gain of at least this."`
	Suite  share           `key:"suite" example:"1%" doc:"By how much all cases together may be slower."`
	Alpha  share           `key:"alpha" example:"0.1%" doc:"Chance of a false regression of one case, over all looks."`
	Beta   share           `key:"beta" example:"5%" doc:"Chance to pass a slowdown of exactly slower as maintained."`
	Family share           `key:"family" example:"1%" doc:"Chance of any false regression among all cases of a run."`
	Strict *bool           `key:"strict" doc:"Whether drift fails a change: the merge base is slower than the baseline, by earlier changes."`
	Cases  []caseLimitsDoc `key:"cases" most:"1000" example:"[{match: 'softmax/*', slower: 5%}]" doc:"Other limits for some cases; a later one wins."`
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
	Gate            *bool         `key:"gate" doc:"Whether its cases may fail a change."`
	Implementations []text        `key:"implementations" example:"[candidate, sdpa]" doc:"Implementations to measure. Without it all of the suite. The candidate is always there."`
	Overrides       []overrideDoc `key:"overrides" most:"1000" example:"[{when: S >= 512, samples: 50}]" doc:"Settings of some configs; a later override wins."`
}

type overrideDoc struct {
	When filter `key:"when" require:"true" example:"S >= 512" doc:"Which configs: parameters that match, or an expression."`
	settingsDoc
	workDoc
	Gate *bool `key:"gate" doc:"Whether these cases may fail a change."`
}
