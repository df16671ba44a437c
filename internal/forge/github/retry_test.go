package github_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
)

// How long a read waits before it is repeated, by what GitHub documents of its limits.
func TestWaitsAsAsked(t *testing.T) {
	at := func(c *clock, d time.Duration) string { return strconv.FormatInt(c.time().Add(d).Unix(), 10) }
	secondary := `{"message":"You have exceeded a secondary rate limit. Please wait."}`
	for _, tc := range []struct {
		name         string
		faults       int // in a row
		fault        func(c *clock) githubtest.Fault
		atLeast, max time.Duration
	}{
		{"Retry-After", 1, func(*clock) githubtest.Fault {
			return githubtest.Fault{Status: 429, Header: http.Header{"Retry-After": {"17"}}}
		}, 17 * time.Second, 25 * time.Second},
		{"Retry-After as a date", 1, func(c *clock) githubtest.Fault {
			return githubtest.Fault{Status: 429, Header: http.Header{"Retry-After": {c.time().Add(20 * time.Second).Format(http.TimeFormat)}}}
		}, 20 * time.Second, 30 * time.Second},
		{"Retry-After of a secondary rate limit", 1, func(*clock) githubtest.Fault {
			return githubtest.Fault{Status: 403, Header: http.Header{"Retry-After": {"90"}}, Body: secondary}
		}, 90 * time.Second, 2 * time.Minute},
		{"used up until a time", 1, func(c *clock) githubtest.Fault {
			return githubtest.Fault{Status: 403, Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {at(c, 5*time.Minute)}}}
		}, 5 * time.Minute, 7 * time.Minute},
		{"used up, and the time is past", 1, func(c *clock) githubtest.Fault {
			return githubtest.Fault{Status: 429, Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {at(c, -time.Hour)}}}
		}, time.Second, 2 * time.Second},
		{"secondary limit", 1, func(*clock) githubtest.Fault { return githubtest.Fault{Status: 403, Body: secondary} }, time.Minute, 80 * time.Second},
		{"secondary limit, three times", 3, func(*clock) githubtest.Fault { return githubtest.Fault{Status: 403, Body: secondary} }, 7 * time.Minute, 9 * time.Minute},
		{"429 without a word", 1, func(*clock) githubtest.Fault { return githubtest.Fault{Status: 429} }, time.Minute, 80 * time.Second},
		{"502", 1, func(*clock) githubtest.Fault { return githubtest.Fault{Status: 502, Body: "<html>"} }, time.Second, 2 * time.Second},
		{"502, four times", 4, func(*clock) githubtest.Fault { return githubtest.Fault{Status: 502} }, 15 * time.Second, 20 * time.Second},
		{"503 that names the wait", 1, func(*clock) githubtest.Fault {
			return githubtest.Fault{Status: 503, Header: http.Header{"Retry-After": {"40"}}}
		}, 40 * time.Second, time.Minute},
		{"answer breaks off", 1, func(*clock) githubtest.Fault { return githubtest.Fault{Truncate: true} }, time.Second, 2 * time.Second},
		{"no JSON", 1, func(*clock) githubtest.Fault {
			return githubtest.Fault{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"number":`}
		}, time.Second, 2 * time.Second},
		{"connection is cut", 1, func(*clock) githubtest.Fault { return githubtest.Fault{} }, time.Second, 2 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := githubtest.New(t)
			c, clock := newClient(t, s)
			n := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
			left := tc.faults
			s.Fault(func(*http.Request, int) *githubtest.Fault {
				if left == 0 {
					return nil
				}
				left--
				f := tc.fault(clock)
				return &f
			})
			began := clock.time()
			if _, err := c.Pull(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			if took := clock.time().Sub(began); took < tc.atLeast || took > tc.max {
				t.Errorf("waited %s, not %s to %s", took, tc.atLeast, tc.max)
			}
		})
	}
}

func TestPatienceEnds(t *testing.T) {
	for name, fault := range map[string]githubtest.Fault{
		"down":    {Status: 503},
		"limited": {Status: 403, Body: `{"message":"You have exceeded a secondary rate limit"}`},
		"an hour": {Status: 403, Header: http.Header{"Retry-After": {"3600"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := githubtest.New(t)
			c, clock := newClient(t, s)
			s.Fault(func(*http.Request, int) *githubtest.Fault { return &fault })
			began := clock.time()
			_, err := c.Report(t.Context(), 1, forge.Section{Key: "a", Body: "x"})
			if !errors.Is(err, github.ErrBusy) {
				t.Errorf("%v", err)
			}
			if took := clock.time().Sub(began); took > 15*time.Minute {
				t.Errorf("it took %s", took)
			}
			if strings.Contains(err.Error(), s.Token) {
				t.Error("the error shows the token")
			}
		})
	}
}

// What GitHub refuses for good is not asked again.
func TestRefusalsAreFinal(t *testing.T) {
	for status, want := range map[int]error{401: github.ErrForbidden, 403: github.ErrForbidden, 404: github.ErrGone, 410: github.ErrGone, 422: github.ErrInvalid} {
		s := githubtest.New(t)
		c, clock := newClient(t, s)
		s.Fault(func(*http.Request, int) *githubtest.Fault {
			return &githubtest.Fault{Status: status, Body: `{"message":"no\u001b[31m\nway"}`}
		})
		began := clock.time()
		_, err := c.Pull(t.Context(), 1)
		if !errors.Is(err, want) || len(s.Requests()) != 1 || clock.time() != began {
			t.Errorf("%d: %v after %d requests", status, err, len(s.Requests()))
		}
		if strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%d: the message is not one harmless line: %q", status, err)
		}
	}
}

// GitHub asks for a second between writes.
func TestWritesArePaced(t *testing.T) {
	s := githubtest.New(t)
	c, clock := newClient(t, s)
	var last time.Time
	s.Fault(func(r *http.Request, _ int) *githubtest.Fault {
		if isWrite(r) {
			if gap := clock.time().Sub(last); !last.IsZero() && gap < time.Second {
				t.Errorf("%s %s came %s after the last write", r.Method, r.URL.Path, gap)
			}
			last = clock.time()
		}
		return nil
	})
	n := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
	for _, key := range []string{"a", "b", "c"} {
		if _, err := c.Report(t.Context(), n, forge.Section{Key: key, Body: "x"}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.SetCheck(t.Context(), forge.Check{Name: key, SHA: sha('a'), Status: forge.Queued}); err != nil {
			t.Fatal(err)
		}
	}
}

// The token goes to the API alone, also where that sends us elsewhere.
func TestTokenStaysHome(t *testing.T) {
	s := githubtest.New(t)
	var leaked string
	elsewhere := githubtest.New(t)
	elsewhere.Fault(func(r *http.Request, _ int) *githubtest.Fault {
		leaked += r.Header.Get("Authorization")
		return &githubtest.Fault{Status: 404}
	})
	s.Fault(func(*http.Request, int) *githubtest.Fault {
		return &githubtest.Fault{Status: http.StatusMovedPermanently, Header: http.Header{"Location": {elsewhere.URL + "/x"}}}
	})
	c, _ := newClient(t, s)
	if _, err := c.Pull(t.Context(), 1); err == nil {
		t.Error("no error")
	}
	if leaked != "" || len(elsewhere.Requests()) == 0 {
		t.Errorf("elsewhere got %q in %d requests", leaked, len(elsewhere.Requests()))
	}
}
