package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/judge/submit"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/measure"
)

// spend does a call that uses the device. Calls do so one after another: what is left of the budget is known before
// the next one starts.
func (c *client) spend(ctx context.Context, req *mcp.CallToolRequest, suite string, do func(context.Context, *submit.Grant) (document, error)) (*mcp.CallToolResult, error) {
	c.running.Add(1)
	defer c.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	tell := progress(ctx, req)
	start := c.o.Now()
	select {
	case c.device <- struct{}{}:
	default:
		tell.say("waiting for another call to end")
		select {
		case c.device <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() {
		sweep()
		<-c.device
	}()
	queued := c.o.Now().Sub(start).Seconds()
	g, err := c.grant(ctx, suite)
	if err != nil {
		return nil, err
	}
	g.Emit = tell.event
	d, err := do(ctx, g)
	if err != nil {
		return nil, err
	}
	d.budget, d.queued = c.budget(g), math.Round(queued*10)/10
	return d.result()
}

// sweep ends orphans of a call and removes those that ended from the process table, where a server that runs for days
// would collect them.
func sweep() {
	for _, p := range shell.Processes() {
		if p.Adopted && !p.Ended() {
			_ = p.Signal(syscall.SIGKILL) // the next call removes it
		}
		p.Reap()
	}
}

// grant opens the grant of a suite.
func (c *client) grant(ctx context.Context, suite string) (*submit.Grant, error) {
	path, err := c.suiteFile(suite)
	if err != nil {
		return nil, err
	}
	g := submit.Grant{Dir: filepath.Dir(path), Suite: filepath.Base(path), Wait: c.o.Wait, Version: c.o.Version, Now: c.o.Now}
	if c.o.Private == "" {
		return submit.Open(ctx, g, submit.Terms{})
	}
	sum := sha256.Sum256([]byte(path))
	g.Folder = filepath.Join(c.o.Private, hex.EncodeToString(sum[:8]))
	open, err := submit.Open(ctx, g, submit.Terms{})
	if errors.Is(err, submit.ErrNoLaunch) { // trust granted in the repository does not count here: a client may write to it
		return nil, usage("add launch to every benchmark of the suite: on a socket candidates are never trusted")
	}
	if err != nil {
		return nil, err
	}
	open.Budget = c.o.Total.Seconds() // the owner may start the server with more
	return open, c.settle(open)
}

// settle charges what an earlier server was killed in the middle of, before this one judges anything.
func (s *Server) settle(g *submit.Grant) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled[g.Folder] {
		return nil
	}
	err := g.Settle()
	s.settled[g.Folder] = err == nil
	return err
}

// budget says whether the budget holds. It does only if the client's account cannot reset it: neither by writing to the
// folder or to the repository, nor by a candidate that runs without a sandbox.
func (c *client) budget(g *submit.Grant) string {
	if c.apart && g.Budget > 0 && g.Trust == measure.Checked && onlyOurs(c.o.Private) && onlyOurs(c.o.Top) && onlyOurs(filepath.Join(c.o.Top, ".git")) {
		return "enforced"
	}
	return "advisory"
}

// suiteFile returns the suite file that a call names, if it is a regular file of the repository.
func (c *client) suiteFile(name string) (string, error) {
	path := c.o.Dir
	if name != "" {
		var err error
		if path, err = c.local(name); err != nil {
			return "", err
		}
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, discover.SuiteFile)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", usage("there is no such suite: suite must be the path of a suite file, or of its folder, from the top of the repository")
	}
	if straight, err := filepath.EvalSymlinks(path); err != nil || straight != path || !info.Mode().IsRegular() {
		return "", usage("the suite is not a regular file: links, FIFOs and devices are refused")
	}
	return path, nil
}

// local returns the path of a name from the top of the repository.
func (c *client) local(name string) (string, error) {
	name = filepath.Clean(cmp.Or(name, "."))
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if part = strings.ToLower(part); part == ".git" || part == ".pawl" {
			return "", usage("a path belongs to git or to pawl")
		}
	}
	if !filepath.IsLocal(name) || strings.ContainsRune(name, 0) {
		return "", usage("a path does not stay inside the repository: name files from its top")
	}
	return filepath.Join(c.o.Top, name), nil
}
