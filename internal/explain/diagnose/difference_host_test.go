package diagnose_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// Three real changes of a host kernel, as callgrind saw them.
func TestHostPairs(t *testing.T) {
	for name, want := range map[string]struct{ cause, says string }{
		"stride": {"host-cache", "misses the L1 data cache more often: 1.58 million times (8 % of the accesses), was 134,721 (0.7 %)"},
		"tile":   {"host-instructions", "more instructions: 15.8 million (was 5.47 million)"},
		"scalar": {"host-vector", "work on 4 bytes (was 32 bytes)"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := record(t, "before.json"), record(t, name+".json")
			d := compare(t, before, after)
			if len(d.Causes) == 0 || d.Causes[0].Name != want.cause || !strings.Contains(d.Sentence, want.says) || d.Timer != "measured" {
				t.Errorf("%s\n%s", d.Sentence, names(d))
			}
			if d := compare(t, after, before); len(d.Causes) == 0 || d.Causes[0].Name != want.cause {
				t.Errorf("%s\n%s", d.Sentence, names(d))
			}
			t.Log(d.Sentence, names(d))
			// Without a measured time the counts must do.
			before.Profile.Subject.Nanoseconds = 0
			d = compare(t, before, after)
			if len(d.Causes) == 0 || d.Causes[0].Name != want.cause || d.Timer != "" {
				t.Errorf("%s\n%s", d.Sentence, names(d))
			}
			t.Log(d.Sentence, names(d))
		})
	}
}

// The function that computes is the same; its caller calls it once more.
func TestHostPair_TheCallerChanged(t *testing.T) {
	d := compare(t, record(t, "band-before.json"), record(t, "band.json"))
	if d.Identical || len(d.Causes) == 0 || d.Causes[0].Name != "host-instructions" || !strings.Contains(d.Reason, "More instructions: 8.97 million (was 8.47 million)") {
		t.Errorf("%s\n%s", d.Reason, names(d))
	}
}

func record(t *testing.T, name string) diagnose.Subject {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "host", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	s, err := diagnose.NewSubject(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
