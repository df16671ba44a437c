package share

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
)

func TestFleet_SaysWhatThereIs(t *testing.T) {
	exit := 1
	full := client.Fleet{
		Devices: []client.FleetDevice{
			{ID: "GPU-1", Model: "l4", Host: "gpu1", Power: "ready", Busy: true, Tier: "own", Calibrations: 3, FalseAlarms: 1, Calibration: &client.Calibration{At: pushNow, Noise: 0.004, Smallest: 0.012, Found: true}},
			{ID: "GPU-2", Model: "h100", Host: "gpu2", Power: "asleep", Tier: "checked", Reason: "its host \x1b[31msleeps"},
		},
		Queue: []client.FleetQueued{{Gate: "g", Lease: "g/l4", Model: "l4", Position: 2, Reason: "1 device, busy"}},
	}
	for _, test := range []struct {
		args    string
		answer  any
		out, er string
	}{
		{
			"devices", full,
			"l4         busy       GPU-1 on gpu1  calibrated 2026-11-15 12:00: noise 0.4 %, finds changes of 1.2 %; 1 false of 3 calibrations\n" +
				"h100       asleep     GPU-2 on gpu2  serves checked code; its host [31msleeps; not calibrated\n", "",
		},
		{"devices", client.Fleet{}, "", "the fleet has no devices yet: add a host with pawld agent enroll, and start pawl-agent serve there\n"},
		{"queue", full, "2   l4         g/l4  1 device, busy\n", ""},
		{"queue", client.Fleet{}, "", "none of your gates waits for a device\n"},
		{"queue --json", client.Fleet{Queue: []client.FleetQueued{}}, "[]\n", ""},
		{
			"show 01JC8ZK4Q6N6D3T8W1X5Y7V9B2",
			client.Gate{Parts: []client.GatePart{
				{Model: "l4", State: "done", Device: "GPU-1", Rounds: 6, Exit: &exit},
				{Model: "h100", State: "measuring", Device: "GPU-3", Rounds: 1},
				{Model: "a10", State: "waiting", Position: 1, Reason: "no device"},
			}},
			"l4         done      on GPU-1, 6 rounds, exit code 1\nh100       measuring on GPU-3, starting, 1 round\na10        waiting   position 1: no device\n", "",
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" || !strings.HasPrefix(r.URL.Path, "/v1/projects/kernels/") {
				t.Errorf("%s %v", r.URL.Path, r.Header)
			}
			_ = json.NewEncoder(w).Encode(test.answer)
		}))
		var out, er bytes.Buffer
		program := command.Program{Code: env.ExitCode, Docs: env.DocsFor, New: func(g *command.Globals) *cobra.Command {
			root := command.NewRoot(g, &cobra.Command{Use: "pawl"})
			root.AddCommand(NewFleet(&env.Env{Globals: g}))
			return root
		}}
		vars := map[string]string{"PAWL_SERVER": server.URL, "PAWL_PROJECT": "kernels", "PAWL_TOKEN": "secret"}
		code := program.Run(t.Context(), append([]string{"fleet"}, strings.Fields(test.args)...), &command.IO{
			Out: &out, Err: &er, Getenv: func(name string) string { return vars[name] }, Now: func() time.Time { return pushNow },
		})
		server.Close()
		if code != 0 || out.String() != test.out || er.String() != test.er {
			t.Errorf("pawl fleet %s: exit code %d\n%s%s", test.args, code, out.String(), er.String())
		}
	}
}
