package engine

import (
	"log/slog"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// A host of unknown code carries out one lease, which must not be a calibration.
func TestDue_LeavesOutHostsOfUnknownCode(t *testing.T) {
	all, err := store.Open(t.Context(), store.Config{URL: storetest.URL(t), Conns: 2, AllowUnsafe: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	for _, of := range []tier.Tier{tier.Own, tier.Checked, tier.Unknown} {
		code, _, err := all.NewAgent(t.Context(), "host", "operator", of, false, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := all.EnrollAgent(t.Context(), code, []byte(of), "l4", []string{"GPU-" + string(of)}); err != nil {
			t.Fatal(err)
		}
	}
	e := &Engine{o: Options{Log: slog.New(slog.DiscardHandler), Fleet: fleetstore.New(all.DB()), Calibrate: 24 * time.Hour}}
	cards, err := e.due(t.Context())
	if err != nil || len(cards) != 2 || cards[0].Device != "GPU-checked" || cards[1].Device != "GPU-own" {
		t.Errorf("due %+v, %v", cards, err)
	}
}
