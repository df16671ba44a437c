package gpu

// Source is the short name of a publication.
type Source string

// Certainty says who gives a figure.
type Certainty string

// The certainties, most certain first. A figure of which none is known is left out.
const (
	ByDriver Certainty = "driver"   // drivers print it, as public logs show
	ByVendor Certainty = "vendor"   // a document of the vendor states it
	Derived  Certainty = "derived"  // it follows from other figures
	Reported Certainty = "reported" // only third parties state it
)

// The sources that Go code names. The others are named in cards.txt.
const (
	fromGuide      Source = "guide"
	fromGuide12    Source = "guide-12"
	fromThroughput Source = "throughput"
	fromHeader     Source = "header"
	fromHeader13   Source = "header-13"
	fromTraits     Source = "cccl"
	fromDriver     Source = "driver"
	fromArithmetic Source = "arithmetic"
	fromROCm       Source = "rocm"
	fromLLVM       Source = "llvm"
)

// publication describes a source.
type publication struct {
	certainty Certainty
	title     string
}

// publications lists the sources. "As quoted" means that the document was read in quotation, by a reseller,
// a repository or the press, and not as such.
var publications = map[Source]publication{
	fromGuide:      {ByVendor, "NVIDIA, CUDA Programming Guide 13, Compute Capabilities, tables 30 to 32"},
	fromGuide12:    {ByVendor, "NVIDIA, CUDA C++ Programming Guide 12, technical specifications per compute capability"},
	fromThroughput: {ByVendor, "NVIDIA, CUDA C++ Programming Guide, throughput of native arithmetic instructions"},
	fromHeader:     {ByVendor, "NVIDIA, cuda_occupancy.h of CUDA 11.8 (compute capabilities up to 9.0)"},
	fromHeader13:   {Reported, "NVIDIA, cuda_occupancy.h of CUDA 12.8 and 13, as quoted by projects that read it"},
	fromTraits:     {ByVendor, "NVIDIA, CCCL, arch_traits.h of 2026"},

	"volta":     {ByVendor, "NVIDIA, V100 datasheet as quoted, and the V100 column of the A100 whitepaper"},
	"turing":    {ByVendor, "NVIDIA, Turing whitepaper, table of the TU102; the higher of reference and Founders Edition"},
	"t4":        {ByVendor, "NVIDIA, T4 datasheet, as quoted"},
	"a100":      {ByVendor, "NVIDIA, A100 whitepaper and datasheet"},
	"ga102":     {ByVendor, "NVIDIA, Ampere GA102 whitepaper 2.0, as quoted"},
	"a10":       {ByVendor, "NVIDIA, A10 datasheet, as quoted"},
	"a10g":      {Reported, "cloud provider's pages on the A10G; NVIDIA publishes no datasheet"},
	"a40":       {ByVendor, "NVIDIA, A40 datasheet, as quoted"},
	"rtxa":      {ByVendor, "NVIDIA, RTX A4000 and RTX A6000 datasheets, as quoted; half of the figures with sparsity"},
	"ada":       {ByVendor, "NVIDIA, Ada whitepaper 2.1, appendix A, as quoted"},
	"l4":        {ByVendor, "NVIDIA, L4 datasheet, as quoted"},
	"l40":       {ByVendor, "NVIDIA, L40 and L40S datasheets, as quoted"},
	"hopper":    {ByVendor, "NVIDIA, H100 whitepaper 1.03 and datasheet, as quoted"},
	"h100nvl":   {ByVendor, "NVIDIA, H100 NVL datasheet and product brief, as quoted"},
	"h200":      {ByVendor, "NVIDIA, H200 datasheet, as quoted"},
	"h200nvl":   {Reported, "collections of NVIDIA's figures for the H200 NVL"},
	"gh200":     {ByVendor, "NVIDIA, GH200 specifications, as quoted"},
	"h20":       {Reported, "press and public roofline tables for the H20; NVIDIA publishes no datasheet"},
	"h800":      {Reported, "public roofline tables for the H800; NVIDIA publishes no datasheet"},
	"blackwell": {ByVendor, "NVIDIA, Blackwell datasheet, HGX B200 per GPU, as quoted"},
	"gb200":     {ByVendor, "NVIDIA, GB200 NVL72 specifications per GPU, as quoted"},
	"b300":      {ByVendor, "NVIDIA, HGX B300 and GB300 NVL72 specifications per GPU, as quoted"},
	"rtx50":     {ByVendor, "NVIDIA, RTX Blackwell whitepaper 1.1, appendix A, as quoted"},
	"rtxpro":    {ByVendor, "NVIDIA, announcement of the RTX PRO 6000 Blackwell, as quoted"},
	"gb10":      {ByVendor, "NVIDIA, GB10 at Hot Chips 2025, as quoted"},

	fromROCm: {ByVendor, "AMD, ROCm documentation, AMD GPU specifications, 2026"},
	fromLLVM: {ByVendor, "LLVM, user guide of the AMDGPU backend, which AMD maintains"},
	"cdna":   {ByVendor, "AMD, CDNA whitepaper and MI100 page of the ROCm documentation"},
	"cdna2":  {ByVendor, "AMD, CDNA 2 whitepaper, product table and endnotes"},
	"cdna3":  {ByVendor, "AMD, CDNA 3 whitepaper, endnotes MI300-11, MI300-13, MI300-14 and MI325-019"},
	"mi350":  {ByVendor, "AMD, MI350X and MI355X product pages, as quoted"},
	"radeon": {ByVendor, "AMD, Radeon product pages, as quoted"},

	"properties": {ByDriver, "device properties printed in public logs"},
	"smi":        {ByDriver, "highest clocks that nvidia-smi prints in public logs"},
	"report":     {ByDriver, "device attributes in an Nsight Compute report"},
	fromDriver:   {ByDriver, "the driver of this machine"},
	"database":   {Reported, "public databases of GPUs"},
	fromArithmetic: {
		Derived,
		"computed: SMs x operations per clock x clock (for a clock: from a peak), or bus width x data rate",
	},
}

// Title returns the full title of the source.
func (s Source) Title() string { return publications[s].title }

// Certainty returns who gives the figures of the source.
func (s Source) Certainty() Certainty { return publications[s].certainty }
