// Package storetest gives tests a real PostgreSQL: the installed one, started once per process, with a
// separate database for each test.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
)

var (
	once    sync.Once
	server  *pgtemp.Server
	folder  string
	started error
	count   atomic.Int64
)

// URL returns the address of a new, migrated database. It skips the test if PostgreSQL is not
// installed. A package that uses it must call Stop at the end of its TestMain.
func URL(t testing.TB) string {
	t.Helper()
	once.Do(start)
	if errors.Is(started, pgtemp.ErrNotInstalled) {
		t.Skip(started)
	}
	if started != nil {
		t.Fatal(started)
	}
	name := fmt.Sprintf("t%d", count.Add(1))
	execute(t, fmt.Sprintf("create database %s template migrated", name))
	t.Cleanup(func() { execute(t, fmt.Sprintf("drop database %s with (force)", name)) })
	return server.URL(name)
}

// Stop stops the server, if it was started.
func Stop() {
	if server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = server.Stop(ctx, true)
	}
	if folder != "" {
		_ = os.RemoveAll(folder)
	}
}

func start() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if folder, started = os.MkdirTemp("", "pawl-pg"); started != nil {
		return
	}
	if server, started = pgtemp.Start(ctx, pgtemp.Options{Dir: folder}); started != nil {
		return
	}
	if started = exec(ctx, "create database migrated"); started != nil {
		return
	}
	_, started = migrations.Migrate(ctx, server.URL("migrated"))
}

func execute(t testing.TB, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	if err := exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}

func exec(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, sql)
	return err
}
