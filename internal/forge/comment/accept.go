package comment

import (
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge"
)

// Acceptance is a user's decision to accept one head of a pull request. It ends with the
// next push and with the merge, because no other commit has that head.
type Acceptance struct {
	By     string
	At     time.Time
	Reason string
	URL    string // of the accepting comment
}

// acceptShape matches the comment line that accepts a head: the start of the head's SHA,
// and a reason.
var acceptShape = lazyregexp.New(`^/pawl accept ([0-9a-f]{7,64}) +(\S.*)$`)

// AcceptLine returns the line to paste to accept a head.
func AcceptLine(sha string) string { return "/pawl accept " + short(sha) + " REASON" }

func short(sha string) string { return sha[:min(len(sha), 7)] }

// ParseAccept parses a comment. The command must be on its own line, so that a quoted one
// accepts nothing.
func ParseAccept(body string) (sha, reason string, ok bool) {
	for text := range strings.Lines(body) {
		m := acceptShape.FindStringSubmatch(strings.TrimRight(text, " \t\r\n"))
		if m == nil {
			continue
		}
		if reason = words.Sanitize(m[2]); reason != "" && reason != "REASON" {
			return m[1], reason, true
		}
	}
	return "", "", false
}

// FindAcceptance returns the last comment by an allowed user that accepts a head. It
// ignores edited comments, because users other than the author can edit them.
func FindAcceptance(comments []forge.Comment, head string, may func(user string) bool) *Acceptance {
	for _, c := range slices.Backward(comments) {
		sha, reason, ok := ParseAccept(c.Body)
		if !ok || c.Edited || !strings.HasPrefix(head, sha) || !may(c.Author) {
			continue
		}
		return &Acceptance{By: c.Author, At: c.Created, Reason: reason, URL: c.URL}
	}
	return nil
}

// MayAccept reports whether a permission is at least the one that gate.accept requires.
func MayAccept(has forge.Permission, least string) bool {
	order := []forge.Permission{forge.Write, forge.Maintain, forge.Admin}
	want := slices.Index(order, forge.Permission(least))
	return want >= 0 && slices.Index(order, has) >= want
}
