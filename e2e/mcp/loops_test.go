package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/stats"
)

// python runs a Python program in a folder with the SDK and the pawl under test.
func python(t *testing.T, dir string, args ...string) string {
	t.Helper()
	sdk, err := filepath.Abs("../../sdk/python")
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", args...)
	cmd.Dir = dir
	cmd.Env = apart(t, "PYTHONPATH="+sdk, "PYTHONDONTWRITEBYTECODE=1", "PATH="+filepath.Dir(binary)+":/usr/bin:"+os.Getenv("PATH"))
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s%s", cmd, err, out, &said)
	}
	return string(out)
}

// A problem in the form of KernelBench becomes a suite; a candidate that is right passes, a wrong one is wrong, and both become
// results in its shape. At night the right one is measured, too: every round imports torch on each side.
func TestKernelBench(t *testing.T) {
	top := t.TempDir()
	if exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import torch").Run() != nil {
		t.Skip("/usr/bin/python3 has no torch")
	}
	for _, name := range []string{"pawl_kernelbench.py", "pawl_harness.py"} {
		copyFile(t, filepath.Join("../../sdk/python", name), filepath.Join(top, name))
	}
	const problem = `import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)

def get_inputs():
    return [torch.rand(64, 64), torch.rand(64, 64)]

def get_init_inputs():
    return []
`
	write(t, filepath.Join(top, "1_Square.py"), problem)
	python(t, top, "pawl_kernelbench.py", "suite", "1_Square.py")
	write(t, filepath.Join(top, ".gitignore"), "results/\n__pycache__/\n")
	git(t, top, "init", "-q", "-b", "main")
	commit(t, top, "problems")
	grant := exec.CommandContext(t.Context(), binary, "-C", top, "submit", "grant", "--suite", "1_Square.yaml", "--trust", "trusted")
	if out, err := grant.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	candidate := strings.Replace(problem, "class Model(", "class ModelNew(", 1)
	write(t, filepath.Join(top, "loop.py"), `import json, sys
import pawl_kernelbench, pawl_submit
right = sys.stdin.read()
for sample, source in enumerate((right, right.replace("(a, b)\n\n", "(a, b) + 0.01\n\n"))):
    answer = pawl_submit.evaluate({"candidates/1_Square.py": source}, suite="1_Square.yaml", stage=sys.argv[2], budget=600, pawl=sys.argv[1])
    pawl_kernelbench.add_result("eval_results.json", "1_Square.yaml", 1, sample, answer)
`)
	stage := "smoke"
	if testrun.Nightly() {
		stage = "quick"
	}
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "loop.py", binary, stage)
	sdk, err := filepath.Abs("../../sdk/python")
	must(t, err)
	cmd.Dir, cmd.Stdin, cmd.Env = top, strings.NewReader(candidate), apart(t, "PYTHONPATH="+sdk, "PATH=/usr/bin:"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var results map[string][]struct {
		Compiled, Correctness bool
		Runtime               float64
		Metadata              map[string]any
	}
	must(t, json.Unmarshal([]byte(readFile(t, filepath.Join(top, "eval_results.json"))), &results))
	list := results["1"]
	if len(list) != 2 || !list[0].Correctness || (list[0].Runtime > 0) != (stage == "quick") || list[1].Correctness || !list[1].Compiled || list[1].Runtime != -1 || list[1].Metadata["status"] != "wrong" {
		t.Errorf("%+v", results)
	}
}

// generation is a line of the loop's log.
type generation struct {
	Genes  map[string]any
	Leads  bool
	Reward float64
	Answer struct {
		ID, Status string
		Cost       float64 `json:"cost_s"`
	}
}

func generations(t *testing.T, dir string) (list []generation) {
	t.Helper()
	for line := range strings.Lines(readFile(t, filepath.Join(dir, "results", "evolve.jsonl"))) {
		var g generation
		must(t, json.Unmarshal([]byte(line), &g))
		list = append(list, g)
	}
	return list
}

// The loop of the docs runs, and goes on where it stopped.
func TestEvolve(t *testing.T) {
	dir, _ := checkout(t)
	copyFile(t, "../../examples/matmul-c/evolve.py", filepath.Join(dir, "evolve.py"))
	python(t, dir, "evolve.py", "1", binary)
	python(t, dir, "evolve.py", "3", binary)
	list := generations(t, dir)
	for _, g := range list {
		if g.Answer.Status == "" || g.Reward < -2 || g.Leads && g.Reward <= 0 {
			t.Errorf("%+v", g)
		}
	}
	if len(list) != 3 || list[2].Answer.ID != "3" {
		t.Errorf("%+v", list)
	}
}

