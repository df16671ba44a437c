package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// schemas are the versions of the schemas that servers 1.first to 1.last want in their main and in their visibility database.
var schemas = [last - first + 1][2]string{{"1.18", "1.9"}, {"1.18", "1.13"}, {"1.19", "1.14"}, {"1.19", "1.14"}}

// schemaTool is Temporal's own program for its databases, found in PATH.
const schemaTool = "temporal-sql-tool"

// Version returns the version of Temporal's server that runs.
func (e *Engine) Version(ctx context.Context) (string, error) {
	info, err := e.client.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	return info.GetServerVersion(), err
}

// UpdateSchema creates Temporal's databases on PostgreSQL, or upgrades their schema, and returns what it did. The address is that of
// the main database; running is the version of the server that runs, or empty. Nothing is changed unless all checks succeed.
func UpdateSchema(ctx context.Context, address, running string) (did []string, err error) {
	u := schemaUpdate{}
	if err := u.find(ctx); err != nil {
		return nil, err
	}
	if err := oneUp(running, u.version); err != nil {
		return nil, err
	}
	if err := u.parse(address); err != nil {
		return nil, err
	}
	if err := u.check(ctx); err != nil {
		return nil, err
	}
	for i := range u.bases {
		more, err := u.update(ctx, i)
		did = append(did, more...)
		if err != nil {
			return did, err
		}
	}
	return did, nil
}

// oneUp returns an error if a running server cannot be replaced by one of the tool's version.
func oneUp(running, tool string) error {
	if running == "" {
		return nil
	}
	from, err := minorOf(running)
	to, _ := minorOf(tool)
	if err != nil || to == from || to == from+1 {
		return err
	}
	return fmt.Errorf("%s is of %s, and Temporal %s runs: use the tool of that version, or of the next minor version to upgrade", schemaTool, tool, running)
}

// schemaUpdate is one run of UpdateSchema.
type schemaUpdate struct {
	tool, version string // path and version of the tool
	minor         int
	at            *pgx.ConnConfig
	attributes    string // of the connection, as in its URL
	bases         [2]schemaBase
	used          bool // a server has run on these databases
}

// schemaBase is one of the two databases.
type schemaBase struct {
	name, dir, want string
	exists          bool
	has             string // version of its schema; empty for none
}

// find finds the tool and its version.
func (u *schemaUpdate) find(ctx context.Context) (err error) {
	if u.tool, err = exec.LookPath(schemaTool); err != nil {
		return fmt.Errorf("%s is not in PATH: it belongs to Temporal's server", schemaTool)
	}
	said, err := exec.CommandContext(ctx, u.tool, "--version").Output()
	if err != nil {
		return fmt.Errorf("cannot read the version of %s: %w", u.tool, err)
	}
	words := strings.Fields(string(said))
	if len(words) > 0 {
		u.version = words[len(words)-1]
	}
	if err := tried(u.version); err != nil {
		return fmt.Errorf("%s: %w", u.tool, err)
	}
	u.minor, _ = minorOf(u.version)
	return nil
}

// plainName is the form of names that Temporal passes on as they are.
var plainName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// parse reads the address of the main database. Temporal knows no sockets, and quotes no names.
func (u *schemaUpdate) parse(address string) error {
	parsed, err := url.Parse(address)
	if err == nil {
		u.at, err = pgx.ParseConfig(address)
	}
	if err != nil {
		return errors.New("the URL of Temporal's database cannot be parsed: give postgres://USER:PASSWORD@HOST:PORT/temporal")
	}
	main := u.at.Database
	if strings.Trim(parsed.Path, "/") == "" { // not that of the environment
		main = ""
	}
	switch {
	case strings.HasPrefix(u.at.Host, "/"):
		return errors.New("the URL of Temporal's database names a socket: give HOST:PORT")
	case !plainName.MatchString(main):
		return fmt.Errorf("the URL of Temporal's database names the database %q: use letters, digits, _ and -, such as /temporal", main)
	case !plainName.MatchString(u.at.User):
		return fmt.Errorf("the URL of Temporal's database names the role %q: use letters, digits, _ and -", u.at.User)
	case strings.Contains(u.at.Password, " "): // it would send a plus sign
		return errors.New("the password of Temporal's database has a space, which Temporal cannot send: choose another one")
	default:
		want := schemas[u.minor-first]
		u.bases = [2]schemaBase{{name: main, dir: "temporal", want: want[0]}, {name: main + "_visibility", dir: "visibility", want: want[1]}}
	}
	more := parsed.Query()
	more.Set("sslmode", cmp.Or(more.Get("sslmode"), "prefer")) // the tool would not try TLS
	u.attributes = more.Encode()
	if more.Get("connect_timeout") == "" {
		u.at.ConnectTimeout = 15 * time.Second
	}
	return nil
}

