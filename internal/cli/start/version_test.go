package start

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
)

func TestOwnVersion(t *testing.T) {
	if _, ok := parseVersion(version.Version()); !ok {
		t.Errorf("%s is no version", version.Version())
	}
}

func TestVersionsInOrder(t *testing.T) {
	order := []string{"0.0.9", "0.1.0-dev+abc", "0.1.0-rc.1", "0.1.0", "0.1.1", "0.2.0-dev", "0.10.0", "1.0.0"}
	for i, a := range order {
		for j, b := range order {
			v, ok1 := parseVersion(a)
			w, ok2 := parseVersion(b)
			if !ok1 || !ok2 || v.compare(w) != cmpInt(i, j) {
				t.Errorf("%s against %s: %d", a, b, v.compare(w))
			}
		}
	}
	for _, no := range []string{"", "main", "1", "1.2", "01.2.3", "1.2.3-", "1.2.3\n", "1.2.3.4", "9999999.0.0", "source"} {
		if _, ok := parseVersion(no); ok {
			t.Errorf("%q is taken for a version", no)
		}
	}
}

func cmpInt(a, b int) int { return min(1, max(-1, a-b)) }

func TestSkew(t *testing.T) {
	gate := func(by, installs string) []byte {
		s := workflow.Default()
		s.Install, s.Action = installs, workflow.OwnRepository+"@v0.3.0"
		files, err := workflow.Render(s, by)
		if err != nil {
			t.Fatal(err)
		}
		return files[0].Text
	}
	for _, tc := range []struct {
		name, own, latest string
		file              []byte
		want              []string // "FAIL " precedes findings that fail the check
	}{
		{"all the same", "0.3.0", "0.3.0", gate("0.3.0", "0.3.0"), nil},
		{"a patch apart", "0.3.1", "", gate("0.3.0", "0.3.1"), []string{"w.yml installs pawl 0.3.0, but this is 0.3.1"}},
		{"older workflows", "0.5.0", "", gate("0.3.0", "source"), []string{
			"w.yml was written by pawl 0.3.0: it works; run `pawl init --github --upgrade` to update it", "w.yml installs pawl 0.3.0, but this is 0.5.0",
		}},
		{"newer workflows", "0.2.9", "", gate("0.3.0", "installed"), []string{
			"FAIL w.yml was written by pawl 0.3.0: use that version or a newer one", "w.yml installs pawl 0.3.0, but this is 0.2.9",
		}},
		{"before the release that wrote them", "0.3.0-dev+abc", "", gate("0.3.0", "0.3.0"), []string{"w.yml installs pawl 0.3.0, but this is 0.3.0-dev+abc"}},
		{"written by hand", "0.3.0", "", []byte("steps:\n  - uses: goatnote-inc/pawl@v0.4.0\n  - uses: goatnote-inc/pawl/sub@0123456789\n"), []string{"w.yml installs pawl 0.4.0, but this is 0.3.0"}},
		{"a newer release", "0.3.0", "0.4.0", nil, []string{"pawl 0.4.0 is the newest release, but this is 0.3.0"}},
		{"an older release", "0.3.0", "0.2.0", nil, nil},
		{"no version", "unknown", "", nil, []string{"this pawl has the version unknown, which is not valid"}},
		{"not about pawl", "0.3.0", "", []byte("on: push\n"), nil},
	} {
		var got []string
		for _, f := range versionFindings(tc.own, tc.latest, map[string][]byte{"w.yml": tc.file}) {
			text := f.Message
			if f.Bad {
				text = "FAIL " + text
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

// A forge that does not answer, fails or is hostile causes a note, within the time limit.
func TestNewestRelease(t *testing.T) {
	wait := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch kind {
		case "good":
			_, _ = w.Write([]byte(`{"tag_name":"v0.4.0"}`))
		case "hostile":
			_, _ = w.Write([]byte(`{"tag_name":"v0.4.0\u001b[2J"}`))
		case "silent":
			<-wait
		default:
			http.Error(w, "no", http.StatusForbidden)
		}
	}))
	defer s.Close()
	defer close(wait)
	for _, tc := range []struct{ api, want, note string }{
		{"", "", ""},
		{s.URL + "/good", "0.4.0", ""},
		{s.URL + "/hostile", "", "names no valid version"},
		{s.URL + "/refuses", "", "403"},
		{s.URL + "/silent", "", "does not answer"},
		{"http://127.0.0.1:1", "", "does not answer"},
		{"file:///etc/passwd", "", "must be an http or https URL"},
	} {
		patience := 5 * time.Minute
		if strings.HasSuffix(tc.api, "silent") {
			patience = 10 * time.Millisecond
		}
		got, notes := newestRelease(t.Context(), tc.api, patience)
		if got != tc.want || (tc.note == "") != (len(notes) == 0) || len(notes) > 0 && !strings.Contains(notes[0].Message, tc.note) {
			t.Errorf("%q: %q, %v; want %q, %q", tc.api, got, notes, tc.want, tc.note)
		}
		if len(notes) > 0 && notes[0].Bad {
			t.Errorf("%q fails a build", tc.api)
		}
	}
}
