package headertest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	protocol "github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/sdk/conformance"
)

var sanitized = []string{"-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-pthread"}

func prepareDouble(n int, mode string) string {
	return fmt.Sprintf(`{"id":2,"op":"prepare","benchmark":"double","params":{"N":%d,"mode":%q},"timer":"wall","seed":"7"}`, n, mode)
}

func keepOne(dir string, samples, seed int) string {
	return fmt.Sprintf(`{"id":3,"op":"measure","samples":%d,"keep":{"dir":%q,"count":1,"seed":"%d"}}`, samples, dir, seed)
}

// load reads a file as pawl does.
func load(t *testing.T, path, name string) []float64 {
	t.Helper()
	list, err := tensor.Load(path, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		if one.Name == name {
			values := make([]float64, one.Len())
			one.Read(values, 0)
			return values
		}
	}
	t.Fatalf("%s has no tensor %s", path, name)
	return nil
}

// What is kept of a timed sample is what it read and what it left.
func TestKeptSamplesBelongTogether(t *testing.T) {
	t.Parallel()
	program := build(t, "gcc", "testdata/arguments.c", "-O2", "-pthread")
	places := map[float64]bool{}
	var before []float64
	for seed := range 12 {
		dir := t.TempDir()
		replies := exchange(t, program, prepareDouble(5000, "honest"), keepOne(dir, 4, seed))
		kept, _ := replies[1]["kept"].([]any)
		if len(kept) != 1 {
			t.Fatalf("kept %v", replies[1]["kept"])
		}
		places[kept[0].(map[string]any)["sample"].(float64)] = true
		x, y := load(t, dir+"/0-in.safetensors", "x"), load(t, dir+"/0-out.safetensors", "y")
		for i := range x {
			if y[i] != 2*x[i] {
				t.Fatalf("seed %d: y[%d] is %v, x is %v", seed, i, y[i], x[i])
			}
		}
		if seed > 0 && same(x, before) < 4000 { // but for what changes its place from sample to sample
			t.Errorf("one seed of prepare gives other contents")
		}
		before = x
	}
	if len(places) < 3 {
		t.Errorf("12 seeds chose only the samples %v of 4", places)
	}
}

// same is in how many places two lists agree.
func same(a, b []float64) int {
	n := 0
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// prepareDrawn is prepareDouble with inputs that are drawn from a key.
func prepareDrawn(n int, mode, key string) string {
	arguments := fmt.Sprintf(`[{"name":"x","role":"in","dtype":"f32","shape":[%d]},{"name":"y","role":"out","dtype":"f32","shape":[%d]}]`, n, n)
	return strings.TrimSuffix(prepareDouble(n, mode), "}") + fmt.Sprintf(`,"key":%q,"arguments":%s}`, strings.Repeat(key, 64), arguments)
}

// A kernel that remembers its result by address is right in a loop that never changes
// the inputs. Here every run has inputs of its own.
func TestRememberedResultsAreWrong(t *testing.T) {
	t.Parallel()
	program, dir := build(t, "gcc", "testdata/arguments.c", "-O2", "-pthread"), t.TempDir()
	exchange(t, program, prepareDrawn(500, "remembers", "1"), keepOne(dir, 4, 1))
	x, y := load(t, dir+"/0-in.safetensors", "x"), load(t, dir+"/0-out.safetensors", "y")
	for i := range x {
		if y[i] != 2*x[i] {
			return
		}
	}
	t.Error("the remembered result is still right")
}

// sumsOf are the sums of so many samples from the one numbered first, in batches of three.
func sumsOf(t *testing.T, program, prepare string, first, samples int) []float64 {
	t.Helper()
	replies := exchange(t, program, prepare, fmt.Sprintf(`{"id":3,"op":"measure","samples":%d,"batch":3,"verify":{"key":"5","first":%d}}`, samples, first))
	if replies[1]["batch"] != 3.0 {
		t.Fatalf("asked for batches of 3, got %v", replies[1]["batch"])
	}
	text, _ := replies[1]["sums"].(string)
	var sums protocol.Sums
	if err := sums.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if len(sums) != samples*protocol.SumBlocks*protocol.BlockSums {
		t.Fatalf("%d numbers for %d samples of one output", len(sums), samples)
	}
	return sums
}

// Sums tell of every run of every sample: those of one key and number are the same in any process,
// and differ where one element does.
func TestSumsOfTimedSamples(t *testing.T) {
	t.Parallel()
	program := build(t, "gcc", "testdata/arguments.c", "-O2", "-pthread")
	want := sumsOf(t, program, prepareDrawn(500, "honest", "1"), 0, 4)
	if got := sumsOf(t, program, prepareDrawn(500, "honest", "1"), 0, 4); !slices.Equal(got, want) {
		t.Error("one key gives other sums in another process")
	}
	if got := sumsOf(t, program, prepareDrawn(500, "honest", "1"), 2, 2); !slices.Equal(got, want[len(want)/2:]) {
		t.Error("samples 2 and 3 differ when they are asked for alone")
	}
	if slices.Equal(want[:len(want)/2], want[len(want)/2:]) {
		t.Error("two samples have the same inputs")
	}
	if got := sumsOf(t, program, prepareDrawn(500, "honest", "2"), 0, 4); slices.Equal(got, want) {
		t.Error("another key gives the same inputs")
	}
	got := sumsOf(t, program, prepareDrawn(500, "remembers", "1"), 0, 4)
	for i := range 4 {
		if each := len(want) / 4; slices.Equal(got[i*each:(i+1)*each], want[i*each:(i+1)*each]) {
			t.Errorf("sample %d has right sums, and remembered results", i)
		}
	}
	squares := 0.0
	for i := 1; i < len(want)/4; i += protocol.BlockSums {
		squares += want[i]
	}
	if mean := squares / 1500; mean < 3 || mean > 5 { // twice numbers of standard deviation 1
		t.Errorf("the mean of the squares of 2 x is %v", mean)
	}
}

// Whatever a kernel does to memory that is not its own is named.
func TestIntegrity(t *testing.T) {
	t.Parallel()
	program := build(t, "gcc", "testdata/arguments.c", "-O1", "-w", "-pthread")
	for mode, want := range map[string]string{
		"behind": "behind the end of the argument y: from byte",
		"before": "before the start of the argument y: from byte",
		"state":  "behind the end of memory of setup",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			lines := []string{
				`write in.safetensors {"x":{"dtype":"F32","shape":[2],"values":[1,2]}}`,
				"> " + prepareDouble(2, mode), `< {"id":2,"op":"prepare","timer":"wall"}`,
				`> {"id":4,"op":"check","inputs":"$DIR/in.safetensors","outputs":"$DIR/out.safetensors","poison":"3"}`,
				`< {"id":4,"op":"check","error":{"code":"integrity","message":"<string ` + want + `>"}}`,
			}
			lines = append(lines, "> "+prepareDouble(2, mode), `< {"id":2,"op":"prepare","timer":"wall"}`, // seen without keeping anything
				`> {"id":5,"op":"measure","samples":3}`, `< {"id":5,"op":"measure","error":{"code":"integrity","message":"<string `+want+`>"}}`)
			play(t, harness(program), append(lines, "> "+prepareDouble(2, "honest"), `< {"id":2,"op":"prepare","timer":"wall"}`,
				`> {"id":6,"op":"check","inputs":"$DIR/in.safetensors","outputs":"$DIR/out.safetensors","poison":"3"}`, `< {"id":6,"op":"check","supported":true}`)...)
		})
	}
}