// TestLiveEvolve evolves examples/matmul-c for 200 generations, tunes it with pawl tune, and judges both results and the same
// code. Only with PAWL_LAB, which names a folder:
//
//	PAWL_LAB=FOLDER go test ./e2e/mcp -run TestLiveEvolve -count=1 -timeout 6h -v
//
// It takes about an hour. The repository is kept in the folder, so that it can be stopped and goes on. evolve.md there is
// the table.
func TestLiveEvolve(t *testing.T) {
	lab := os.Getenv("PAWL_LAB")
	if lab == "" {
		t.Skip("only with PAWL_LAB=FOLDER")
	}
	lab, err := filepath.Abs(lab)
	must(t, err)
	dir := filepath.Join(lab, "evolve", "examples", "matmul-c")
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		copyExample(t, filepath.Join(lab, "evolve"))
	}
	python(t, dir, "evolve.py", "200", binary)
	list := generations(t, dir)
	var bad []float64
	best := map[string]any{"BLOCK_M": 32.0, "BLOCK_N": 32.0, "BLOCK_K": 32.0, "UNROLL": 1.0, "EDIT": nil}
	statuses := map[string]int{}
	for _, g := range list {
		if statuses[g.Answer.Status]++; g.Answer.Status != "measured" && g.Answer.Status != "identical" {
			bad = append(bad, g.Answer.Cost)
		}
		if g.Leads {
			best = g.Genes
		}
	}
	evolved := speedup(t, dir, best)
	tuned := speedup(t, dir, tunedBest(t, dir))
	var same []float64
	for range 20 {
		answer := submitGenes(t, dir, map[string]any{"EDIT": nil}, "quick")
		same = append(same, math.Log(answer.Speedup))
	}
	mean, se := stats.Mean(same), stats.StdDev(same)/math.Sqrt(float64(len(same)))
	table := fmt.Sprintf("| what | figure |\n| --- | ---: |\n| generations | %d |\n| statuses | %v |\n| speed-up of the loop's best, stage full | %.3f |\n| speed-up of the tuner's best, stage full | %.3f |\n"+
		"| loop's best over the tuner's | %.3f |\n| reward of same code, mean of %d | %.4f |\n| its standard error | %.4f |\n| seconds per bad candidate, median of %d | %.2f |\n| the same, p95 | %.2f |\n",
		len(list), statuses, evolved, tuned, evolved/tuned, len(same), mean, se, len(bad), stats.Median(bad), stats.Quantile(bad, 0.95))
	must(t, os.WriteFile(filepath.Join(lab, "evolve.md"), []byte(table), 0o644))
	t.Log("\n" + table)
}

// copyExample makes a repository with examples/matmul-c and the SDK, whose candidates are trusted.
func copyExample(t *testing.T, top string) {
	t.Helper()
	for _, pattern := range []string{"examples/matmul-c/*", "sdk/cpp/*"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		must(t, err)
		for _, from := range files {
			if info, err := os.Stat(from); err == nil && info.Mode().IsRegular() {
				copyFile(t, from, filepath.Join(top, filepath.Dir(pattern), filepath.Base(from)))
			}
		}
	}
	write(t, filepath.Join(top, ".gitignore"), "results/\n*.o\nharness\nplain\ntuning/\n__pycache__/\n")
	git(t, top, "init", "-q")
	commit(t, top, "the example")
	cmd := exec.CommandContext(t.Context(), binary, "-C", filepath.Join(top, "examples", "matmul-c"), "submit", "grant", "--trust", "trusted")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("grant: %v: %s", err, out)
	}
}

// tunedBest returns the best point of pawl tune, which searches the same values.
func tunedBest(t *testing.T, dir string) map[string]any {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "tuning", "journal.jsonl")); os.IsNotExist(err) {
		cmd := exec.CommandContext(t.Context(), binary, "-C", dir, "tune", "matmul/N512", "--evals", "100", "--seed", "1", "--no-proof")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("tune: %v: %s", err, out)
		}
	}
	best, fastest := map[string]any{}, math.Inf(1)
	for line := range strings.Lines(readFile(t, filepath.Join(dir, "tuning", "journal.jsonl"))) {
		var e struct {
			Point  map[string]any
			Status string
			Value  float64
			Lost   bool
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Status == "ok" && !e.Lost && e.Value < fastest {
			best, fastest = e.Point, e.Value
		}
	}
	best["EDIT"] = nil
	return best
}

// judgedGenes is the answer for a kernel.
type judgedGenes struct {
	Status  string
	Speedup float64
}

// submitGenes judges the kernel of some genes.
func submitGenes(t *testing.T, dir string, genes map[string]any, stage string) judgedGenes {
	t.Helper()
	text := readFile(t, filepath.Join(dir, "matmul.c"))
	if edit, ok := genes["EDIT"].(float64); ok {
		var pair [2]string
		must(t, json.Unmarshal([]byte(python(t, dir, "-c", "import evolve, json; print(json.dumps(evolve.EDITS["+strconv.Itoa(int(edit))+"]))")), &pair))
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	head := "/* judged again */\n"
	for _, name := range []string{"BLOCK_M", "BLOCK_N", "BLOCK_K", "UNROLL"} {
		if v, ok := genes[name]; ok {
			head += fmt.Sprintf("#undef %s\n#define %s %v\n", name, name, v)
		}
	}
	over := t.TempDir()
	write(t, filepath.Join(over, "matmul.c"), head+text)
	cmd := exec.CommandContext(t.Context(), binary, "-C", dir, "submit", over, "--stage", stage, "--budget", "10m", "--json")
	out, _ := cmd.Output() // the exit code is part of the answer
	var answer judgedGenes
	must(t, json.Unmarshal(out, &answer))
	if answer.Status != "measured" {
		t.Fatalf("%v: %s", genes, out)
	}
	return answer
}

// speedup returns the median of three judgments in full.
func speedup(t *testing.T, dir string, genes map[string]any) float64 {
	t.Helper()
	var list []float64
	for range 3 {
		list = append(list, submitGenes(t, dir, genes, "full").Speedup)
	}
	slices.Sort(list)
	return list[1]
}