func (u *schemaUpdate) connect(ctx context.Context, name string) (*pgx.Conn, error) {
	at := u.at.Copy()
	at.Database = name
	return pgx.ConnectConfig(ctx, at)
}

// check reads the state of PostgreSQL and of both databases, and returns an error if the schema cannot be updated.
func (u *schemaUpdate) check(ctx context.Context) error {
	conn, err := u.connect(ctx, u.bases[0].name)
	if missing, ok := errors.AsType[*pgconn.PgError](err); ok && missing.Code == "3D000" {
		conn, err = u.connect(ctx, "postgres")
	}
	if err != nil {
		return fmt.Errorf("cannot reach PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var p postgres
	err = conn.QueryRow(ctx, `
		select current_setting('server_version_num')::int, current_user::text, (select rolcreatedb or rolsuper from pg_roles where rolname = current_user),
		  exists (select from pg_available_extensions where name = 'btree_gin'), array(select datname::text from pg_database where datname = any($1))`,
		[]string{u.bases[0].name, u.bases[1].name}).Scan(&p.version, &p.user, &p.creates, &p.gin, &p.databases)
	if err != nil {
		return fmt.Errorf("cannot read the properties of PostgreSQL: %w", err)
	}
	wrong := []error{p.check()}
	for i := range u.bases {
		b := &u.bases[i]
		if b.exists = slices.Contains(p.databases, b.name); b.exists {
			wrong = append(wrong, u.look(ctx, i))
		} else if !p.creates {
			wrong = append(wrong, fmt.Errorf("role %s may not create database %s: `alter role %s createdb`", p.user, b.name, p.user))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	return errors.Join(u.allowed(0), u.allowed(1))
}

// postgres is what the schema needs of PostgreSQL.
type postgres struct {
	version      int
	user         string
	creates, gin bool
	databases    []string
}

func (p postgres) check() (err error) {
	if major := p.version / 10000; major < 15 {
		err = fmt.Errorf("it is PostgreSQL %d: use version 15 or later", major)
	}
	if !p.gin {
		err = errors.Join(err, errors.New("PostgreSQL has no btree_gin: install its contrib modules"))
	}
	return err
}

// look reads the state of an existing database.
func (u *schemaUpdate) look(ctx context.Context, i int) error {
	conn, err := u.connect(ctx, u.bases[i].name)
	if err != nil {
		return fmt.Errorf("cannot reach database %s: %w", u.bases[i].name, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return u.read(ctx, conn, i)
}

// read reads the version of the schema of a database, and whether a server has run on it.
func (u *schemaUpdate) read(ctx context.Context, conn *pgx.Conn, i int) error {
	b := &u.bases[i]
	var may, versioned, namespaces bool
	var tables int
	err := conn.QueryRow(ctx, `
		select has_schema_privilege('public', 'create'), to_regclass('public.schema_version') is not null, to_regclass('public.namespaces') is not null,
		  (select count(*) from pg_tables where schemaname = 'public')`).Scan(&may, &versioned, &namespaces, &tables)
	switch {
	case err != nil:
		return fmt.Errorf("cannot read database %s: %w", b.name, err)
	case !may:
		return fmt.Errorf("role %s may not create tables in database %s: `alter database %s owner to %s`", u.at.User, b.name, b.name, u.at.User)
	case !versioned && tables > 0:
		return fmt.Errorf("database %s has tables that are not Temporal's: give Temporal a database of its own", b.name)
	case !versioned:
		return nil
	}
	var others int
	err = conn.QueryRow(ctx, `
		select coalesce(max(curr_version) filter (where db_name = current_database()), ''), count(*) filter (where db_name <> current_database())
		from public.schema_version where version_partition = 0`).Scan(&b.has, &others)
	if err == nil && b.has == "" && others > 0 {
		err = errors.New("its schema is that of a database with another name: rename it to the name in its table schema_version")
	}
	if err == nil && namespaces && !u.used { // the first start creates one
		err = conn.QueryRow(ctx, `select exists (select from public.namespaces)`).Scan(&u.used)
	}
	if err != nil {
		return fmt.Errorf("cannot read the version of the schema of database %s: %w", b.name, err)
	}
	return nil
}

// allowed returns an error if the schema of a database is newer than that of the tool, or older than that of the minor version before.
func (u *schemaUpdate) allowed(i int) error {
	b := u.bases[i]
	if older(b.want, b.has) {
		return fmt.Errorf("the schema of %s is %s, newer than %s of Temporal %s: use the %s of the server that runs", b.name, b.has, b.want, u.version, schemaTool)
	}
	from := first - 1
	for n := range schemas {
		if !older(b.has, schemas[n][i]) {
			from = first + n
		}
	}
	if u.used && u.minor > from+1 {
		return fmt.Errorf("the schema of %s is %s, and Temporal %s needs %s: upgrade to 1.%d first, schema and server; one minor version at a time",
			b.name, cmp.Or(b.has, "0.0"), u.version, b.want, from+1)
	}
	return nil
}

// update creates a database if it is missing, and updates its schema. Processes that do so at the same time take turns.
func (u *schemaUpdate) update(ctx context.Context, i int) (did []string, err error) {
	b := &u.bases[i]
	var created error
	if !b.exists {
		if created = u.run(ctx, i, "create-database"); created == nil {
			did = append(did, "created database "+b.name)
		}
	}
	conn, err := u.connect(ctx, b.name)
	if err != nil { // otherwise another process created it
		return did, cmp.Or(created, fmt.Errorf("cannot reach database %s: %w", b.name, err))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `select pg_advisory_lock(hashtext('pawld fleet schema'))`); err != nil {
		return did, fmt.Errorf("cannot lock database %s: %w", b.name, err)
	}
	if err := errors.Join(u.read(ctx, conn, i), u.allowed(i)); err != nil {
		return did, err
	}
	before := b.has
	if before == b.want {
		return append(did, fmt.Sprintf("schema of %s is %s, as wanted", b.name, b.has)), nil
	}
	if before == "" {
		err = u.run(ctx, i, "setup-schema", "-v", "0.0")
	}
	if err == nil {
		err = u.run(ctx, i, "update-schema", "--schema-name", "postgresql/v12/"+b.dir)
	}
	if err == nil {
		err = u.read(ctx, conn, i)
	}
	if err == nil && b.has != b.want {
		err = fmt.Errorf("the schema of %s is %s after the update, and pawl knows Temporal 1.%d with %s", b.name, b.has, u.minor, b.want)
	}
	switch {
	case err != nil && !u.used:
		return did, fmt.Errorf("%w\nIf it fails again, drop database %s and run it once more: nothing is in it yet", err, b.name)
	case err != nil:
		return did, err
	case before == "":
		return append(did, fmt.Sprintf("schema of %s is now %s", b.name, b.has)), nil
	}
	return append(did, fmt.Sprintf("schema of %s was %s and is now %s", b.name, before, b.has)), nil
}

// run runs the tool on a database.
func (u *schemaUpdate) run(ctx context.Context, i int, args ...string) error {
	host := u.at.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	cmd := exec.CommandContext(ctx, u.tool, args...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SQL_") || strings.HasPrefix(v, "PAWLD_") }),
		"SQL_PLUGIN=postgres12_pgx", "SQL_HOST="+host, "SQL_PORT="+strconv.Itoa(int(u.at.Port)), "SQL_USER="+u.at.User, "SQL_PASSWORD="+u.at.Password,
		"SQL_DATABASE="+u.bases[i].name, "SQL_CONNECT_ATTRIBUTES="+u.attributes)
	out, err := cmd.CombinedOutput()
	if err != nil {
		out = bytes.TrimSpace(out)
		return fmt.Errorf("%s %s of database %s: %w\n%s", schemaTool, args[0], u.bases[i].name, err, out[max(0, len(out)-2000):])
	}
	return nil
}

// older reports whether a version such as 1.9 is before another one such as 1.18. An empty one is before all others.
func older(a, b string) bool {
	var v [2][2]int
	for i, text := range []string{a, b} {
		_, _ = fmt.Sscanf(text, "%d.%d", &v[i][0], &v[i][1])
	}
	return slices.Compare(v[0][:], v[1][:]) < 0
}