// A kernel that does nothing is seen in any measurement, though nobody keeps a sample of it.
func TestUnwrittenOutputsAreSeen(t *testing.T) {
	t.Parallel()
	program := build(t, "gcc", "testdata/arguments.c", "-O1", "-w", "-pthread")
	play(t, harness(program), "> "+prepareDouble(500, "idle"), `< {"id":2,"op":"prepare","timer":"wall"}`,
		`> {"id":3,"op":"measure","samples":40}`, `< {"id":3,"op":"measure","error":{"code":"integrity","message":"<string the output y was never written in a timed run>"}}`)
}

// A thread that goes on writing after the return is seen, though not in every check: nobody can wait for it.
func TestLateWritesAreSeen(t *testing.T) {
	t.Parallel()
	program, dir := build(t, "gcc", "testdata/arguments.c", "-O1", "-w", "-pthread"), t.TempDir()
	_, _, out := converse(t, program, prepareDouble(2, "late")+"\n"+strings.Repeat(keepOne(dir, 2, 1)+"\n", 20))
	if !strings.Contains(out, `"code":"integrity","message":"the output y changed after the run had returned"`) {
		t.Errorf("20 measurements, and none saw it:\n%s", out)
	}
}

// A mistake in registering is told when the case is prepared.
func TestArgumentsAreHeldToTheirMemory(t *testing.T) {
	t.Parallel()
	program := build(t, "gcc", "testdata/arguments.c", sanitized...)
	for mode, want := range map[string]string{
		"too_large": "the argument big has 64 bytes, its memory 32",
		"twice":     "x is registered twice", "type": "unknown type float", "zero": "dimension 1 of the argument z is 0",
	} {
		play(t, harness(program), "> "+prepareDouble(8, mode), `< {"id":2,"op":"prepare","error":{"message":"<string `+want+`>"}}`,
			"> "+prepareDouble(8, "honest"), `< {"id":2,"op":"prepare","timer":"wall"}`)
	}
}

