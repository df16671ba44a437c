package capacity

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// The page shows what the package computes.
func TestPage_HasTheTables(t *testing.T) {
	text, err := os.ReadFile("../../../docs/explanation/fleet-capacity.md")
	if err != nil {
		t.Fatal(err)
	}
	small := Planned
	small.Cards, small.GatesADay, small.Models = 10, 500, 1
	for name, table := range map[string]string{
		"rows": Planned.Rows(), "beats": Planned.Beats(1, 2, 5, 15), "breaks": Planned.Breaks(), "costs": Planned.Costs(), "small": small.Rows(),
	} {
		if !strings.Contains(string(text), table) {
			t.Errorf("the page has another table for %s, want\n%s", name, table)
		}
	}
}

// Sizes in the state of a placer are those of real values with long names.
func TestPlaced_SizeOfARequest(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 0, 123456789, time.UTC)
	r := placement.Request{
		Lease: "attention-kernels-01JC8ZK4Q6N6D3T8W1X5Y7V9B2-h100-1", Gate: "gate/attention-kernels/01JC8ZK4Q6N6D3T8W1X5Y7V9B2/h100", Project: "attention-kernels",
		Tier: tier.Checked, Priority: 3, Seconds: 3600, At: at,
	}
	const uuid = "GPU-5c0e3f1a-9d2b-4c7e-8a11-0123456789ab"
	for name, c := range map[string]struct {
		value any
		bytes int
	}{
		"request": {r, requestBytes},
		"device":  {placement.Device{ID: uuid, Host: "gpu-host-0123", Power: placement.Ready, Price: 2.25, Seen: at, Tier: tier.Checked}, deviceBytes},
		"lease":   {placement.Lease{Request: r, Device: uuid, Host: "gpu-host-0123", Price: 2.25, Start: at, Until: at}, leaseBytes},
	} {
		text, err := json.Marshal(c.value)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(text) + 1; n > c.bytes || 10*n < 9*c.bytes {
			t.Errorf("a %s takes %d bytes, counted as %d", name, n, c.bytes)
		}
	}
}

// The longest queue of a model with a thousand cards fits into one payload of Temporal.
func TestPlaced_LongestQueueFits(t *testing.T) {
	if n := placement.MaxWaiting*requestBytes + 1000*(deviceBytes+leaseBytes); n > 2<<20 {
		t.Errorf("%d bytes", n)
	}
}

func TestLoad_WithinItsCards(t *testing.T) {
	calm := Load{Cards: 100, GatesADay: 1000, Seconds: 360, Beat: 2, Poll: 1, QueuePoll: 5, PeakHour: 5, Models: 1}
	if calm.Backlog() != 0 || calm.LongestWait() != 0 || calm.Drained() != 0 {
		t.Errorf("a fleet with cards to spare has a queue: %+v", calm.Peak())
	}
	if p := calm.Peak(); p.CardsBusy != p.CardsWanted {
		t.Errorf("%v of %v cards are busy", p.CardsBusy, p.CardsWanted)
	}
	// Twice the beats cost twice as much of everything that beats cost.
	often := calm
	often.Beat = 1
	if got, want := often.Mean().Beats, 2*calm.Mean().Beats; got != want {
		t.Errorf("%v beats, want %v", got, want)
	}
	if busy := Planned.Peak().CardsBusy; busy != float64(Planned.Cards) {
		t.Errorf("%v cards are busy at the peak, want all", busy)
	}
}

func TestFigure_ThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1.1574: "1.16", 416.67: "417", 2083.3: "2,080", 10833.3: "10,800", 0.00048: "0.00048", 1234567: "1,230,000", 999.9: "1,000", 48000: "48,000"} {
		if got := figure(v); got != want {
			t.Errorf("figure(%v) = %q, want %q", v, got, want)
		}
	}
}
