package conformance_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/sdk/conformance"
)

// The runner is only worth something if it finds faults: each of these shell
// harnesses has one.
func TestPlayReportsTheFirstDifference(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell here")
	}
	const measure = "> {\"id\":1,\"op\":\"measure\"}\n< {\"id\":1,\"op\":\"measure\"}\n"
	reply := func(messages ...string) string {
		script := "read -r line <&4; "
		for _, m := range messages {
			script += "echo '" + m + "' >&3; "
		}
		return script + "read -r line <&4"
	}
	for name, test := range map[string]struct{ transcript, harness, want string }{
		"conforms": {
			measure,
			reply(`{"id":1,"op":"samples","samples":[1,2],"wall":[3,4]}`, `{"id":1,"op":"measure","count":3,"samples":[5],"wall":[6],"extra":0}`), "",
		},
		"another id":       {measure, reply(`{"id":2,"op":"measure","count":0}`), ".id: expected 1, got 2"},
		"another op":       {measure, reply(`{"id":1,"op":"cases"}`), `.op: expected "measure", got "cases"`},
		"count":            {measure, reply(`{"id":1,"op":"measure","count":2,"samples":[1]}`), "count is 2, but 1 sample arrived"},
		"no count":         {measure, reply(`{"id":1,"op":"measure","samples":[1]}`), "count is null"},
		"lost part":        {measure, reply(`{"id":1,"op":"samples","samples":[1]}`, `{"id":1,"op":"measure","count":1,"samples":[1]}`), "count is 1, but 2"},
		"beside":           {measure, reply(`{"id":1,"op":"measure","count":2,"samples":[1,2],"cpu":[1]}`), "1 value of cpu"},
		"sample of zero":   {measure, reply(`{"id":1,"op":"measure","count":1,"samples":[0]}`), "sample 0 is 0"},
		"sample of text":   {measure, reply(`{"id":1,"op":"measure","count":1,"samples":["1"]}`), `sample 0 is "1"`},
		"part of another":  {measure, reply(`{"id":9,"op":"samples","samples":[1]}`, `{"id":1,"op":"measure","count":1}`), "different ids"},
		"not JSON":         {measure, reply(`ready`), `not a JSON object: "ready`},
		"NaN":              {measure, reply(`{"id":1,"op":"measure","count":1,"samples":[NaN]}`), "not a JSON object"},
		"dies":             {measure, "echo boom >&2; exit 7", "exit status 7"},
		"says why it dies": {measure, "echo boom >&2; exit 7", "stderr: boom"},
		"silent":           {measure, "read -r a <&4; read -r b <&4", "no reply within 3s"},
		"ignores the end":  {measure, reply(`{"id":1,"op":"measure","count":0}`) + "; sleep 600", "did not exit within 3s"},
		"wrong status":     {"close\nexit 0\n", "exit 3", "exit status 3"},
		"no failure":       {"close\nexit failure\n", "exit 0", "exit status 0"},
		"dies of a signal": {"close\nexit failure\n", "kill -KILL $$", "signal: killed"},
		"too quick":        {measure + "took 1h\n", reply(`{"id":1,"op":"measure","count":0}`), "expected at least 1h0m0s"},
		"no such command":  {measure, "", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transcript, err := conformance.Parse("fault.txt", strings.NewReader(test.transcript))
			if err != nil {
				t.Fatal(err)
			}
			// Long by default: only two faults show by waiting, the others must not depend on how busy the machine is.
			harness := conformance.Harness{Command: []string{"sh", "-c", test.harness}, Timeout: await.Limit}
			switch name {
			case "silent":
				harness.Timeout = 3 * time.Second
			case "ignores the end":
				harness.Grace = 3 * time.Second
			case "no such command":
				harness.Command = []string{"/no/such/harness"}
			}
			err = conformance.Play(t.Context(), harness, transcript)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}
