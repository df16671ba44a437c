package gpu

// Cell is one hardware figure together with its source. A gate that calls a measured time impossible must
// be able to cite the figure it relies on.
type Cell[T any] struct {
	Value   T      `json:"value"`
	Source  Source `json:"source"`
	Certain bool   `json:"certain"` // false if sources differ, or if no publication of the vendor was read
}

// Known reports whether the cell has a figure.
func (c Cell[T]) Known() bool { return c.Source != "" }

// IsZero reports whether the cell has no figure, so that JSON can omit it.
func (c Cell[T]) IsZero() bool { return !c.Known() }

func certain[T any](value T, source Source) Cell[T] {
	return Cell[T]{Value: value, Source: source, Certain: true}
}

// uncertain returns a cell on which sources differ, or whose source is secondhand. The value must be the
// highest one: a limit that a kernel is checked against must not be below what the hardware can do.
func uncertain[T any](value T, source Source) Cell[T] {
	return Cell[T]{Value: value, Source: source}
}

// Source is the short name of a publication.
type Source string

// The publications cited by the tables.
const (
	fromGuide      Source = "guide"
	fromGuide12    Source = "guide-12"
	fromThroughput Source = "throughput"
	fromHeader     Source = "header"
	fromHeader13   Source = "header-13"
	fromVolta      Source = "volta"
	fromTuring     Source = "t4"
	fromGA102      Source = "ga102"
	fromA10        Source = "a10"
	fromA10G       Source = "a10g"
	fromA100       Source = "a100"
	fromAda        Source = "ada"
	fromL4         Source = "l4"
	fromL40S       Source = "l40s"
	fromHopper     Source = "hopper"
	fromH200       Source = "h200"
	fromB200       Source = "b200"
	fromRTX50      Source = "rtx50"
	fromProperties Source = "properties"
	fromReport     Source = "report"
	fromArithmetic Source = "arithmetic"
)

var sourceTitles = map[Source]string{
	fromGuide:      "NVIDIA, CUDA Programming Guide 13, Compute Capabilities, tables 30 to 32",
	fromGuide12:    "NVIDIA, CUDA C++ Programming Guide 12, technical specifications per compute capability",
	fromThroughput: "NVIDIA, CUDA C++ Programming Guide, throughput of native arithmetic instructions",
	fromHeader:     "NVIDIA, cuda_occupancy.h of CUDA 11.8 (compute capabilities up to 9.0)",
	fromHeader13:   "NVIDIA, cuda_occupancy.h of CUDA 12.8 and 13, as quoted by projects that read it",
	fromVolta:      "NVIDIA, Tesla V100 whitepaper and datasheet",
	fromTuring:     "NVIDIA, T4 datasheet",
	fromGA102:      "NVIDIA, Ampere GA102 whitepaper",
	fromA10:        "NVIDIA, A10 datasheet",
	fromA10G:       "cloud provider's pages on the A10G; NVIDIA publishes no datasheet",
	fromA100:       "NVIDIA, A100 whitepaper and datasheet",
	fromAda:        "NVIDIA, Ada whitepaper",
	fromL4:         "NVIDIA, L4 datasheet",
	fromL40S:       "NVIDIA, L40S datasheet",
	fromHopper:     "NVIDIA, H100 whitepaper and datasheet",
	fromH200:       "NVIDIA, H200 datasheet",
	fromB200:       "NVIDIA, DGX B200 and HGX B200 datasheets, which differ",
	fromRTX50:      "NVIDIA, RTX Blackwell whitepaper",
	fromProperties: "device properties printed in public logs",
	fromReport:     "device attributes in an Nsight Compute report",
	fromArithmetic: "computed: SMs x FP32 lanes x 2 x boost clock, and the guide's ratio of FP32 to FP64",
}

// Title returns the full title of the source.
func (s Source) Title() string { return sourceTitles[s] }
