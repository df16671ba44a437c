package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/stats"
)

// planted is a submission whose truth is known.
type planted struct {
	kind   string
	kernel string         // replaces kernel.c; empty for none
	args   map[string]any // of the call, beside the diff
	status []string       // any of these is right
	not    []string       // verdicts that would be a lie
}

// plantedSuite is axpySuite with a kernel that takes long enough to tell a difference.
var plantedSuite = strings.NewReplacer("-shared", "-shared -pthread", "samples: 5, warmup: 1, rounds: [2]", "samples: 20, warmup: 3, rounds: [4, 8]", "N: [500]", "N: [6000]").Replace(axpySuite)

// work returns a kernel that computes the elements a number of times.
func work(times int) string {
	return fmt.Sprintf("#include \"honest.h\"\nvoid axpy(const float *a, const float *b, float *c, int n) {\n  for (int k = 0; k < %d; k++) { honest(a, b, c, 0, n); __asm__ volatile(\"\" ::: \"memory\"); }\n}\n", times)
}

var (
	gains  = []string{"improvement", "ahead"}
	losses = []string{"regression", "behind"}
)

// plants returns the kinds of submissions, each once.
func plants() []planted {
	measured := []string{"measured"}
	return []planted{
		{kind: "compile error", kernel: kernelOf("c[i] = oops;"), status: []string{"compile_error"}},
		{kind: "wrong", kernel: kernelOf("c[i] = a[i] * b[i];"), status: []string{"wrong"}},
		{kind: "identical", args: map[string]any{"commit": "HEAD"}, status: []string{"identical"}},
		{kind: "same speed", kernel: work(2), status: measured, not: slices.Concat(gains[:1], losses[:1])},
		{kind: "slower", kernel: work(4), status: measured, not: gains},
		{kind: "faster", kernel: work(1), status: measured, not: losses},
		{kind: "hanging", kernel: hungKernel, args: map[string]any{"budget_s": 5}, status: []string{"timeout"}},
		{kind: "crashing", kernel: kernelOf("*(volatile int *)0 = i;"), status: []string{"crashed"}},
		{kind: "another tolerance", args: map[string]any{"diff": replacing("k/pawl.yaml", plantedSuite, strings.Replace(plantedSuite, "atol: 1e-5", "atol: 9", 1))}, status: []string{"refused"}},
	}
}

// truths are the statuses for what the gate says of an attack. That the integrity checks refuse it is right of every attack.
var truths = map[string][]string{
	"not written": {"wrong"}, "wrong result in a timed run": {"wrong"}, "behind the end of": {"wrong"}, "before the beginning of": {"wrong"},
	"it called": {"rejected"}, "answers in place of the launcher": {"rejected"}, "ended its process": {"rejected"}, "clocks disagree": {"rejected"},
	"inputs are read-only": {"wrong", "crashed", "rejected"}, "crashed": {"crashed"}, "hung": {"timeout"}, "the candidate failed": {"wrong", "rejected", "crashed"},
}

// attackPlants returns the attacks of the red team that are one kernel.
func attackPlants(t *testing.T) []planted {
	t.Helper()
	archive, err := txtar.ParseFile("../redteam/testdata/attacks/checked_host.txtar")
	must(t, err)
	var list []planted
	for _, f := range archive.Files {
		p := planted{kind: "attack " + f.Name, kernel: string(f.Data)}
		plain := true
		for line := range strings.Lines(p.kernel) {
			head, isHead := strings.CutPrefix(line, "// ")
			if !isHead {
				break
			}
			switch key, value, _ := strings.Cut(strings.TrimSpace(head), ": "); key {
			case "what", "caught", "short":
			case "says":
				for words, status := range truths {
					if strings.Contains(value, words) {
						p.status = append(p.status, status...)
					}
				}
			default: // it needs another base, or is honest
				plain = false
			}
		}
		if plain {
			if len(p.status) == 0 {
				t.Fatalf("%s: add what the gate says of it to truths", f.Name)
			}
			p.status = append(p.status, "rejected")
			list = append(list, p)
		}
	}
	return list
}

// replacing returns a diff that replaces a whole file.
func replacing(path, old, text string) string {
	lines := func(mark, s string) (out string) {
		for line := range strings.Lines(s) {
			out += mark + line
		}
		return out
	}
	return fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -1,%d +1,%d @@\n%s%s", path, path, strings.Count(old, "\n"), strings.Count(text, "\n"), lines("-", old), lines("+", text))
}

// plantedRow is the result of one submission.
type plantedRow struct {
	Number  int     `json:"number"`
	Kind    string  `json:"kind"`
	Status  string  `json:"status"`
	Verdict string  `json:"verdict,omitempty"`
	Right   bool    `json:"right"`
	Seconds float64 `json:"seconds"` // without waiting for other calls
	Bytes   int     `json:"bytes"`
}

