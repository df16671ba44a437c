package pgtemp_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
)

// A server that was killed comes back on the same port with the same folder.
func TestKillAndRestart(t *testing.T) {
	s, err := pgtemp.Start(t.Context(), pgtemp.Options{Dir: t.TempDir()})
	if errors.Is(err, pgtemp.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.WithoutCancel(t.Context()), true) })
	u, err := url.Parse(s.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	reachable := func() bool {
		conn, err := net.DialTimeout("tcp", u.Host, await.Limit)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	if !reachable() {
		t.Fatal("a started server does not answer")
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	// A child that it left may hold the socket for a moment.
	await.True(t, "the killed server to be unreachable", func() bool { return !reachable() })
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !reachable() {
		t.Fatal("it does not answer after a restart")
	}
}
