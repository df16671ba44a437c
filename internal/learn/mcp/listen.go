package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// A budget holds only for a client of another account. On a Unix socket the kernel says which account a client has.

// Listen listens on a Unix socket that its owner and group can use. It replaces a socket that a killed server left.
func Listen(ctx context.Context, path string) (*net.UnixListener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
		if c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path); err == nil {
			c.Close()
			return nil, fmt.Errorf("another server uses %s", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// maxClients is the max number of clients of a socket at a time.
const maxClients = 32

// ServeSocket talks to clients until the server ends.
func (s *Server) ServeSocket(l *net.UnixListener) error {
	defer context.AfterFunc(s.ctx, func() { l.Close() })()
	var clients sync.WaitGroup
	defer clients.Wait()
	slots := make(chan struct{}, maxClients)
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			s.stop()
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		slots <- struct{}{}
		clients.Go(func() {
			defer func() { <-slots }()
			defer conn.Close()
			_ = s.Serve(conn, conn, apart(socketAccount(conn))) // its client sees it
		})
	}
}

// apart reports whether an account can neither write what the server's account owns nor become it.
func apart(account int) bool { return account > 0 && account != os.Geteuid() }

// unknown is an account that could not be found out.
const unknown = -1

// socketAccount returns the account of the process at the other end.
func socketAccount(conn *net.UnixConn) int {
	account := unknown
	raw, err := conn.SyscallConn()
	if err != nil {
		return unknown
	}
	_ = raw.Control(func(fd uintptr) {
		if cred, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			account = int(cred.Uid)
		}
	})
	return account
}

// onlyOurs reports whether a folder belongs to the server's account, and no other one but root may write to it or
// replace it.
func onlyOurs(path string) bool {
	for dir, above := path, false; ; dir, above = filepath.Dir(dir), true {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			return false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		ours := ok && (int(stat.Uid) == os.Geteuid() || above && stat.Uid == 0)
		sticky := above && info.Mode()&os.ModeSticky != 0
		if !ours || info.Mode().Perm()&0o022 != 0 && !sticky {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
