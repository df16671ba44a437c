package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// Limits of a comparison of runs.
const (
	runsOffered  = 50  // to pick from
	runsOfCommit = 200 // looked at
	pairsShown   = 8
	casesShown   = 500 // per pair
)

// compareRuns compares two runs, or the runs of two commits on the testbeds that they share. Without a and b it
// shows what to pick from.
func (s *Server) compareRuns(ctx context.Context, p store.Project, a, b string) (web.View, error) {
	recent, err := s.store.Runs(ctx, p.ID, store.RunQuery{Limit: runsOffered})
	if err != nil {
		return nil, err
	}
	latestFirst(recent)
	v := web.CompareRuns{Recent: recent}
	if v.Beds, err = s.beds(ctx, p); err != nil {
		return nil, err
	}
	var ofA, ofB []client.Run
	if v.A, ofA, err = s.runsMeant(ctx, p, a); err != nil {
		return nil, err
	}
	if v.B, ofB, err = s.runsMeant(ctx, p, b); err != nil {
		return nil, err
	}
	pairs := pairRuns(ofA, ofB)
	v.MorePairs = max(0, len(pairs)-pairsShown)
	for _, pair := range pairs[:min(len(pairs), pairsShown)] {
		one, err := s.comparePair(ctx, p, pair[0], pair[1])
		if err != nil {
			return nil, err
		}
		v.Pairs = append(v.Pairs, one)
	}
	titles, err := s.titles(ctx, p, slices.DeleteFunc([]string{v.A.Commit, v.B.Commit}, func(sha string) bool { return sha == "" }))
	v.A.Title, v.B.Title = titles[v.A.Commit], titles[v.B.Commit]
	return v, err
}

// runsMeant returns the runs that a side of a comparison names: run-N, or the start of a commit.
func (s *Server) runsMeant(ctx context.Context, p store.Project, text string) (web.RunSide, []client.Run, error) {
	side := web.RunSide{Text: text}
	if text == "" {
		return side, nil, nil
	}
	if number, ok := strings.CutPrefix(text, "run-"); ok {
		id, err := strconv.ParseInt(number, 10, 64)
		if err == nil {
			var run client.Run
			if run, err = s.store.Run(ctx, p.ID, id); err == nil {
				side.Commit = run.Commit
				return side, []client.Run{run}, nil
			}
		}
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange) {
			side.Problem, err = "There is no such run.", nil
		}
		return side, nil, err
	}
	prefix := strings.ToLower(text)
	if len(prefix) < 4 || len(prefix) > 64 || strings.Trim(prefix, "0123456789abcdef") != "" {
		side.Problem = "Type at least 4 characters of a commit's hash."
		return side, nil, nil
	}
	commits, err := s.store.MeasuredCommits(ctx, p.ID, prefix)
	switch {
	case err != nil:
		return side, nil, err
	case len(commits) == 0:
		side.Problem = "No measured commit starts with this."
		return side, nil, nil
	case len(commits) > 1:
		side.Problem = "Several measured commits start with this: type more of it."
		return side, nil, nil
	}
	side.Commit = commits[0]
	runs, err := s.store.Runs(ctx, p.ID, store.RunQuery{Commit: side.Commit, Limit: runsOfCommit})
	return side, runs, err
}

// pairRuns matches the runs of two sides by suite and testbed. Of several runs it takes the one from the most
// trusted lane, and of those the latest. Two single runs are always a pair: the page says why they do not match.
func pairRuns(a, b []client.Run) [][2]client.Run {
	if len(a) == 1 && len(b) == 1 {
		return [][2]client.Run{{a[0], b[0]}}
	}
	type place struct {
		suite   string
		testbed int64
	}
	best := func(list []client.Run) map[place]client.Run {
		found := map[place]client.Run{}
		for _, run := range list {
			at := place{run.Suite, run.Testbed}
			old, known := found[at]
			if rank := slices.Index(lanes, string(run.Lane)) - slices.Index(lanes, string(old.Lane)); !known || rank < 0 || rank == 0 && run.ID > old.ID {
				found[at] = run
			}
		}
		return found
	}
	ofA, ofB := best(a), best(b)
	var pairs [][2]client.Run
	for at, run := range ofA {
		if other, ok := ofB[at]; ok {
			pairs = append(pairs, [2]client.Run{run, other})
		}
	}
	slices.SortFunc(pairs, func(x, y [2]client.Run) int {
		return cmp.Or(cmp.Compare(x[0].Suite, y[0].Suite), cmp.Compare(x[0].Testbed, y[0].Testbed))
	})
	return pairs
}

// comparePair compares the cases that two runs share.
func (s *Server) comparePair(ctx context.Context, p store.Project, a, b client.Run) (web.RunPair, error) {
	pair := web.RunPair{A: a, B: b}
	switch {
	case a.Suite != b.Suite:
		pair.Unlike = fmt.Sprintf("One is of suite %s, the other of %s.", a.Suite, b.Suite)
		return pair, nil
	case a.Testbed != b.Testbed:
		pair.Unlike = "They were measured on different testbeds: a difference between them is not a change of the code."
	}
	ofA, err := s.store.RunSeries(ctx, p.ID, a.ID)
	if err != nil {
		return pair, err
	}
	ofB, err := s.store.RunSeries(ctx, p.ID, b.ID)
	if err != nil {
		return pair, err
	}
	key := func(one client.RunPoint) [3]string {
		return [3]string{one.Series.Name, one.Series.Implementation, one.Series.Unit}
	}
	known := map[[3]string]client.RunPoint{}
	for _, one := range ofA {
		known[key(one)] = one
	}
	for _, one := range ofB {
		base, ok := known[key(one)]
		if !ok || !(base.Point.Value > 0) || !(one.Point.Value > 0) {
			pair.OnlyB++
			continue
		}
		pair.Cases = append(pair.Cases, web.Compare{A: web.Side{Series: base.Series, Point: base.Point}, B: web.Side{Series: one.Series, Point: one.Point}})
	}
	pair.OnlyA = len(ofA) - len(pair.Cases)
	slices.SortStableFunc(pair.Cases, func(x, y web.Compare) int {
		return cmp.Or(cmp.Compare(standing(x), standing(y)), cmp.Compare(math.Abs(y.Change()), math.Abs(x.Change())))
	})
	pair.More = max(0, len(pair.Cases)-casesShown)
	pair.Cases = pair.Cases[:len(pair.Cases)-pair.More]
	return pair, nil
}

// standing ranks the cases of a comparison: what got worse, what got better, and the rest.
func standing(c web.Compare) int {
	switch {
	case !c.Apart():
		return 2
	case c.Worse():
		return 0
	default:
		return 1
	}
}
