package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// errand is what is done besides sending reports, so that a place is reached.
type errand struct {
	steps     bool // the story has a step
	recent    bool // it is of these days, else of a month long ago
	elsewhere bool // it is not the server that dies
	once      bool // the place is passed once
	first     bool // the story begins with it
	prepare   func(*try)
	during    func(context.Context, *try) // fails where the server dies
	again     func(*try)                  // after all was started again
}

// errands by the beginnings of places.
var errands = []struct {
	prefix string
	errand errand
}{
	{"ingest.", errand{}},
	{"blob.", errand{}},
	{"partition.", errand{once: true, first: true}},
	{"resolve.", errand{once: true}},
	{"look.", errand{steps: true, once: true}},
	{"queue.", errand{once: true, during: asking("sweep")}},
	{"compact.", errand{steps: true, once: true, during: asking("compact"), again: compacted}},
	{"retain.", errand{once: true, prepare: oldBranch, during: asking("retain"), again: branchGone}},
	{"collect.rows-gone", errand{once: true, prepare: unusedBlob, during: asking("retain"), again: collected}},
	{"collect.orphan", errand{once: true, prepare: orphan, during: asking("collect"), again: collected}},
	{"delete.", errand{once: true, prepare: secondProject, during: deleteSecond, again: secondGone}},
	{"login.", errand{once: true, during: logIn, again: loggedIn}},
	{"key.", errand{once: true, during: makeKey, again: madeKey}},
	{"audit.", errand{once: true, during: makeKey, again: madeKey}},
	{"token.", errand{once: true, prepare: jobsMaySend, during: sendAsJob}},
	{"tell.", errand{steps: true, recent: true, once: true, prepare: addHook, during: sweepUntilFired, again: told}},
	{"deliver.", errand{steps: true, recent: true, once: true, prepare: addHook, during: sweepUntilFired, again: told}},
	{"spool.", errand{elsewhere: true, once: true, during: pawlPush, again: pawlPushed}},
	{"push.", errand{elsewhere: true, once: true, during: pawlPush, again: pawlPushed}},
	{"migrate.", errand{elsewhere: true, once: true, prepare: emptyDatabase, during: migrate, again: migrated}},
}

func errandOf(point string) (errand, bool) {
	for _, e := range errands {
		if strings.HasPrefix(point, e.prefix) {
			return e.errand, true
		}
	}
	return errand{}, false
}

// asking asks for one of the things that the server does from time to time.
func asking(what string) func(context.Context, *try) {
	return func(ctx context.Context, y *try) {
		for !y.w.fired() && ctx.Err() == nil {
			_ = y.w.tryAsk(ctx, what) // the database may be dead by now
			for end := time.Now().Add(5 * time.Second); time.Now().Before(end) && !y.w.fired(); {
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
}

func sweepUntilFired(ctx context.Context, y *try) { asking("sweep")(ctx, y) }

// until asks for things until something holds.
func (y *try) until(what string, holds func() bool, ask ...string) {
	y.t.Helper()
	var asked time.Time
	await.TrueWithin(y.t, patience, what, func() bool {
		time.Sleep(150 * time.Millisecond) // each question is a connection
		if holds() {
			return true
		}
		if time.Since(asked) > 2*time.Second {
			asked = time.Now()
			for _, a := range ask {
				y.w.ask(y.t, a)
			}
		}
		return false
	})
}

// do is a request with the project's key.
func (y *try) do(method, path, key string, body []byte) (int, string, error) {
	return y.w.do(y.t.Context(), method, path, key, body)
}

func (w *world) do(ctx context.Context, method, path, key string, body []byte) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// compacted waits until all points are in tiles: the story is of a month long ago.
func compacted(y *try) {
	y.quiet()
	y.until("all points to be in tiles", func() bool {
		return y.w.count(y.t, `select count(*) from pawl.point where project_id = $1`, y.id) == 0
	}, "compact")
}

// addHook lets the project be told. Through the API it would have to be https.
func addHook(y *try) {
	y.w.store(y.t, func(s *store.Store) {
		if _, err := s.AddHook(y.t.Context(), y.id, alert.Hook{Kind: "json", URL: y.w.inbox.URL + "/" + y.slug, Secret: "secret"}); err != nil {
			y.t.Fatal(err)
		}
	})
}

// told waits until people know what there is to know. A delivery that was under way when
// its server or its database died is another's after ten minutes: they are let pass.
func told(y *try) {
	y.quiet()
	began := time.Now()
	y.until("people to be told", func() bool {
		if time.Since(began) > 15*time.Second {
			began = time.Now()
			y.w.exec(y.t, `update river.river_job set attempted_at = attempted_at - interval '10 minutes' where state = 'running' and kind = 'deliver'`)
		}
		return y.w.inbox.deliveries("/"+y.slug) > 0 && y.w.count(y.t, `select count(*) from pawl.event_group where project_id = $1 and told is null`, y.id) == 0
	}, "sweep")
}

func makeKey(_ context.Context, y *try) {
	_, _, _ = y.do("POST", "/v1/projects/"+y.slug+"/keys", y.key, []byte(`{"name":"second","scopes":["read"]}`))
}

// madeKey makes another, which works.
func madeKey(y *try) {
	code, text, err := y.do("POST", "/v1/projects/"+y.slug+"/keys", y.key, []byte(`{"name":"third","scopes":["read"]}`))
	var made struct {
		Key string `json:"key"`
	}
	if err != nil || code != http.StatusCreated || json.Unmarshal([]byte(text), &made) != nil {
		y.problem("making a key again: %d %s %v", code, text, err)
		return
	}
	if code, text, err := y.do("GET", "/v1/projects/"+y.slug, made.Key, nil); err != nil || code != http.StatusOK {
		y.problem("the new key does not open: %d %s %v", code, text, err)
	}
}

func logIn(_ context.Context, y *try) { _, _ = y.w.login(y.t, y.slug) }

// loggedIn logs in again: one account, and a login that counts.
func loggedIn(y *try) {
	cookie, err := y.w.login(y.t, y.slug)
	if err != nil {
		y.problem("logging in again: %v", err)
		return
	}
	if n := y.w.count(y.t, `select count(*) from pawl.account where subject = $1`, y.slug); n != 1 {
		y.problem("the person has %d accounts", n)
	}
	if n := y.w.count(y.t, `select count(*) from pawl.login where hash = sha256($1::text::bytea)`, cookie.Value); n != 1 {
		y.problem("the login of the cookie is there %d times", n)
	}
}