// Hostile files: whatever stands in one, the harness answers, and a sanitizer has nothing to say.
func TestReaderSurvivesMutatedTensors(t *testing.T) {
	t.Parallel()
	program, dir := build(t, "gcc", "testdata/arguments.c", sanitized...), t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	const header = `{"__metadata__":{"x.offset":"0"},"x":{"dtype":"F32","shape":[8],"data_offsets":[0,32]}}`
	whole := append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header+strings.Repeat("abcd", 8)...)
	requests := []string{prepareDouble(8, "honest")}
	for i := range 600 {
		b := slices.Clone(whole)
		for range rng.IntN(4) {
			at := rng.IntN(len(b))
			switch rng.IntN(3) {
			case 0:
				b[at] = "{}[]\":,0123456789.e-\\\x00\xff"[rng.IntN(22)]
			case 1:
				b = slices.Delete(b, at, min(at+rng.IntN(9), len(b)))
			default:
				from := rng.IntN(len(whole))
				b = slices.Insert(b, at, whole[from:min(from+rng.IntN(9), len(whole))]...)
			}
			if len(b) == 0 {
				b = []byte{0}
			}
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.safetensors", i))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		requests = append(requests, fmt.Sprintf(`{"id":%d,"op":"check","inputs":%q,"outputs":%q,"poison":"1"}`, i+3, path, filepath.Join(dir, "out")))
	}
	status, stderr, out := converse(t, program, strings.Join(requests, "\n")+"\n")
	good, bad := strings.Count(out, `"supported":true`), strings.Count(out, `"error":{"code":"bad_params"`)
	if status != 0 || good+bad < 590 || good < 60 || bad < 60 {
		t.Errorf("status %d, %d accepted and %d refused of 600\n%s", status, good, bad, stderr)
	}
}

// Files of pawl.h are files of pawl: written by one, read by the other, strides and all.
func TestTensorsTravel(t *testing.T) {
	t.Parallel()
	program, dir := build(t, "gcc", "../conformance.c", sanitized...), t.TempDir()
	x, err := tensor.New(tensor.Argument{Name: "x", Role: tensor.In, DType: tensor.F32, Shape: []int{2, 3}, Strides: []int{5, 1}})
	if err != nil {
		t.Fatal(err)
	}
	x.Write(0, []float64{1, 2, 3, 4, 5, 6})
	in, out := filepath.Join(dir, "in.safetensors"), filepath.Join(dir, "out.safetensors")
	if err := tensor.Save(in, []tensor.Tensor{x}); err != nil {
		t.Fatal(err)
	}
	exchange(t, program, `{"id":2,"op":"prepare","benchmark":"double","params":{"N":3,"gap":2},"timer":"wall","arguments":[`+
		`{"name":"x","role":"in","dtype":"f32","shape":[2,3],"strides":[5,1]},{"name":"y","role":"out","dtype":"f32","shape":[2,3],"strides":[5,1]}]}`,
		fmt.Sprintf(`{"id":3,"op":"check","inputs":%q,"outputs":%q,"poison":"12345"}`, in, out))
	if got := load(t, out, "y"); !slices.Equal(got, []float64{2, 4, 6, 8, 10, 12}) {
		t.Errorf("y is %v", got)
	}
	list, err := tensor.Load(out, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	poison := tensor.Poison(12345, len(list[0].Data))
	if gap := list[0].Data[12:20]; !slices.Equal(gap, poison[12:20]) {
		t.Errorf("the gap holds %x, want the poison %x", gap, poison[12:20])
	}
}

// playDeviceArguments checks, keeps and accuses where the arguments are memory of a device.
func playDeviceArguments(t *testing.T, h conformance.Harness) {
	t.Helper()
	prepare := func(params string) string {
		return `> {"id":2,"op":"prepare","benchmark":"double","params":` + params + `,"timer":"device"}` + "\n" + `< {"id":2,"op":"prepare","timer":"device"}`
	}
	const check = `> {"id":3,"op":"check","inputs":"$DIR/in.safetensors","outputs":"$DIR/out.safetensors","poison":"12345"}`
	play(t, h, hello, `write in.safetensors {"x":{"dtype":"F32","shape":[3],"values":[1,2,-3]}}`,
		prepare(`{"N":3}`), check, `< {"id":3,"op":"check","supported":true}`,
		`read out.safetensors {"y":{"dtype":"F32","shape":[3],"values":[2,4,-6]}}`,
		prepare(`{"N":3,"behind":-1}`), check, `< {"id":3,"op":"check","supported":true}`,
		`read out.safetensors {"y":{"dtype":"F32","shape":[3],"hex":"00000040 00008040 fdfff3ff"}}`,
		`> {"id":4,"op":"measure","samples":5,"keep":{"dir":"$DIR","count":2,"seed":"1"}}`,
		`< {"id":4,"op":"measure","count":5,"samples":"<numbers 5 of 1..>","kept":[{"inputs":"$DIR/0-in.safetensors"},{"outputs":"$DIR/1-out.safetensors"}]}`,
		`read 0-out.safetensors {"y":{"dtype":"F32","shape":[3]}}`,
		`> {"id":5,"op":"run","iterations":5000}`, `< {"id":5,"op":"run","iterations":5000}`,
		prepare(`{"N":3,"behind":2}`), check,
		`< {"id":3,"op":"check","error":{"code":"integrity","message":"<string behind the end of the argument y: from byte 0 to 7>"}}`,
		prepare(`{"N":3,"spoils":1}`), check,
		`< {"id":3,"op":"check","error":{"code":"integrity","message":"<string changed its input x>"}}`,
		prepare(`{"N":3}`), check, `< {"id":3,"op":"check","supported":true}`,
		`> {"id":6,"op":"bye"}`, `< {"id":6,"op":"bye"}`, `exit 0`)
}
