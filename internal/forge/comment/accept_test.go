package comment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
)

func TestParseAccept(t *testing.T) {
	for body, want := range map[string]string{
		"/pawl accept 4f3c2b1 because it is worth it":          "4f3c2b1 because it is worth it",
		"Hello.\r\n/pawl accept 4f3c2b1a09   why not  \r\nBye": "4f3c2b1a09 why not",
		comment.AcceptLine(madeHead):                           "", // no reason was given
		"/pawl accept 4f3c2b1":                                 "",
		"/pawl accept 4f3c2b1   ":                              "",
		"/pawl accept 4f3c2 too short":                         "",
		"/pawl accept 4F3C2B1 shouted":                         "",
		"/pawl accept main because":                            "",
		"> /pawl accept 4f3c2b1 quoted":                        "",
		"please /pawl accept 4f3c2b1 inline":                   "",
		"    /pawl accept 4f3c2b1 in a block of code":          "",
		"/pawl  accept 4f3c2b1 two spaces":                     "",
		"/pawl accept 4f3c2b1 \u200b\u202e":                    "",
		"":                                                     "",
	} {
		sha, reason, ok := comment.ParseAccept(body)
		if got := strings.TrimSpace(sha + " " + reason); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t; want %q", body, got, ok, want)
		}
	}
}

// Only an unedited comment, on this head, by somebody who may counts; of several the last.
func TestFindAcceptance(t *testing.T) {
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	good := forge.Comment{Author: "ada", Body: "/pawl accept 4f3c2b1 fine", Created: at, URL: "https://x/1"}
	with := func(change func(*forge.Comment)) forge.Comment {
		c := good
		change(&c)
		return c
	}
	may := func(user string) bool { return user != "mallory" }
	for name, test := range map[string]struct {
		comments []forge.Comment
		want     string
	}{
		"nothing":        {nil, ""},
		"good":           {[]forge.Comment{good}, "fine"},
		"the last":       {[]forge.Comment{good, with(func(c *forge.Comment) { c.Body = "/pawl accept 4f3c2b1 finer" })}, "finer"},
		"another head":   {[]forge.Comment{with(func(c *forge.Comment) { c.Body = "/pawl accept 1111111 fine" })}, ""},
		"somebody":       {[]forge.Comment{with(func(c *forge.Comment) { c.Author = "mallory" })}, ""},
		"edited":         {[]forge.Comment{with(func(c *forge.Comment) { c.Edited = true })}, ""},
		"after somebody": {[]forge.Comment{good, with(func(c *forge.Comment) { c.Author = "mallory" })}, "fine"},
	} {
		a := comment.FindAcceptance(test.comments, madeHead, may)
		if a == nil && test.want != "" || a != nil && (a.Reason != test.want || a.By != "ada" || a.URL == "" || !a.At.Equal(at)) {
			t.Errorf("%s: %+v, want %q", name, a, test.want)
		}
	}
}

func TestMayAccept(t *testing.T) {
	order := []forge.Permission{forge.NoAccess, forge.Read, forge.Triage, forge.Write, forge.Maintain, forge.Admin}
	for i, least := range []string{"write", "maintain", "admin"} {
		for k, has := range order {
			if got, want := comment.MayAccept(has, least), k >= i+3; got != want {
				t.Errorf("%s may accept where %s is asked: %t", has, least, got)
			}
		}
		if comment.MayAccept("owner of everything", least) {
			t.Error("a permission that nobody knows accepts")
		}
	}
	if comment.MayAccept(forge.Admin, "") {
		t.Error("a gate that asks for nothing is met")
	}
}

func FuzzParseAccept(f *testing.F) {
	f.Add("/pawl accept 4f3c2b1 because")
	f.Add("> /pawl accept 4f3c2b1 because\n\n/pawl accept")
	f.Fuzz(func(t *testing.T, body string) {
		sha, reason, ok := comment.ParseAccept(body)
		if ok != (sha != "") || ok && (len(sha) < 7 || reason == "" || strings.ContainsAny(reason, "\n\r\x1b") || !strings.Contains(body, "/pawl accept "+sha)) {
			t.Errorf("%q: %q %q %t", body, sha, reason, ok)
		}
	})
}
