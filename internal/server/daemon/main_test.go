package daemon

import (
	"context"
	"os"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// asPawld makes the test binary be pawld: a real process, without building another.
const asPawld = "PAWL_TEST_IS_PAWLD=1"

func TestMain(m *testing.M) {
	if os.Getenv("PAWL_TEST_IS_PAWLD") != "" {
		os.Exit(Main(context.Background(), os.Args[1:], &IO{Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}))
	}
	code := m.Run()
	storetest.Stop()
	os.Exit(code)
}
