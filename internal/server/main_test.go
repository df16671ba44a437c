package server

import (
	"os"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

func TestMain(m *testing.M) {
	if asLabClients() {
		return
	}
	code := m.Run()
	storetest.Stop()
	os.Exit(code)
}
