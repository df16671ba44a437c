package page

import (
	"context"
	_ "embed" // the page's parts
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

var (
	//go:embed html/checklist.html
	checklistText string
	//go:embed html/live.js
	liveScript string
	//go:embed html/icon.svg
	icon []byte

	checklistPage = parsed("checklist", checklistText)
)

// Checklist is the gates of the session in a browser, as they stand: a page that only
// shows. It answers on this machine and to this machine's own pages alone.
type Checklist struct {
	// Look says where the work stands now.
	Look func(context.Context) (State, error)
	// Version changes whenever Look may say something new. It is asked often.
	Version func() string
	// Every is how often a page that is open is told whether there is something new, and
	// Again how often it looks without that, for what passes with time: both have a good
	// value where they are 0.
	Every, Again time.Duration
}

// shownEvents is how much of a session the checklist tells; the page of the session has all.
const shownEvents = 60

// checklistView is the page. Its timeline has the newest first.
type checklistView struct {
	frame
	board
	Title    string
	Timeline []event
	Left     int
	Seen     string
	Problem  string
}

// Handler serves the page, and what makes it live.
func (c Checklist) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", c.page)
	mux.HandleFunc("GET /events", c.events(newPlaces(mostReaders)))
	mux.HandleFunc("GET /icon.svg", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write(icon)
	})
	return guarded(mux)
}

func (c Checklist) page(w http.ResponseWriter, r *http.Request) {
	state, err := c.Look(r.Context())
	if errors.Is(err, context.Canceled) {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
	_ = write(w, checklistPage, "the checklist", newChecklistView(state, err)) // who went away is not told
}

func newChecklistView(s State, problem error) checklistView {
	v := checklistView{
		frame: frame{Style: template.CSS(style()), Script: template.JS(liveScript)}, //nolint:gosec // both are ours
		board: newBoard(s), Title: "Checklist", Seen: clock(s.Now),
	}
	if problem != nil {
		v.Problem = words.Sanitize(problem.Error())
	}
	if s.Session == nil {
		return v
	}
	if v.Head.Goal != "" {
		v.Title = v.Head.Goal
	}
	all := timeline(s.Session)
	for i := len(all) - 1; i >= 0 && len(v.Timeline) < shownEvents; i-- {
		v.Timeline = append(v.Timeline, all[i])
	}
	v.Left = len(all) - len(v.Timeline)
	return v
}

// unseen is a version that there is not.
const unseen = "\x00"

// events tells an open page that there is something new, and nothing else: what is new it
// asks for like any other reader.
func (c Checklist) events(readers places) http.HandlerFunc {
	every, again := orElse(c.Every, 300*time.Millisecond), orElse(c.Again, time.Minute)
	return func(w http.ResponseWriter, r *http.Request) {
		if !readers.take() {
			http.Error(w, "too many pages are open: close one", http.StatusServiceUnavailable)
			return
		}
		defer readers.give()
		w.Header().Set("Content-Type", "text/event-stream")
		tell := http.NewResponseController(w)
		if _, err := w.Write([]byte("retry: 2000\n\n")); err != nil || tell.Flush() != nil {
			return
		}
		look, late := time.NewTicker(every), time.NewTicker(again)
		defer look.Stop()
		defer late.Stop()
		last, n := unseen, 0 // what happened since the page was made is not missed
		for {
			if now := c.Version(); now != last {
				last = now
				n++
				if _, err := w.Write([]byte("event: changed\ndata: " + strconv.Itoa(n) + "\n\n")); err != nil || tell.Flush() != nil {
					return
				}
			}
			select {
			case <-r.Context().Done():
				return
			case <-look.C:
			case <-late.C:
				last = unseen
			}
		}
	}
}

func orElse(d, other time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return other
}

// mostReaders is how many pages may be open at once: each is asked for several times a
// second.
const mostReaders = 16

// places are a number of things that can be taken and given back.
type places chan struct{}

func newPlaces(n int) places { return make(places, n) }

func (p places) take() bool {
	select {
	case p <- struct{}{}:
		return true
	default:
		return false
	}
}

func (p places) give() { <-p }
