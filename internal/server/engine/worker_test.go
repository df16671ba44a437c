package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

// A placer keeps its queue in one payload of Temporal. Changes that a forge reports wait before they are in it.
func TestRoomFor(t *testing.T) {
	lengths := map[string]int{"l4": placement.MaxWaiting - 1, "h100": placement.MaxWaiting}
	queue := func(_ context.Context, model string) (placer.View, error) {
		return placer.View{Queue: make([]placement.Waiting, lengths[model])}, nil
	}
	if err := roomFor(t.Context(), []string{"l4", "new"}, queue); err != nil {
		t.Errorf("a queue with room: %v", err)
	}
	if err := roomFor(t.Context(), []string{"l4", "h100"}, queue); err == nil || !strings.Contains(err.Error(), "model h100") {
		t.Errorf("a full queue: %v", err)
	}
}
