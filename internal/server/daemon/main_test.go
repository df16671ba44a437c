package daemon

import (
	"context"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// asPawld makes the test binary be pawld: a real process, without building another.
const asPawld = "PAWL_TEST_IS_PAWLD=1"

// asNext and asLater make such a process a pawld of the next version, and of the one after it.
const (
	asNext  = "PAWL_TEST_VERSION=next"
	asLater = "PAWL_TEST_VERSION=later"
)

func TestMain(m *testing.M) {
	if os.Getenv("PAWL_TEST_IS_PAWLD") != "" {
		if v := os.Getenv("PAWL_TEST_VERSION"); v != "" {
			migrations.Pretend(futureSteps(v == "later"))
		}
		os.Exit(Main(context.Background(), os.Args[1:], &IO{Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}))
	}
	code := m.Run()
	storetest.Stop()
	os.Exit(code)
}

// futureSteps returns the migrations of a future version: it expands, the one after it contracts.
func futureSteps(later bool) fs.FS {
	own, err := migrations.Version()
	if err != nil {
		panic(err)
	}
	all := fstest.MapFS{
		"9001_expand.sql": {Data: []byte("-- oldest: " + own + `
			alter table pawl.report add column future text not null default '';
			create table pawl.future (project_id bigint not null);`)},
		"9002_index.sql": {Data: []byte("-- oldest: " + own + `
-- concurrent
			create index concurrently if not exists report_future on pawl.report (project_id, future);
			create index concurrently if not exists point_future on pawl.tile (project_id, last_at);`)},
	}
	if later {
		all["9003_contract.sql"] = &fstest.MapFile{Data: []byte(`-- oldest: 9002
-- contracts: nothing reads future any more
			alter table pawl.report drop column future;`)}
	}
	err = fs.WalkDir(migrations.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(migrations.Files(), path)
		all[path] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		panic(err)
	}
	return all
}
