package decide

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/remote"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/measure"
)

const (
	gatePoll  = time.Second      // between two questions about a gate
	queuePoll = 5 * time.Second  // the same, if it has only waited for the last ten: a queue can have thousands
	gateAway  = 30 * time.Minute // how long the server may be away meanwhile
)

// runOn runs the loop on devices of a server's fleet, and leaves the same documents and exit code as a run here.
func (f *runFlags) runOn(ctx context.Context, path string) error {
	s := remote.Server{Env: f.Env, URL: f.Getenv("PAWL_SERVER"), Project: f.Getenv("PAWL_PROJECT"), Patience: gateAway}
	if s.URL == "" || s.Project == "" {
		return command.Usage(errors.New("--on: set PAWL_SERVER and PAWL_PROJECT to a pawl server with a fleet, and PAWL_TOKEN to a key with the scopes read and report"))
	}
	if err := s.Destination().Check(); err != nil {
		return command.Usage(err)
	}
	folder, err := scratch.New("", "bundle")
	if err != nil {
		return fmt.Errorf("cannot make a bundle: %w", err)
	}
	defer folder.Remove()
	r, file, err := f.gateRequest(ctx, path, folder.Path)
	if err != nil {
		return err
	}
	c, id := s.Client(), runner.NewID(s.Clock()())
	if err := c.SendFile(ctx, file); err != nil {
		return err
	}
	g, err := c.StartGate(ctx, id, r)
	if err != nil {
		return err
	}
	f.Say("gate " + id)
	if g, err = f.watch(ctx, c, g); err != nil {
		return err
	}
	return f.collect(ctx, c, g, cmp.Or(f.dir, filepath.Join(filepath.Dir(path), "results")))
}

// gateRequest describes the change: two commits in a bundle, which it writes to dir. The working tree must be committed.
func (f *runFlags) gateRequest(ctx context.Context, path, dir string) (*client.GateRequest, client.File, error) {
	repo, err := build.Open(ctx, filepath.Dir(path))
	if err != nil {
		return nil, client.File{}, err
	}
	head, dirty, err := repo.Head(ctx)
	if err != nil {
		return nil, client.File{}, err
	}
	if dirty {
		return nil, client.File{}, command.Usage(errors.New("--on: the working tree has uncommitted changes, which the fleet cannot see: commit them first"))
	}
	base, err := repo.Commit(ctx, f.Base)
	if err != nil {
		return nil, client.File{}, command.Usage(err)
	}
	suite, err := repo.Inside(path)
	if err != nil {
		return nil, client.File{}, command.Usage(err)
	}
	r := &client.GateRequest{
		Models: strings.Split(f.on, ","), Base: base, Head: head, Suite: suite, Seconds: client.GateSeconds, Trust: measure.Trust(f.Trust), Priority: f.urgent,
	}
	file, err := bundle(ctx, repo, dir, base, head)
	if err != nil {
		return nil, client.File{}, err
	}
	r.Bundle = file.Digest
	if err := r.Check(); err != nil {
		return nil, file, command.Usage(fmt.Errorf("--on %s: %w", f.on, err))
	}
	return r, file, nil
}

// bundle writes both commits with their history to a file in dir.
func bundle(ctx context.Context, repo *build.Repository, dir, base, head string) (client.File, error) {
	path := filepath.Join(dir, "commits.bundle")
	if err := repo.Bundle(ctx, dir, path, base, head); err != nil {
		return client.File{}, err
	}
	content, err := os.Open(path)
	if err != nil {
		return client.File{}, err
	}
	defer content.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, content)
	return client.File{Path: path, Blob: client.Blob{Digest: hex.EncodeToString(sum.Sum(nil)), Size: size, Name: "the commits"}}, err
}

// watch prints how far a gate is until it has ended. An interrupt cancels the gate; a lost connection does not.
func (f *runFlags) watch(ctx context.Context, c *client.Client, g client.Gate) (client.Gate, error) {
	said := map[string]gateNews{}
	for asked := 0; ; asked++ {
		for _, p := range g.Parts {
			if n := newsOf(p); n.differs(said[p.Model]) {
				said[p.Model] = n
				f.Say(words.Sanitize(p.Model + ": " + n.line + remote.LatestStart(p.Start)))
			}
		}
		if g.Ended() {
			return g, nil
		}
		pause := gatePoll
		if slices.ContainsFunc(g.Parts, func(p client.GatePart) bool { return p.State != "waiting" }) {
			asked = 0
		} else if asked >= 10 {
			pause = queuePoll
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
		}
		next := client.Gate{}
		err := ctx.Err()
		if err == nil {
			next, err = c.Gate(ctx, g.Gate)
		}
		switch {
		case ctx.Err() != nil:
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			if err := c.CancelGate(last, g.Gate); err != nil {
				return g, command.Exit(command.ExitInterrupted, fmt.Errorf("%w: %w\n  the gate continues: pawl fleet cancel %s", command.ErrInterrupted, err, g.Gate))
			}
			return g, command.Exit(command.ExitInterrupted, fmt.Errorf("%w: gate %s is canceled", command.ErrInterrupted, g.Gate))
		case err != nil:
			return g, fmt.Errorf("%w\n  the gate continues: pawl fleet show %s", err, g.Gate)
		}
		g = next
	}
}

// gateNews is what is printed about a gate on one model.
type gateNews struct {
	line  string
	start time.Time // latest; zero if it is not known
}

func newsOf(p client.GatePart) gateNews {
	n := gateNews{line: gateLine(p)}
	if p.Start != nil {
		n.start = *p.Start
	}
	return n
}

// differs reports whether to print again. While a measurement takes longer than planned, the start moves all the time.
func (n gateNews) differs(last gateNews) bool {
	return n.line != last.line || n.start.Sub(last.start).Abs() >= 10*time.Minute
}

func gateLine(p client.GatePart) string {
	switch {
	case p.State == "waiting" && p.Position > 0:
		return fmt.Sprintf("position %d in the queue: %s", p.Position, p.Reason)
	case p.State == "measuring":
		return fmt.Sprintf("measuring on %s (%s, %s)", p.Device, cmp.Or(p.Phase, "starting"), words.Plural(p.Rounds, "round"))
	}
	return p.State
}
