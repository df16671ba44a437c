package headertest_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/sdk/conformance"
)

// Programs that a harness starts are not harnesses: they see neither the variables nor the pipes.
func TestChildrenSeeNothingOfPawl(t *testing.T) {
	t.Parallel()
	h := harness(build(t, "gcc", "testdata/isolation.c"))
	play(t, h, hello, `> {"id":2,"op":"prepare","benchmark":"child"}`,
		`< {"id":2,"op":"prepare","error":{"code":"failed","message":"seen: []"}}`)
}

func TestDescriptorsAreChecked(t *testing.T) {
	t.Parallel()
	program := build(t, "gcc", "../conformance.c")
	for _, env := range []string{"PAWL_IN=", "PAWL_IN=x", "PAWL_IN=-1", "PAWL_IN=99999", "PAWL_IN=0 PAWL_OUT=", "PAWL_IN=0 PAWL_OUT=99999"} {
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = append(os.Environ(), strings.Fields(env)...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is not an open descriptor") {
			t.Errorf("%s: got %v, %q", env, err, out)
		}
	}
}

func TestStartedByHand(t *testing.T) {
	t.Parallel()
	program := build(t, "gcc", "../conformance.c", "-O2")
	out := run(t, 0, program)
	for _, want := range []string{"timer wall, hot cache", "spin             candidate    us=50 ", "slow         us=200 ", "broken           candidate    has no configs", "pawl bench"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table does not contain %q:\n%s", want, out)
		}
	}
	if out := run(t, 0, program, "--help"); !strings.HasPrefix(out, "usage: ") || !strings.Contains(out, "pawl.yaml") {
		t.Errorf("--help prints %q", out)
	}
	run(t, 4, program, "--no-such-flag")
}

func TestConfigs(t *testing.T) {
	t.Parallel()
	play(t, harness(build(t, "gcc", "testdata/params.c")), `> {"id":1,"op":"cases"}`,
		`< {"id":1,"op":"cases","benchmarks":[{"name":"echo","implementations":["candidate"],"flops":"<absent>","configs":[{"a":1,"b":-2500,"c":true,"d":"fp16","e":"0x10"},{"a":"t"}]}]}`)
}

// Memory of a run would be measured.
func TestAllocatingInARunFails(t *testing.T) {
	t.Parallel()
	play(t, harness(build(t, "gcc", "testdata/params.c")),
		`> {"id":1,"op":"prepare","benchmark":"echo","params":{"want":"nothing"}}`, `< {"id":1,"op":"prepare","timer":"wall"}`,
		`> {"id":2,"op":"measure","samples":1}`, `< {"id":2,"op":"measure","error":{"code":"failed","message":"<string pawl_alloc is for setup>"}}`)
}

// A harness that measures must notice that pawl is gone. The request would take an hour.
func TestEndsWhileMeasuring(t *testing.T) {
	t.Parallel()
	play(t, harness(build(t, "gcc", "../conformance.c")), hello,
		`> {"id":2,"op":"prepare","benchmark":"spin","params":{"us":50}}`, `< {"id":2,"op":"prepare","timer":"wall"}`,
		`> {"id":3,"op":"measure","busy_ns":3600000000000}`, `close`, `exit 0`)
}

// Cold must be cold: every read of a swept cache goes to memory.
func TestColdIsSlowerThanHot(t *testing.T) {
	t.Parallel()
	program := build(t, "gcc", "testdata/memory.c", "-O2")
	cold, hot := fastestOf(t, program, "cold"), fastestOf(t, program, "hot")
	t.Logf("reading 512 KiB: hot %.0f ns, cold %.0f ns of CPU time", hot, cold)
	if cold < 1.2*hot {
		t.Errorf("cold takes %.0f ns, hot %.0f ns: the cache was not swept", cold, hot)
	}
}

// fastestOf returns the fastest sample in CPU time. Other programs take time and cache from most samples, but not
// from all of them.
func fastestOf(t *testing.T, program, cache string) float64 {
	t.Helper()
	lines := []string{
		`{"id":1,"op":"prepare","benchmark":"chase","params":{"kib":512},"timer":"cpu","cache":"` + cache + `","bytes":524288}`,
		`{"id":2,"op":"measure","samples":21}`,
	}
	replies := exchange(t, program, lines...)
	return fastest(t, replies[1])
}

// Hostile input: any bytes on the pipe end in an answer or in a clean exit, never in a crash.
func FuzzPipe(f *testing.F) {
	program := build(f, "gcc", "../conformance.c", sanitized...)
	all, err := conformance.Transcripts()
	if err != nil {
		f.Fatal(err)
	}
	for _, t := range all {
		var text strings.Builder
		for _, step := range t.Steps {
			if step.Send != nil && !endless(*step.Send) {
				text.WriteString(*step.Send + "\n")
			}
		}
		f.Add(text.String())
	}
	for _, text := range []string{
		"{\"id\":1,\"op\":\"hello\",\"protocol\":[[1],{},\"\",null,-1e999,1]}\n", "{\"id\":-0,\"op\":\"\\ud800\\u0000\"}\n",
		"{\"id\":1,\"op\":\"prepare\",\"benchmark\":\"spin\",\"params\":{\"us\":\"x\"},\"seed\":\"99999999999999999999\"}\n",
		strings.Repeat("[", 10000) + "\n", "{\"id\":1,\"op\":\"a\x00b\"}\n", "{\"a\":" + strings.Repeat("{\"a\":", 40), "\n\n", "{}\n", "\xff\xfe\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if endless(text) || strings.Contains(text, "outputs") {
			t.Skip("could take for ever, or write anywhere, as asked")
		}
		status, stderr := feed(t, program, text)
		if status != 0 && status != 1 || strings.Contains(stderr, "Sanitizer") || strings.Contains(stderr, "runtime error") {
			t.Errorf("status %d\n%s", status, stderr)
		}
	})
}

func endless(text string) bool {
	return strings.Contains(text, "measure") || strings.Contains(text, `"run"`)
}

// The same from inside, where a sanitizer watches hundreds of thousands of requests that are almost right.
func TestReaderSurvivesMutatedRequests(t *testing.T) {
	t.Parallel()
	program := build(t, "gcc", "testdata/mutate.c", "-O1", "-g", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
	accepted, err := strconv.Atoi(strings.TrimSpace(run(t, 0, program, "1", "100000")))
	if err != nil || accepted < 20000 || accepted > 90000 {
		t.Errorf("%d of 100000 mutated requests were accepted: they are all alike, or the reader is asleep (%v)", accepted, err)
	}
}
