package gpucheck

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

// Format is the version of the report.
const Format = "pawl.gpu-check.v1"

// State is the result of a check.
type State string

// States of a check.
const (
	Passed State = "passed"
	Failed State = "failed"
	NotRun State = "not run" // something that it needs is not there
)

// Result is the result of one check.
type Result struct {
	Number  int    `json:"check"`
	Name    string `json:"name"`
	Pass    string `json:"pass"` // the criterion
	State   State  `json:"state"`
	Message string `json:"message"`         // what was measured, or why it was not
	Means   string `json:"means,omitempty"` // what a failure means for results
}

// Report is the result of all checks on one card. It contains no identifier of the card or the machine.
type Report struct {
	Format   string    `json:"format"`
	Pawl     string    `json:"pawl"`
	At       time.Time `json:"at"`
	Card     string    `json:"card"`
	ID       string    `json:"id"` // a hash of the UUID: two reports of one card have the same
	Driver   string    `json:"driver,omitempty"`
	CUDA     string    `json:"cuda,omitempty"`
	Arch     string    `json:"compute_capability,omitempty"`
	VBIOS    string    `json:"vbios,omitempty"`
	Units    int       `json:"units,omitempty"`
	Memory   int64     `json:"memory_bytes,omitempty"`
	PowerCap float64   `json:"power_cap_w,omitempty"`
	Results  []Result  `json:"results"`
	// Facts are the numbers behind the results, as they were measured.
	Facts map[string][]float64 `json:"facts"`
}

func newReport(version string, id gpu.Identity, at time.Time) *Report {
	return &Report{
		Format: Format, Pawl: version, At: at.UTC().Truncate(time.Second), Card: id.Name, ID: hashed(id.UUID), Driver: id.Driver, CUDA: id.CUDA,
		Arch: id.ComputeCapability, VBIOS: id.VBIOS, Units: id.Units, Memory: id.MemoryBytes, Facts: map[string][]float64{},
	}
}

// hashed replaces an identifier: UUIDs name one card of one owner.
func hashed(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("sha256:%.6x", sha256.Sum256([]byte(id)))
}

// scrub removes identifiers of the card, the user and the machine from a message.
func scrub(text string, id gpu.Identity) string {
	for _, uuid := range []string{id.UUID, id.Parent} {
		if uuid != "" {
			text = strings.ReplaceAll(text, uuid, hashed(uuid))
		}
	}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		text = strings.ReplaceAll(text, home, "~")
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 {
		text = strings.ReplaceAll(text, host, "this-machine")
	}
	return text
}

// Count returns how many checks have a state.
func (r *Report) Count(s State) int {
	n := 0
	for _, c := range r.Results {
		if c.State == s {
			n++
		}
	}
	return n
}

// Verdict returns the result in one sentence.
func (r *Report) Verdict() string {
	passed, failed, not := r.Count(Passed), r.Count(Failed), r.Count(NotRun)
	rest := ""
	if not > 0 {
		rest = fmt.Sprintf(", %d could not run here", not)
	}
	if failed == 0 {
		return fmt.Sprintf("pawl's assumptions hold on this %s: %d checks passed%s", r.Card, passed, rest)
	}
	return fmt.Sprintf("%d of pawl's assumptions do not hold on this %s: %d checks passed%s", failed, r.Card, passed, rest)
}

// Text returns the report as text to paste into an issue: the verdict, what failed and what that means, then all checks.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Verdict())
	fmt.Fprintf(&b, "pawl %s, %s, compute capability %s, driver %s, CUDA %s, card %s, %s\n", r.Pawl, r.Card, r.Arch, r.Driver, r.CUDA, r.ID, r.At.Format(time.RFC3339))
	for _, c := range r.Results {
		if c.State == Failed {
			fmt.Fprintf(&b, "\nfailed: %d %s\n  measured: %s\n  pass: %s\n  this means: %s\n", c.Number, c.Name, c.Message, c.Pass, c.Means)
		}
	}
	b.WriteString("\n")
	for _, c := range r.Results {
		fmt.Fprintf(&b, "%2d  %-7s  %s: %s\n", c.Number, c.State, c.Name, c.Message)
	}
	return b.String()
}