// TestPlanted submits candidates with known truth over the protocol, three calls at a time, and checks that every answer
// belongs to its own submission, has the right status and at most 1,200 bytes. With
//
//	PAWL_LAB=FOLDER go test ./e2e/mcp -run TestPlanted -count=1 -timeout 3h -v
//
// there are 300 of them, about half an hour; rows are added to planted.jsonl in the folder and those there are kept, so that
// it can be stopped and goes on. planted.md there is the table.
func TestPlanted(t *testing.T) {
	lab := os.Getenv("PAWL_LAB")
	list := plants()
	attacks := attackPlants(t)
	if lab == "" {
		for _, p := range attacks {
			if p.kind == "attack fork" || p.kind == "attack half" {
				list = append(list, p)
			}
		}
	} else {
		for kinds := len(list); len(list) < 300-2*len(attacks); { // each attack twice
			list = append(list, list[len(list)%kinds])
		}
		list = slices.Concat(list, attacks, attacks)
	}
	out := os.DevNull
	if lab != "" {
		must(t, os.MkdirAll(lab, 0o755))
		out = filepath.Join(lab, "planted.jsonl")
	}
	rows := testrun.Rows[plantedRow](t, out)
	file, err := os.OpenFile(out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	defer file.Close()
	top := plantedRepository(t)
	a := start(t, filepath.Join(top, "k"))
	var mu sync.Mutex
	var calls sync.WaitGroup
	slots := make(chan struct{}, 3)
	for number, p := range list {
		if slices.ContainsFunc(rows, func(r plantedRow) bool { return r.Number == number }) {
			continue
		}
		calls.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			row := a.plant(top, number, p)
			mu.Lock()
			defer mu.Unlock()
			rows = append(rows, row)
			if err := json.NewEncoder(file).Encode(row); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if lab != "" {
		must(t, os.WriteFile(filepath.Join(lab, "planted.md"), []byte(plantedTable(rows)), 0o644))
	}
	for _, r := range rows {
		if !r.Right {
			t.Errorf("%+v", r)
		}
	}
}

func plantedRepository(t *testing.T) (top string) {
	t.Helper()
	top = axpy(t)
	archive, err := txtar.ParseFile("../redteam/testdata/host.txtar")
	must(t, err)
	for _, f := range archive.Files {
		if f.Name == "honest.h" {
			write(t, filepath.Join(top, "k", f.Name), string(f.Data))
		}
	}
	write(t, filepath.Join(top, "k", "pawl.yaml"), plantedSuite)
	write(t, filepath.Join(top, "k", "kernel.c"), work(2))
	commit(t, top, "twice the work")
	return top
}

// plant submits one candidate and judges its answer.
func (a *agent) plant(top string, number int, p planted) plantedRow {
	mark := fmt.Sprintf("plant %d of %s", number, p.kind)
	args := map[string]any{"stage": "quick", "budget_s": 300, "note": mark}
	if p.kernel != "" {
		args["diff"] = replacing("k/kernel.c", work(2), "// "+mark+"\n"+p.kernel)
	}
	maps.Copy(args, p.args)
	began := time.Now()
	res, err := a.session.CallTool(a.t.Context(), toolCall("submit", args))
	row := plantedRow{Number: number, Kind: p.kind, Seconds: time.Since(began).Seconds()}
	if err != nil {
		a.t.Errorf("%s: %v", mark, err)
		return row
	}
	r := a.read(res)
	row.Status, row.Verdict, row.Bytes = r.str("status"), r.str("verdict"), len(r.text)
	row.Seconds -= r.about.Queued
	row.Right = slices.Contains(p.status, row.Status) && !slices.Contains(p.not, row.Verdict) && row.Bytes <= 1200 &&
		(row.Status == "identical" || (row.Status == "measured") == (row.Verdict != ""))
	kept, err := os.ReadFile(filepath.Join(top, "k", ".pawl", "attempts", "pawl", r.str("id"), "submission.json"))
	if err != nil || !bytes.Contains(kept, []byte(`"`+mark+`"`)) {
		a.t.Errorf("%s got the answer of another submission: %s, kept %s, %v", mark, r.text, kept, err)
		row.Right = false
	}
	if !row.Right {
		a.t.Logf("%s: %s", mark, r.text)
	}
	return row
}

// plantedTable returns seconds and sizes by status.
func plantedTable(rows []plantedRow) string {
	var b strings.Builder
	b.WriteString("| status | submissions | right | seconds, median | seconds, p95 | bytes, max |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
	statuses := map[string][]plantedRow{}
	for _, r := range rows {
		statuses[r.Status] = append(statuses[r.Status], r)
	}
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		var seconds []float64
		right, size := 0, 0
		for _, r := range statuses[status] {
			seconds, size = append(seconds, r.Seconds), max(size, r.Bytes)
			if r.Right {
				right++
			}
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %.2f | %.2f | %d |\n", status, len(seconds), right, stats.Median(seconds), stats.Quantile(seconds, 0.95), size)
	}
	return b.String()
}
