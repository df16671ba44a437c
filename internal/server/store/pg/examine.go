package pg

import (
	"context"
	"fmt"
	"strconv"

	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
)

// DoMigrate is what to do about a database without the tables of this version.
const DoMigrate = "run pawld migrate"

// RefusedError is a reason not to trust a database, and how to fix it.
type RefusedError struct{ Reason, Do string }

func (r *RefusedError) Error() string {
	return fmt.Sprintf("cannot use the database: %s: %s", r.Reason, r.Do)
}

// examine refuses a database that could lose acknowledged reports or show a project's rows to
// another project.
func (d *DB) examine(ctx context.Context, allowUnsafe bool) error {
	var version, fsync, fullPages, commit string
	var user, as string
	var super, bypass, owns, userSuper bool
	err := d.Pool.QueryRow(ctx, `
		select current_setting('server_version_num'), current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
		  session_user, (select u.rolsuper from pg_roles u where u.rolname = session_user), current_user, r.rolsuper, r.rolbypassrls,
		  exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'pawl' and c.relkind in ('r', 'p') and pg_has_role(current_user, c.relowner, 'usage'))
		from pg_roles r where r.rolname = current_user`).
		Scan(&version, &fsync, &fullPages, &commit, &user, &userSuper, &as, &super, &bypass, &owns)
	if err != nil {
		return fmt.Errorf("cannot read the properties of the database: %w", err)
	}
	if userSuper {
		d.Superuser = user
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	if as != Role || super || bypass || owns {
		return &RefusedError{
			fmt.Sprintf("row security would not apply to the role %s of user %s (superuser %v, bypass %v, owns tables %v)", as, user, super, bypass, owns),
			"let pawld migrate create pawl_app, and do not change that role",
		}
	}
	if !allowUnsafe {
		if err := checkDurable(fsync, fullPages, commit); err != nil {
			return err
		}
	}
	return d.Ready(ctx)
}

// checkDurable refuses settings that can lose an acknowledged report.
func checkDurable(fsync, fullPages, commit string) error {
	for _, setting := range []struct{ name, value string }{{"fsync", fsync}, {"full_page_writes", fullPages}, {"synchronous_commit", commit}} {
		if setting.value == "off" {
			return &RefusedError{setting.name + " is off, so a crash loses acknowledged reports", "set " + setting.name + " = on"}
		}
	}
	return nil
}

// minMinorVersion maps major versions to the first minor version with sound row security. Before it,
// statistics reveal hidden rows of partitioned tables (CVE-2025-8713). Later major versions
// include the fix from the start.
var minMinorVersion = map[int]int{15: 14, 16: 10, 17: 6}

// checkVersion checks server_version_num, which is major * 10000 + minor.
func checkVersion(number string) error {
	n, err := strconv.Atoi(number)
	if err != nil || n < 10000 {
		return &RefusedError{fmt.Sprintf("its version %.20q cannot be parsed", number), "use PostgreSQL 15 or later"}
	}
	major, minor := n/10000, n%10000
	if major < 15 {
		return &RefusedError{fmt.Sprintf("it is PostgreSQL %d", major), "use PostgreSQL 15 or later"}
	}
	if minor < minMinorVersion[major] {
		return &RefusedError{
			fmt.Sprintf("PostgreSQL %d.%d leaks rows that row security hides (CVE-2025-8713)", major, minor),
			fmt.Sprintf("update it to %d.%d or later", major, minMinorVersion[major]),
		}
	}
	return nil
}

// Ready returns nil if requests can be served now: the database answers, and its schema is the one
// that this binary needs.
func (d *DB) Ready(ctx context.Context) error {
	missing, err := migrations.Missing(ctx, d.Pool)
	switch {
	case Violates(err, "42P01") || Violates(err, "3F000") || Violates(err, "42501"):
		return &RefusedError{"it was not migrated", DoMigrate}
	case err != nil:
		return err
	case missing != "":
		return &RefusedError{"migration " + missing + " was not applied", DoMigrate}
	}
	return nil
}
