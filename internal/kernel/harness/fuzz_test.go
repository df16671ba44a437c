package harness

import (
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/mutate"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// FuzzReply: whatever a harness writes, reading it ends, and samples that come
// through are times.
func FuzzReply(f *testing.F) {
	for _, seed := range replySeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) { takeAnything(t, line) })
}

func TestHammerReply(t *testing.T) {
	var seeds [][]byte
	for _, s := range replySeeds {
		seeds = append(seeds, []byte(s))
	}
	mutate.Run(t, seeds, takeAnything)
}

var replySeeds = []string{
	`{"id":1,"op":"measure","count":2,"batch":1,"samples":[1,2],"wall":[1,2]}`,
	`{"id":1,"op":"samples","samples":[1]}`,
	`{"id":1,"op":"measure","error":{"code":"failed","message":"no"}}`,
	`{"id":1,"op":"measure","count":1,"samples":[1],"kept":[{"sample":0,"inputs":"/k/0-in.safetensors","outputs":"/k/0-out.safetensors"}]}`,
	`{"id":1,"op":"measure","count":1,"samples":[1],"values":[{"metric":"tok/s","unit":"tok/s","better":"higher","samples":[0,-1.5]}]}`,
	`{"id":2,"op":"measure"}`, `{}`, `[]`, `null`, `{"id":1,"op":"measure","samples":[1e999]}`,
	`{"id":1,"op":"measure","count":1,"samples":[-0]}`, "{\"id\":1,\"op\":\"measure\",\"error\":{\"message\":\"\x1b[2J\"}}",
}

func takeAnything(t testing.TB, line []byte) {
	t.Helper()
	if len(line) == 0 {
		return // the reader never passes an empty line on
	}
	done := make(chan struct{})
	close(done)
	p := &process{cmd: exec.Command("true"), tail: newTail(nil), done: done}
	p.once.Do(func() {}) // there is no process to kill
	s := &Session{process: p, lastID: 1}
	var reply, parts Measured
	finished, err := s.handleMessage(line, opMeasure, "measure x", &reply, &parts)
	if err != nil {
		if !finished {
			t.Error("an error that leaves the session waiting")
		}
		for _, r := range err.Error() {
			if r == '\x1b' {
				t.Error("an escape sequence reaches the terminal")
			}
		}
		return
	}
	if !finished || s.checkMeasured("measure x", Measure{Samples: 1}, reply) != nil {
		return
	}
	if keep := (&Keep{Dir: "/k", Count: 1}); s.checkKept("measure x", keep, reply) == nil {
		for _, k := range reply.Kept {
			if !strings.HasPrefix(filepath.Clean(k.Inputs), "/k/") || !strings.HasPrefix(filepath.Clean(k.Outputs), "/k/") || k.Sample >= len(reply.Samples) {
				t.Errorf("a kept sample %+v came through", k)
			}
		}
	}
	for _, v := range reply.Values {
		if !suite.ValidMetric(v.Metric) || v.Unit == "" || len(v.Samples) == 0 || slices.ContainsFunc(v.Samples, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			t.Errorf("values %+v came through", v)
		}
	}
	for _, v := range reply.Samples {
		if !(v > 0) || math.IsInf(v, 0) {
			t.Errorf("a sample of %v came through", v)
		}
	}
}
