package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// cases is how many points a report has.
const cases = 5

// story makes the reports of one project: a commit an hour, and a step at one of them.
type story struct {
	n    int       // of all stories of a world
	base time.Time // of the first commit
	step int       // the first commit of the new level
}

func (s story) at(i int) time.Time { return s.base.Add(time.Duration(i) * time.Hour) }

func (s story) sha(i int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d", s.n, i))
	return hex.EncodeToString(sum[:20])
}

func (s story) run(i int) string { return fmt.Sprintf("01K%05d%018d", s.n, i) }

func (s story) value(i, c int) float64 {
	level := 100 + float64(c)
	if i >= s.step {
		level *= 1.3
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%d", s.n, i, c))
	return level * (1 + float64(sum[0])/255/500)
}

// report is the i-th, on the default branch.
func (s story) report(i int) *client.Report {
	at := s.at(i)
	r := &client.Report{
		Schema: client.SchemaReport, Run: s.run(i), Measured: at.Add(time.Minute), Pawl: "0.8.0", Suite: "kernels", Branch: "main",
		Commit: client.Commit{SHA: s.sha(i), Parent: s.sha(i - 1), At: &at, Author: "ada", Title: "make it fast"},
		Trust:  measure.Checked, Device: gpu.Identity{Kind: gpu.NVIDIA, Name: "L4"}, Testbed: measure.Testbed{Kind: gpu.NVIDIA, Device: "L4", Driver: "570.1"}, Verdict: "maintained", Sentence: "nothing moved",
	}
	for c := range cases {
		v := s.value(i, c)
		r.Points = append(r.Points, client.Point{
			CaseKey: measure.CaseKey{Benchmark: "matmul", Config: fmt.Sprintf("N%d", c), Implementation: measure.Candidate},
			Unit:    "ns", Timer: measure.TimerDevice, Value: v, Low: v * 0.99, High: v * 1.01, Spread: 0.01, Rounds: 8,
		})
	}
	return r
}

// withFile gives a report a file of some bytes that no other has.
func withFile(r *client.Report) []client.File {
	data := []byte(strings.Repeat(r.Run+"\n", 100))
	b := client.Blob{Digest: digestOf(data), Size: int64(len(data)), Kind: client.BlobProfile, Name: "profile"}
	r.Blobs = []client.Blob{b}
	return []client.File{{Blob: b, Data: data}}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// notes are what senders were told. A line is on the disk before the sender forgets.
type notes struct {
	mu   sync.Mutex
	path string
}

func (n *notes) add(r client.Receipt) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	f, err := os.OpenFile(n.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s %d %d\n", r.Run, r.Report, r.Points); err != nil {
		return err
	}
	return f.Sync()
}

// acknowledged reads them back: the receipt by run.
func (n *notes) acknowledged(t *testing.T) map[string]client.Receipt {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	text, err := os.ReadFile(n.path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	list := map[string]client.Receipt{}
	for line := range strings.Lines(string(text)) {
		var r client.Receipt
		if _, err := fmt.Sscanf(line, "%s %d %d", &r.Run, &r.Report, &r.Points); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if before, twice := list[r.Run]; twice && before != r {
			t.Errorf("run %s has two receipts: %+v and %+v", r.Run, before, r)
		}
		list[r.Run] = r
	}
	return list
}

// sender is a program that measures and pushes, with a spool of its own.
type sender struct {
	spool  client.Spool
	to     client.Destination
	client *client.Client
	notes  *notes
}

func newSender(dir, url, project, key string, n *notes) *sender {
	return &sender{
		spool: client.Spool{Dir: filepath.Join(dir, "spool-"+project), Now: time.Now}, to: client.Destination{Server: url, Project: project}, notes: n,
		client: &client.Client{
			URL: url, Project: project, Now: time.Now, Patience: patience, Agent: "pawl/0.8.0",
			Token: func(context.Context, string) (string, error) { return key, nil },
			Sleep: func(ctx context.Context, d time.Duration) error { // tests have no half minutes
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(min(d, 50*time.Millisecond+rand.N(100*time.Millisecond))):
					return nil
				}
			},
		},
	}
}

// push does what pawl push does.
func (s *sender) push(ctx context.Context, r *client.Report, files []client.File) error {
	p, err := s.spool.Add(s.to, r, files)
	if err != nil {
		return err
	}
	receipt, err := s.client.Push(ctx, p)
	if err != nil {
		return err
	}
	receipt.URL, receipt.Lane, receipt.Again, receipt.Received = "", "", false, time.Time{}
	if err := s.notes.add(receipt); err != nil {
		return err
	}
	return s.spool.Done(p)
}
