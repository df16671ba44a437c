package gpu

import (
	"fmt"
	"strings"
)

// DType is a number format for which cards have a peak rate.
type DType string

// The formats, by the names used in a suite.
const (
	FP64 DType = "fp64"
	FP32 DType = "fp32"
	TF32 DType = "tf32"
	FP16 DType = "fp16"
	BF16 DType = "bf16"
	FP8  DType = "fp8"
	FP4  DType = "fp4"
	INT8 DType = "int8"
)

// DTypes returns all formats, widest first.
func DTypes() []DType { return []DType{FP64, FP32, TF32, FP16, BF16, FP8, FP4, INT8} }

// dtypeNames maps the other names that frameworks use.
var dtypeNames = map[string]DType{
	"f64": FP64, "float64": FP64, "double": FP64,
	"f32": FP32, "float32": FP32, "float": FP32,
	"f16": FP16, "float16": FP16, "half": FP16,
	"bfloat16": BF16,
	"f8":       FP8, "e4m3": FP8, "e5m2": FP8, "fp8_e4m3": FP8, "fp8_e5m2": FP8, "float8_e4m3fn": FP8, "float8_e5m2": FP8,
	"e4m3fnuz": FP8, "e5m2fnuz": FP8, "float8_e4m3fnuz": FP8, "float8_e5m2fnuz": FP8,
	"e2m1": FP4, "e2m1x2": FP4, "float4_e2m1fn": FP4, "float4_e2m1fn_x2": FP4,
	"i8": INT8, "u8": INT8, "uint8": INT8,
}

// ParseDType parses the name of a format as spelled by suites and frameworks.
func ParseDType(name string) (DType, error) {
	lower := strings.ToLower(name)
	for _, d := range DTypes() {
		if lower == string(d) {
			return d, nil
		}
	}
	if d, ok := dtypeNames[lower]; ok {
		return d, nil
	}
	return "", fmt.Errorf("number format %.40q has no known peak (known: %v)", name, DTypes())
}
