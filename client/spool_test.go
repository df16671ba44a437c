package client_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
)

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestSpoolKeepsUntilDone(t *testing.T) {
	s := newSender(t)
	if list, err := s.spool.Pending(); err != nil || len(list) != 0 {
		t.Fatalf("an empty spool: %v, %v", list, err)
	}
	p := s.add(t)
	list, err := s.spool.Pending()
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	q := list[0]
	if q.Key != p.Key || q.To != s.destination() || !bytes.Equal(q.Body, p.Body) || q.Key != client.Key(example(1)) {
		t.Errorf("%+v", q)
	}
	for _, b := range q.Blobs {
		r, err := q.Open(b)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		_ = r.Close()
		if err != nil || digestOf(string(data)) != b.Digest {
			t.Errorf("%s: %q, %v", b.Name, data, err)
		}
	}
	for range 2 { // the second time it is gone, which is as good
		if err := s.spool.Done(q); err != nil {
			t.Fatal(err)
		}
	}
	if names := names(t, s.spool.Dir); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// The first report of a run stays: perhaps the server has it already.
func TestSpoolKeepsTheFirstOfARun(t *testing.T) {
	s := newSender(t)
	first := s.add(t)
	r := example(5)
	r.Blobs = nil
	second, err := s.spool.Add(s.destination(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Body, second.Body) {
		t.Error("the second took its place")
	}
	elsewhere := client.Destination{Server: s.URL, Project: "other"}
	if _, err := s.spool.Add(elsewhere, r, nil); err != nil {
		t.Fatal(err)
	}
	if list, err := s.spool.Pending(); err != nil || len(list) != 2 {
		t.Errorf("%d wait, %v", len(list), err)
	}
}

func TestSpoolIsInTheOrderOfRuns(t *testing.T) {
	s := newSender(t)
	for _, run := range []string{"01JCPT3Y3JQK6Z0Q8W3V5N7D9H", "01JCPT3Y3JQK6Z0Q8W3V5N7D9F", "01JCPT3Y3JQK6Z0Q8W3V5N7D9G"} {
		r := example(1)
		r.Run, r.Blobs = run, nil
		if _, err := s.spool.Add(s.destination(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.spool.Pending()
	if err != nil || len(list) != 3 || !strings.HasSuffix(list[0].Run, "F") || !strings.HasSuffix(list[2].Run, "H") {
		t.Errorf("%v, %v", list, err)
	}
}

func TestSpoolSetsAside(t *testing.T) {
	s := newSender(t)
	for range 2 {
		p := s.add(t)
		where, err := s.spool.Reject(p, "409: other contents")
		if err != nil {
			t.Fatal(err)
		}
		if why, err := os.ReadFile(filepath.Join(where, "refused.txt")); err != nil || string(why) != "409: other contents\n" {
			t.Errorf("%q, %v", why, err)
		}
		if list, err := s.spool.Pending(); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	}
}

// What a process left behind that was killed is no report, and goes in time.
func TestSpoolSweeps(t *testing.T) {
	s := newSender(t)
	s.add(t)
	for _, name := range []string{".new-1", ".done-1"} {
		if err := os.MkdirAll(filepath.Join(s.spool.Dir, name, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(s.spool.Dir, name), now, now); err != nil {
			t.Fatal(err)
		}
	}
	pending := func() string {
		list, err := s.spool.Pending()
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		return strings.Join(names(t, s.spool.Dir), " ")
	}
	if got := pending(); !strings.Contains(got, ".new-1") || strings.Contains(got, ".done-1") {
		t.Errorf("at once: %s", got)
	}
	s.at = now.Add(25 * time.Hour)
	if got := pending(); strings.Contains(got, ".new-1") {
		t.Errorf("a day later: %s", got)
	}
}

// One that is damaged is told, and does not hold up the others.
func TestSpoolTellsWhatIsDamaged(t *testing.T) {
	s := newSender(t)
	s.add(t)
	bad := filepath.Join(s.spool.Dir, "01JCPT3Y3JQK6Z0Q8W3V5N7D9A-00000000")
	if err := os.Mkdir(bad, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"to.json": "{}", "report.json": "{"} {
		if err := os.WriteFile(filepath.Join(bad, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.spool.Pending()
	if len(list) != 1 || err == nil || !strings.Contains(err.Error(), bad) {
		t.Errorf("%v, %v", list, err)
	}
}

func TestSpoolRefuses(t *testing.T) {
	s := newSender(t)
	r := example(1)
	r.Suite = ""
	if _, err := s.spool.Add(s.destination(), r, nil); err == nil || !strings.Contains(err.Error(), "/suite") {
		t.Errorf("a report that is wrong: %v", err)
	}
	r, list := example(1), files(t)
	r.Blobs = []client.Blob{list[1].Blob}
	if err := os.WriteFile(list[1].Path, []byte("a profilE"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.spool.Add(s.destination(), r, list); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("a file that changed: %v", err)
	}
	if left := names(t, s.spool.Dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	info, err := os.Stat(s.spool.Dir)
	if err != nil || info.Mode().Perm() != fs.FileMode(0o700) {
		t.Errorf("others may cannot read the spool: %v, %v", info.Mode(), err)
	}
}

func TestSpoolOfManyAtOnce(t *testing.T) {
	s := newSender(t)
	var wait sync.WaitGroup
	for range 8 {
		r, list := example(3), files(t)
		r.Blobs = []client.Blob{list[0].Blob, list[1].Blob}
		wait.Go(func() {
			if _, err := s.spool.Add(s.destination(), r, list); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if left := names(t, s.spool.Dir); len(left) != 1 {
		t.Errorf("%v", left)
	}
}
