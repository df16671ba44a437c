package server

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

const (
	streamsInAll    = 256
	streamsAProject = 32
	// streamBeat keeps proxies between server and browser from closing a quiet stream.
	streamBeat = 15 * time.Second
	// streamFor is how long a stream lasts. The browser reconnects by itself, and its access is then
	// checked again.
	streamFor = 10 * time.Minute
)

var liveName = lazyregexp.New(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)

func nameOf(r *http.Request) (string, error) {
	name := r.PathValue("run")
	if !liveName.MatchString(name) {
		return "", problem(http.StatusNotFound, "not-found", "there is no such live run: the name must be a ULID, 26 letters and digits")
	}
	return name, nil
}

// errNoLive is the error for an unknown live run.
func errNoLive() error {
	return problem(http.StatusNotFound, "not-found", "this server has no such live run: it may be over, or be sent to another server")
}

// postLive receives events of a running run. They are kept only in memory.
func (s *Server) postLive(w http.ResponseWriter, r *http.Request, _ store.Project) error {
	name, err := nameOf(r)
	if err != nil {
		return err
	}
	from := requestInfoOf(r).sender
	body, release, err := s.readBody(w, r, from.project.ID, client.MaxLiveBytes)
	if err != nil {
		return err
	}
	defer release()
	if err := s.grant(r, from, sha256.Sum256(body)); err != nil {
		return err
	}
	events, err := client.DecodeLive(body, s.now())
	if e, ok := errors.AsType[*client.InvalidError](err); ok {
		return badRequest("events: %s", words.Sanitize(e.Pointer+" "+e.Reason))
	}
	if err != nil {
		return badRequest("events: %s", words.Sanitize(err.Error()))
	}
	heard, ok := s.lives.addEvents(from.project.ID, name, from.name(), from.blobLane() == client.Fork, events)
	if !ok {
		return problem(http.StatusConflict, "conflict", "another sender already reports a run of this name")
	}
	return answer(w, http.StatusOK, client.LiveAck{LastEvent: heard, URL: s.url.JoinPath("p", from.project.Slug, "live", name).String()})
}

// name distinguishes senders: each run of a CI job has its own name, so forks cannot add to the runs of
// others. All keys of the project share one name, because their holders are trusted.
func (f *sender) name() string {
	if f.key != nil {
		return "key"
	}
	c := f.grant.Claims
	return fmt.Sprintf("job %s %d %s %s", c.Issuer, c.RepositoryID, c.RunID, c.RunAttempt)
}

func (s *Server) listLive(w http.ResponseWriter, r *http.Request, p store.Project) error {
	return show(w, r, page[client.LiveRun]{Items: s.lives.list(p.ID)})
}

func (s *Server) getLive(w http.ResponseWriter, r *http.Request, p store.Project) error {
	run, err := s.liveOf(r, p)
	if err != nil {
		return err
	}
	return show(w, r, run)
}

func (s *Server) liveOf(r *http.Request, p store.Project) (client.LiveRun, error) {
	name, err := nameOf(r)
	if err != nil {
		return client.LiveRun{}, err
	}
	run, there := s.lives.get(p.ID, name)
	if !there {
		return client.LiveRun{}, errNoLive()
	}
	return run, nil
}

// streamLive sends the events of a run as they arrive, as server-sent events (HTML standard): those after
// Last-Event-ID, or all that are kept.
func (s *Server) streamLive(w http.ResponseWriter, r *http.Request, p store.Project) error {
	name, err := nameOf(r)
	if err != nil {
		return err
	}
	last, _ := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 32) // if it is not a number, start from the beginning
	events, _, over, there := s.lives.after(p.ID, name, last)
	switch {
	case !there:
		return errNoLive()
	case over && len(events) == 0: // tells a browser not to reconnect
		w.WriteHeader(http.StatusNoContent)
		return nil
	case !s.lives.enter(p.ID, streamsAProject, streamsInAll):
		return problem(http.StatusServiceUnavailable, "busy", "too many clients are following live runs: request the run itself from time to time instead").after(5 * time.Second)
	}
	defer s.lives.leave(p.ID)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // keeps nginx from buffering
	w.WriteHeader(http.StatusOK)
	requestInfoOf(r).begun = max(1, s.now().Sub(requestInfoOf(r).began)) // viewing time is not a measure of the server
	s.stream(w, r, p.ID, name, last)
	return nil
}

// stream writes events until the run is over, the client disconnects, or the server shuts down.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, project int64, name string, last int64) {
	control := http.NewResponseController(w)
	end := time.NewTimer(streamFor)
	defer end.Stop()
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	for {
		events, more, over, there := s.lives.after(project, name, last)
		var text bytes.Buffer
		for _, e := range events {
			fmt.Fprintf(&text, "id: %d\nevent: %s\ndata: %s\n\n", e.n, e.kind, e.text)
			last = e.n
		}
		if text.Len() == 0 {
			text.WriteString(": still there\n\n")
		}
		if _, err := w.Write(text.Bytes()); err != nil || control.Flush() != nil || over || !there {
			return
		}
		select {
		case <-more:
		case <-beat.C:
		case <-end.C:
			return
		case <-r.Context().Done():
			return
		case <-s.draining:
			return
		}
	}
}

// Drain ends open streams, which would otherwise last as long as the client likes. Call it on shutdown.
func (s *Server) Drain() { s.drain.Do(func() { close(s.draining) }) }
