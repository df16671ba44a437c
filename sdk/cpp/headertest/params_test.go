package headertest_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/sdk/conformance"
)

// question is a parameter, how the harness is to read it, and the failure it must answer with:
// the harness of testdata/params.c fails with what it has read.
type question struct {
	read, value   string // value is JSON; "" leaves the parameter out
	code, message string
}

func (q question) lines() string {
	params := `{"want":"` + q.read + `"`
	if q.value != "" {
		params += `,"v":` + q.value
	}
	message, err := json.Marshal(q.message)
	if err != nil {
		panic(err) // a string always marshals
	}
	return `> {"id":1,"op":"prepare","benchmark":"echo","seed":"42","params":` + params + "}}\n" +
		`< {"id":1,"op":"prepare","error":{"code":"` + q.code + `","message":` + string(message) + "}}\n"
}

func TestParams(t *testing.T) {
	t.Parallel()
	h := harness(build(t, "gcc", "testdata/params.c", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"))
	long := strings.Repeat("9", 70)
	for _, q := range []question{
		{"int", `512`, "failed", "512"},
		{"int", `-9223372036854775808`, "failed", "-9223372036854775808"},
		{"int", `9223372036854775807`, "failed", "9223372036854775807"},
		{"int", `5e3`, "failed", "5000"},
		{"int", `5000.0`, "failed", "5000"},
		{"int", `9223372036854775808`, "bad_params", "the parameter v is not a whole number of 64 bits"},
		{"int", `2.5`, "bad_params", "the parameter v is not a whole number of 64 bits"},
		{"int", `"512"`, "bad_params", "the parameter v is not a whole number of 64 bits"},
		{"int", `[1]`, "bad_params", "the parameter v is not a whole number of 64 bits"},
		{"int", ``, "bad_params", "the parameter v is missing"},
		{"float", `0.1`, "failed", "0.10000000000000001"},
		{"float", `3`, "failed", "3"},
		{"float", `1e400`, "bad_params", "the parameter v is not a number"},
		{"float", long, "bad_params", "the parameter v is not a number"},
		{"float", `true`, "bad_params", "the parameter v is not a number"},
		{"string", `"fp16"`, "failed", "fp16"},
		{"string", `"\u00e9\ud83d\ude00\n\"\\\/"`, "failed", "\u00e9\U0001f600\n\"\\/"},
		{"string", `"\ud800x\u0000"`, "failed", "\ufffdx\ufffd"},
		{"string", `5`, "bad_params", "the parameter v is not a string"},
		{"bool", `true`, "failed", "1"},
		{"bool", `false`, "failed", "0"},
		{"bool", `0`, "bad_params", "the parameter v is not true or false"},
		{"has", `null`, "failed", "1"},
		{"has", ``, "failed", "0"},
		{"random", ``, "failed", "bdd732262feb6e95"}, // splitmix64 from 42
		{"bytes", ``, "failed", "\ufffd\ufffd(\u20ac\ufffd\ufffd\ufffd"},
	} {
		play(t, h, q.lines())
	}
}

// Whatever number or text a suite holds, the harness reads that and nothing else.
func TestParamsAreReadExactly(t *testing.T) {
	t.Parallel()
	h := harness(build(t, "gcc", "testdata/params.c", "-O2"))
	rapid.Check(t, func(rt *rapid.T) {
		var lines strings.Builder
		for range 50 { // many a process: starting one is what takes time
			q := question{code: "failed"}
			switch rapid.IntRange(0, 2).Draw(rt, "kind") {
			case 0:
				q.read, q.message = "int", strconv.FormatInt(rapid.Int64().Draw(rt, "int"), 10)
				q.value = q.message
			case 1:
				f := rapid.Float64Range(-1e299, 1e299).Draw(rt, "float")
				value, err := json.Marshal(f)
				if err != nil {
					rt.Fatal(err)
				}
				q.read, q.value, q.message = "float", string(value), formatC(f)
			default:
				s := strings.ReplaceAll(rapid.StringN(0, 200, 900).Draw(rt, "string"), "\x00", "")
				value, err := json.Marshal(s)
				if err != nil {
					rt.Fatal(err)
				}
				q.read, q.value, q.message = "string", string(value), strings.ToValidUTF8(s, "\ufffd")
				if strings.HasPrefix(s, "<") {
					continue // would be a rule of the pattern
				}
			}
			lines.WriteString(q.lines())
		}
		transcript, err := conformance.Parse("drawn.txt", strings.NewReader(lines.String()))
		if err != nil {
			rt.Fatal(err)
		}
		if err := conformance.Play(t.Context(), h, transcript); err != nil {
			rt.Fatal(err)
		}
	})
}

// formatC writes a number as C's %.17g does.
func formatC(f float64) string {
	s := strconv.FormatFloat(f, 'g', 17, 64)
	mantissa, exponent, scientific := strings.Cut(s, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if !scientific {
		return mantissa
	}
	return mantissa + "e" + exponent
}

// The same seed gives the same inputs, and they are what they claim to be.
func TestInputs(t *testing.T) {
	t.Parallel()
	run(t, 0, build(t, "gcc", "testdata/inputs.c", "-O2"))
}
