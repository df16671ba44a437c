package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFleetSchema_KeepsThePasswordSecret(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "temporal-sql-tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho temporal-sql-tool version 1.32.1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	write(t, filepath.Join(dir, "url"), "postgres://temporal:s3cret@127.0.0.1:1/temporal\n")
	for _, tc := range []struct {
		env  []string
		code int
		want string
	}{
		{nil, exitUsage, "fleet.database_url is not set"},
		{[]string{"PAWLD_FLEET_DATABASE_URL_FILE=" + filepath.Join(dir, "url")}, exitCannot, "cannot reach PostgreSQL"},
		{[]string{"PAWLD_FLEET_DATABASE_URL=postgres://temporal:s3cret@[/temporal"}, exitCannot, "cannot be parsed"},
	} {
		code, out, errs := pawld(t, tc.env, "fleet", "schema")
		if code != tc.code || out != "" || !strings.Contains(errs, tc.want) || strings.Contains(errs, "s3cret") {
			t.Errorf("%q: exit %d, printed %q and\n%s\nwant %d, %q", tc.env, code, out, errs, tc.code, tc.want)
		}
	}
}

// A budget below what a gate reserves would let gates wait for a day, and then fail for want of a device.
func TestFleetBudget_WarnsIfNoGateFits(t *testing.T) {
	o := newOperated(t)
	o.want(0, nil, "migrate")
	o.want(0, nil, "project", "create", "kernels")
	o.want(0, []string{"0.5 hours", "warning: ", "none of them will start"}, "fleet", "budget", "kernels", "--hours", "0.5")
	if _, out, errs := pawld(t, o.env, "fleet", "budget", "kernels", "--hours", "1"); strings.Contains(out+errs, "warning") {
		t.Errorf("pawld says\n%s%s", out, errs)
	}
}
