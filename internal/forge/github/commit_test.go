package github_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
)

func TestCommit(t *testing.T) {
	s := githubtest.New(t)
	c, _ := newClient(t, s)
	ctx := t.Context()
	s.AddFile("main", "README", "hello\n")
	main, _ := s.Branch("main")

	commit := func(change forge.Change) string {
		t.Helper()
		sha, err := c.Commit(ctx, change)
		if err != nil {
			t.Fatal(err)
		}
		return sha
	}
	has := func(branch, at string, want map[string]string) {
		t.Helper()
		sha, files := s.Branch(branch)
		if d := cmp.Diff(want, files); d != "" || sha != at {
			t.Errorf("%s is at %s, not %s: %s", branch, sha, at, d)
		}
	}

	// A branch of its own begins without history, or at a commit.
	first := commit(forge.Change{Branch: "pawl/baselines", Message: "first", Files: map[string][]byte{"a.json": []byte("1"), "b.bin": {0xff, 0}}})
	has("pawl/baselines", first, map[string]string{"a.json": "1", "b.bin": "\xff\x00"})
	topic := commit(forge.Change{Branch: "topic", From: main, Message: "from main", Files: map[string][]byte{"x": []byte("x")}})
	has("topic", topic, map[string]string{"README": "hello\n", "x": "x"})

	// A nil file is deleted; others stay.
	second := commit(forge.Change{Branch: "pawl/baselines", Message: "second", Files: map[string][]byte{"b.bin": nil, "c": {}}})
	has("pawl/baselines", second, map[string]string{"a.json": "1", "c": ""})
	if d := cmp.Diff([]string{"second", "first"}, s.Log("pawl/baselines")); d != "" {
		t.Error(d)
	}

	// What is there already makes no commit.
	if same := commit(forge.Change{Branch: "pawl/baselines", Message: "third", Files: map[string][]byte{"a.json": []byte("1")}}); same != second {
		t.Error("an empty commit was made")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Another client commits between the look and the write: its commit stays.
func TestCommit_OnTopOfAnother(t *testing.T) {
	s := githubtest.New(t)
	s.AddFile("ledger", "a", "1")
	done := false
	c, _ := newClient(t, s, func(c *github.Config) {
		c.HTTP = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPatch && !done {
				done = true
				s.AddFile("ledger", "theirs", "2")
			}
			return http.DefaultTransport.RoundTrip(r)
		})}
	})
	_, err := c.Commit(t.Context(), forge.Change{Branch: "ledger", Message: "ours", Files: map[string][]byte{"ours": []byte("3")}})
	if _, files := s.Branch("ledger"); err != nil || files["ours"] != "3" || files["theirs"] != "2" {
		t.Errorf("%v, %v", files, err)
	}
}

// Whatever is lost on the way, a change is committed once.
func TestCommitIsMadeOnce(t *testing.T) {
	for seed := range 40 {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		s := githubtest.New(t)
		c, _ := newClient(t, s)
		left := 8
		s.Fault(func(*http.Request, int) *githubtest.Fault {
			if left == 0 || rng.IntN(3) != 0 {
				return nil
			}
			left--
			all := []githubtest.Fault{{}, {AfterEffect: true}, {Status: 502, AfterEffect: true}, {Truncate: true}, {Status: 409}, {Status: 429, Header: http.Header{"Retry-After": {"2"}}}}
			return &all[rng.IntN(len(all))]
		})
		var want []string
		tip := ""
		for i := range 3 {
			sha, err := c.Commit(t.Context(), forge.Change{Branch: "ledger", Message: fmt.Sprint("change ", i), Files: map[string][]byte{"f": fmt.Append(nil, i)}})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			tip = sha
			want = append(want, fmt.Sprint("change ", i))
		}
		slices.Reverse(want)
		if d := cmp.Diff(want, s.Log("ledger")); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
		if sha, _ := s.Branch("ledger"); sha != tip {
			t.Fatalf("seed %d: the branch is not where the last commit is", seed)
		}
	}
}

func TestDraftIsOpenedOnce(t *testing.T) {
	for seed := range 20 {
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		s := githubtest.New(t)
		c, _ := newClient(t, s)
		s.AddFile("pawl/tune", "f", "x")
		s.AddPull(forge.Pull{Open: true, HeadRepo: 9, HeadBranch: "pawl/tune", HeadSHA: sha('a')}) // somebody's fork
		left := 4
		s.Fault(func(*http.Request, int) *githubtest.Fault {
			if left == 0 || rng.IntN(2) != 0 {
				return nil
			}
			left--
			all := []githubtest.Fault{{}, {AfterEffect: true}, {Status: 502, AfterEffect: true}, {Truncate: true}, {Status: 429}}
			return &all[rng.IntN(len(all))]
		})
		var numbers []int
		for _, body := range []string{"first", "second"} {
			p, err := c.OpenDraft(t.Context(), forge.Draft{Head: "pawl/tune", Base: "main", Title: "Tune", Body: body})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !p.Draft || !p.Open || p.Fork {
				t.Errorf("%+v", p)
			}
			numbers = append(numbers, p.Number)
		}
		if _, body := s.PullText(2); len(s.Pulls()) != 2 || numbers[0] != 2 || numbers[1] != 2 || body != "second" {
			t.Fatalf("seed %d: %v, %d pull requests, %q", seed, numbers, len(s.Pulls()), body)
		}
	}
}
