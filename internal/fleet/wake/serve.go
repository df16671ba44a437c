package wake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server drives the state: it passes events to it and runs the resulting actions.
type Server struct {
	Config  *Config
	Secret  []byte // of the webhook
	Headers Headers
	Jobs    func(ctx context.Context, repo string) ([]Job, error) // waiting and running jobs
	Now     func() time.Time
	Log     func(format string, args ...any)

	store  *Store
	state  *State
	events chan message
	work   sync.WaitGroup // running commands
}

// message is an event, with a channel to report that it is on disk.
type message struct {
	event Event
	saved chan error // nil if no caller waits
}

const (
	tick            = time.Second
	saveTimeout     = 5 * time.Second  // how long a delivery waits for the disk
	shutdownTimeout = 10 * time.Second // how long commands may take to end on shutdown
)

// Serve runs until ctx ends. It leaves hosts as they are.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	store, state, err := OpenStore(s.Config.StateFile())
	if err != nil {
		return err
	}
	defer store.Close()
	s.store, s.state, s.events = store, state, make(chan message)
	s.state.Recover(s.Config, s.Now())

	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	web := &http.Server{
		Handler:           s.routes(inner),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      20 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
	go func() { failed <- web.Serve(listener) }()
	go s.poll(inner)
	err = s.loop(inner, failed)
	cancel()
	_ = web.Close() // waiting deliveries fail, and the forge or the next poll repeats them
	return err
}

func (s *Server) routes(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/webhook", newReceiver(s.Secret, s.Headers, s.Log, func(d Delivery) error {
		m := message{d, make(chan error, 1)}
		timeout := time.NewTimer(saveTimeout)
		defer timeout.Stop()
		select {
		case s.events <- m:
		case <-timeout.C:
			return errors.New("the loop is busy")
		case <-ctx.Done():
			return ctx.Err()
		}
		return <-m.saved
	}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

// loop processes events. It saves the state before it answers and acts.
func (s *Server) loop(ctx context.Context, failed <-chan error) error {
	every := tick
	for _, h := range s.Config.Hosts {
		every = min(every, h.Ask)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	commands, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	s.processBatch(commands, message{event: Tick{}})
	for {
		select {
		case m := <-s.events:
			s.processBatch(commands, m)
		case <-ticker.C:
			s.processBatch(commands, message{event: Tick{}})
		case err := <-failed:
			return fmt.Errorf("cannot listen for webhooks: %w", err)
		case <-ctx.Done():
			return s.shutdown(stop)
		}
	}
}

// processBatch processes an event and all others that are pending, with a single write.
func (s *Server) processBatch(ctx context.Context, first message) {
	var actions []Action
	batch := append([]message{first}, s.pending()...)
	for _, m := range batch {
		list, said := s.state.Step(s.Config, m.event, s.Now())
		actions = append(actions, list...)
		for _, text := range said {
			s.Log("%s", text)
		}
	}
	err := s.store.Save(s.state)
	if err != nil {
		s.Log("%v: no host is started until the state is saved", err)
	}
	for _, m := range batch {
		if m.saved != nil {
			m.saved <- err
		}
	}
	for _, a := range actions {
		s.act(ctx, a, err)
	}
}

func (s *Server) pending() (list []message) {
	for range 64 {
		select {
		case m := <-s.events:
			list = append(list, m)
		default:
			return list
		}
	}
	return list
}

// act runs an action in the background.
func (s *Server) act(ctx context.Context, a Action, unsaved error) {
	hc := s.Config.Host(a.Host)
	run := Runner{s.Config}
	s.work.Go(func() {
		var e Event
		switch {
		case a.Kind == Ask:
			power, why, busy := run.Ask(ctx, hc)
			e = StatusResult{Host: a.Host, Turn: a.Turn, Power: power, Why: why, Busy: busy}
		case a.Kind == Start && unsaved != nil:
			e = Ended{Host: a.Host, Kind: Start, Why: unsaved.Error()}
		default:
			e = Ended{Host: a.Host, Kind: a.Kind, Why: run.Move(ctx, hc, a.Kind)}
		}
		select {
		case s.events <- message{event: e}:
		case <-ctx.Done():
		}
	})
}

// shutdown waits for running commands to end, and saves their results.
func (s *Server) shutdown(stop context.CancelFunc) error {
	all := make(chan struct{})
	go func() { s.work.Wait(); close(all) }()
	timeout := time.NewTimer(shutdownTimeout)
	defer timeout.Stop()
	for {
		select {
		case m := <-s.events:
			if e, ok := m.event.(Ended); ok {
				s.state.ended(s.Config.Host(e.Host), e, s.Now())
			}
			if m.saved != nil {
				m.saved <- errors.New("pawl wake is stopping")
			}
		case <-timeout.C:
			stop()
			<-all
			return s.store.Save(s.state)
		case <-all:
			return s.store.Save(s.state)
		}
	}
}

// poll regularly asks the forge for the jobs of every repository.
func (s *Server) poll(ctx context.Context) {
	said := map[string]string{}
	for {
		began := time.Now()
		for _, repo := range s.Config.Forge.Repositories {
			p := Poll{Repo: repo, Began: s.Now()}
			one, cancel := context.WithTimeout(ctx, time.Minute)
			jobs, err := s.Jobs(one, repo)
			cancel()
			if ctx.Err() != nil {
				return
			}
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != said[repo] {
				said[repo] = text
				if text == "" {
					text = "available again"
				}
				s.Log("jobs of %s: %s", repo, text)
			}
			if err != nil {
				continue
			}
			p.Jobs = jobs
			select {
			case s.events <- message{event: p}:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-time.After(max(0, s.Config.Poll-time.Since(began))):
		case <-ctx.Done():
			return
		}
	}
}
