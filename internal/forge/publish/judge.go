package publish

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strings"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// judge decides again from the samples, by the policy of the base's suite.
func (p *publication) judge(ctx context.Context, t target, c untrusted.Claim, in *comment.Input) error {
	terms := untrusted.Terms{Suite: p.Suite, Heads: t.heads, Base: p.isBase(ctx, t), Trust: p.want.Trust}
	if other := c.Elsewhere(terms); len(other) > 0 {
		in.ToolFailed = "The run measured something else: " + strings.Join(other, "; ") + "."
		return nil
	}
	var err error
	if terms.Definition, err = p.suiteDifference(ctx, t, c.Run); err != nil {
		return err
	}
	run, whole, err := c.ApplyTerms(terms)
	if err != nil {
		in.ToolFailed = err.Error() + "."
		return nil //nolint:nilerr // reported on the pull request
	}
	j := comment.Judge(run, whole, p.Suite.JudgePolicy(), in.Accepted != nil, p.Now)
	in.Run, in.Result, in.Drift, in.Quarantined, in.Released = run, j.Result, j.Drift, j.Quarantined, j.Released
	return nil
}

// suiteDifference returns how the suite of the change differs from that of the base. It reads the suite from
// the forge, because the change itself produced the record.
func (p *publication) suiteDifference(ctx context.Context, t target, run *measure.Run) (*measure.Definition, error) {
	file := path.Base(p.SuitePath)
	if p.Client == nil {
		if run.Suite.Digest == p.Suite.Digest {
			return nil, nil
		}
		return &measure.Definition{Changed: []string{file}}, nil
	}
	text, err := p.Client.File(ctx, t.sha, p.SuitePath)
	switch {
	case errors.Is(err, forge.ErrNotFound):
		return &measure.Definition{Changed: []string{file + " (deleted)"}}, nil
	case err != nil:
		return nil, err
	}
	if bytes.Equal(p.SuiteText, text) {
		return nil, nil
	}
	is, err := suite.Parse(file, text)
	if err != nil { // it extends other files, or is invalid
		return &measure.Definition{Changed: []string{file}}, nil //nolint:nilerr // it counts as another suite
	}
	r := is.RedefinitionOf(p.Suite)
	if len(r.Changed) == 0 {
		return nil, nil
	}
	return &measure.Definition{Changed: r.Changed, Cases: r.Cases}, nil
}

// acceptance returns the comment of an authorized user that accepts exactly this head; nil if none does.
func (p *publication) acceptance(ctx context.Context, pull forge.Pull) (*comment.Acceptance, error) {
	comments, err := p.Client.Comments(ctx, pull.Number)
	if err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	return comment.FindAcceptance(comments, pull.HeadSHA, func(user string) bool {
		if may, ok := asked[user]; ok {
			return may
		}
		has, err := p.Client.Permission(ctx, user)
		if err != nil {
			p.Log("pawl: cannot read the permission of %s, so their acceptance is ignored: %v", user, err)
		}
		asked[user] = err == nil && comment.MayAccept(has, p.Suite.Gate.Accept)
		return asked[user]
	}), nil
}
