package fleetstore_test

import (
	"os"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	storetest.Stop()
	os.Exit(code)
}
