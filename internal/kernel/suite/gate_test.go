package suite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

const gateSuite = `version: 1
harness: {command: ./h}
benchmarks:
  softmax: {matrix: {N: [1, 2]}}
  sum: {matrix: {N: [1]}}
`

func parseGate(t *testing.T, more string) *suite.Suite {
	t.Helper()
	s, err := suite.Parse("pawl.yaml", []byte(gateSuite+more))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func day(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestGate(t *testing.T) {
	want := suite.Gate{Mode: suite.Enforce, FailOn: []string{"regression", "broken", "missing"}, Accept: "write", Ignore: []string{"**/*.md", "**/*.rst", "**/LICENSE", "**/.gitignore", "**/CODEOWNERS", ".github/**"}}
	if diff := cmp.Diff(want, parseGate(t, "").Gate); diff != "" {
		t.Errorf("without the key (-want +got)\n%s", diff)
	}
	got := parseGate(t, `gate: {mode: advise, since: 2026-11-15, fail-on: error, quiet: true, paths: ["kernels/**", a.cu], ignore: [docs], accept: admin}`).Gate
	want = suite.Gate{
		Mode: suite.Advise, Since: day("2026-11-15"), FailOn: []string{"error"}, Quiet: true,
		Paths: []string{"kernels/**", "a.cu"}, Ignore: []string{"docs"}, Accept: "admin",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !got.Fails(suite.FailOnError) || got.Fails("regression") {
		t.Error("fail-on: error fails on errors, and on nothing else")
	}
}

func TestGateMistakes(t *testing.T) {
	for more, want := range map[string]string{
		"gate: {mode: loud}":                              `"loud"`,
		"gate: {fail-on: [improvement]}":                  `"improvement"`,
		"gate: {fail-on: []}":                             "the list is empty",
		"gate: {accept: read}":                            `"read"`,
		"gate: {since: yesterday}":                        "expected a date such as 2026-12-31",
		"gate: {since: 2026-02-30}":                       "expected a date such as 2026-12-31",
		"gate: {since: 2026-02-03T10:00:00Z}":             "expected a date such as 2026-12-31",
		`gate: {paths: ["["]}`:                            "is not a glob",
		"gate: {fail_on: broken}":                         `unknown key "fail_on" (did you mean "fail-on"?)`,
		"quarantine: [{case: sum}]":                       `missing key "owner"`,
		quarantine(`"["`, "me", "2026-12-31", "x"):        "is not a glob",
		quarantine("sum", `" "`, "2026-12-31", "x"):       "owner is empty",
		quarantine("sum", "me", "31.12.2026", "x"):        "expected a date such as 2026-12-31",
		quarantine("sum", "me", "20261231", "x"):          "expected a date such as 2026-12-31",
		quarantine("sum", "me", "2026-12-31", `""`):       "reason is empty",
		quarantine("sum", "me", "2026-12-31", "x, y: []"): `unknown key "y"`,
	} {
		if _, err := suite.Parse("pawl.yaml", []byte(gateSuite+more)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", more, err, want)
		}
	}
}

func quarantine(glob, owner, until, reason string) string {
	return "quarantine: [{case: " + glob + ", owner: " + owner + ", until: " + until + ", reason: " + reason + "}]"
}

// The last day counts to its end in UTC; then the case fails a change again, and the
// quarantine is still known by name.
func TestQuarantineEnds(t *testing.T) {
	s := parseGate(t, `quarantine:
  - {case: "softmax/*", owner: "@a", until: 2026-12-31, reason: noisy}
  - {case: softmax, owner: "@b", until: 2026-11-30, reason: older}
`)
	for _, test := range []struct {
		name, benchmark, at   string
		quarantined, released bool
	}{
		{"softmax/N1", "softmax", "2026-11-01T00:00:00Z", true, false},
		{"softmax/N1", "softmax", "2026-12-31T23:59:59Z", true, false},
		{"softmax/N1", "softmax", "2027-01-01T00:00:00Z", false, true},
		{"softmax/N1", "softmax", "2027-01-01T01:00:00+02:00", true, false}, // still the day before, in UTC
		{"sum/N1", "sum", "2026-11-01T00:00:00Z", false, false},
		{"sum/N1", "sum", "2027-11-01T00:00:00Z", false, false},
	} {
		at, err := time.Parse(time.RFC3339, test.at)
		if err != nil {
			t.Fatal(err)
		}
		q, quarantined := s.Quarantined(test.name, test.benchmark, at)
		_, released := s.Released(test.name, test.benchmark, at)
		if quarantined != test.quarantined || released != test.released {
			t.Errorf("%s at %s: quarantined %t, released %t", test.name, test.at, quarantined, released)
		}
		if quarantined && q.Owner != "@a" {
			t.Errorf("%s at %s: of two that match the one of %s, not the one that lasts longest", test.name, test.at, q.Owner)
		}
	}
}

func TestQuarantineOfNothingWarns(t *testing.T) {
	s := parseGate(t, quarantine("sotfmax", "me", "2026-12-31", "x"))
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Error(), `"sotfmax" matches no case`) {
		t.Errorf("warnings %v", s.Warnings)
	}
}

// What is done about a verdict changes nothing that is measured: such a change finds both
// sides identical.
func TestGateIsNotInTheDigest(t *testing.T) {
	plain := parseGate(t, "").Digest
	if other := parseGate(t, "gate: {mode: advise}\n"+quarantine("sum", "me", "2026-12-31", "x")).Digest; other != plain {
		t.Error("gate or quarantine changes the digest")
	}
	if other := parseGate(t, "policy: {slower: 4%}").Digest; other == plain {
		t.Error("a policy does not change the digest")
	}
}
