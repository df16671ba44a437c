package headertest_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// feed starts a harness, sends it text, closes the pipe and returns how it ended.
func feed(t *testing.T, program, text string) (status int, stderr string) {
	t.Helper()
	status, stderr, _ = converse(t, program, text)
	return status, stderr
}

// exchange sends requests and returns the replies.
func exchange(t *testing.T, program string, requests ...string) []map[string]any {
	t.Helper()
	status, stderr, out := converse(t, program, strings.Join(requests, "\n")+"\n")
	if status != 0 {
		t.Fatalf("%s ended with %d\n%s", program, status, stderr)
	}
	var replies []map[string]any
	var part []any
	decoder := json.NewDecoder(strings.NewReader(out))
	for {
		var reply map[string]any
		if err := decoder.Decode(&reply); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if reply["error"] != nil {
			t.Fatalf("%v", reply["error"])
		}
		if reply["op"] == "samples" { // a part: on a slow machine a sign of life
			samples, _ := reply["samples"].([]any)
			part = append(part, samples...)
			continue
		}
		if rest, ok := reply["samples"].([]any); ok {
			reply["samples"] = append(part, rest...)
			part = nil
		}
		replies = append(replies, reply)
	}
	if len(replies) != len(requests) {
		t.Fatalf("%d replies to %d requests", len(replies), len(requests))
	}
	return replies
}

func converse(t *testing.T, program, text string) (status int, stderr, out string) {
	t.Helper()
	requests, err := os.CreateTemp(t.TempDir(), "requests")
	if err != nil {
		t.Fatal(err)
	}
	defer requests.Close()
	if _, err := requests.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if _, err := requests.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	replies, err := os.CreateTemp(t.TempDir(), "replies")
	if err != nil {
		t.Fatal(err)
	}
	defer replies.Close()
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), "PAWL_IN=3", "PAWL_OUT=4")
	cmd.ExtraFiles = []*os.File{requests, replies}
	said, _ := cmd.CombinedOutput() // the status is looked at below
	if cmd.ProcessState == nil {
		t.Fatalf("%s did not start", program)
	}
	answer, err := os.ReadFile(replies.Name())
	if err != nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(said), string(answer)
}

func fastest(t *testing.T, reply map[string]any) float64 {
	t.Helper()
	samples, _ := reply["samples"].([]any)
	var values []float64
	for _, s := range samples {
		if v, ok := s.(float64); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		t.Fatalf("no samples: %v", reply)
	}
	return slices.Min(values)
}
