package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/measure"
)

func TestStagesText(t *testing.T) {
	got := stagesText([]Stage{
		{Name: "build", Answer: "pass", Line: "1 built in 2.0 s, 1 from the cache"},
		{}, // not come to
		{Name: "fuzz", Answer: "stop", Line: "3 of 4 right"},
	})
	if want := "build: 1 built in 2.0 s, 1 from the cache; fuzz: stop, 3 of 4 right"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := stagesText([]Stage{{}}); got != "" {
		t.Errorf("%q of no stage", got)
	}
}

func TestTitleWithoutARecord(t *testing.T) {
	for name, want := range map[string]string{"": "comparison", "softmax": "softmax"} {
		if got := title(Input{Name: name}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Numbers of one level of trust are comparable to no others.
func TestAgainKeepsTheTrust(t *testing.T) {
	for trust, want := range map[measure.Trust]string{
		"":                "pawl run --base main --case a",
		measure.Trusted:   "pawl run --base main --case a",
		measure.Checked:   "pawl run --base main --case a --trust checked",
		measure.SelfTimed: "pawl run --base main --case a --trust self-timed",
	} {
		run := &measure.Run{}
		run.Trust, run.Implementations = trust, []measure.Implementation{{Name: measure.Base, Ref: "main"}}
		if got := rerunCommand(run, "a"); got != want {
			t.Errorf("%q: %q, want %q", trust, got, want)
		}
	}
}

func TestNotesOfOneKindAreToldOnce(t *testing.T) {
	var notes merger
	for _, text := range []string{"a start takes 5 us", "a start takes 17 us", "the device is another"} {
		notes.add(lettersOf(text), text)
	}
	want := "a start takes 5 us (and 1 more like it)\nthe device is another"
	if diff := cmp.Diff(want, strings.Join(notes.list(), "\n")); diff != "" {
		t.Error(diff)
	}
}
