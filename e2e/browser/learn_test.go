package browser_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

// The pages of the learning loop: the checklist follows the session, the guide prints on
// one sheet, and the page of a session needs no script. PAWL_PICTURES=FOLDER keeps pictures
// for the docs.
func TestLearnPages(t *testing.T) {
	folder := filepath.Join("..", "..", "internal", "learn", "page", "testdata")
	stopped, done := readSession(t, filepath.Join(folder, "stopped.jsonl")), readSession(t, filepath.Join(folder, "agent.jsonl"))
	cards := gpu.FindCards("L4")
	arch, err := gpu.FindArch("sm_89")
	if err != nil || len(cards) == 0 {
		t.Fatal(err)
	}
	var entries atomic.Int64 // of the stopped session, that have happened
	entries.Store(int64(len(stopped.Entries) - 3))
	look := func(context.Context) (page.State, error) { return stateAfter(stopped, int(entries.Load())), nil }
	version := func() string { return time.Duration(entries.Load()).String() }
	checklist := page.Checklist{Look: look, Version: version, Every: 20 * time.Millisecond}.Handler()
	mux := http.NewServeMux()
	mux.Handle("/", checklist)
	mux.HandleFunc("/guide", func(w http.ResponseWriter, r *http.Request) {
		state, _ := look(r.Context())
		if r.URL.Query().Has("plain") {
			state = page.State{Set: gates.All()}
		}
		_ = page.Guide{State: state, Device: page.NewDevice("L4", &cards[0], arch)}.HTML(w)
	})
	mux.HandleFunc("/session", func(w http.ResponseWriter, _ *http.Request) { _ = page.Session(w, done, nil, done.Began) })
	mux.HandleFunc("/happen", func(http.ResponseWriter, *http.Request) { entries.Store(int64(len(stopped.Entries))) }) // what the test does, not the page
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	tell(t, browse(t, "learn.mjs", map[string]any{"url": server.URL, "pictures": os.Getenv("PAWL_PICTURES")}))
}

func readSession(t *testing.T, path string) *journal.Session {
	t.Helper()
	s, err := journal.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stateAfter is where the session stood after its first n entries.
func stateAfter(s *journal.Session, n int) page.State {
	then := *s
	then.Entries = s.Entries[:n]
	set := gates.All()
	status := set.Look(gates.Learn(&then), then.Entries)
	return page.State{Session: &then, Set: set, Status: status, Next: gates.Next(status), Now: then.Entries[n-1].Time}
}
