package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Digest is the SHA-256 of the uploaded bytes, exactly as sent.
type Digest [sha256.Size]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// projectName matches one or more parts without characters that are special in a URL.
var projectName = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,99}(/[a-z0-9][a-z0-9._-]{0,99}){0,3}$`)

// Audience returns the audience of a token: one server, one project and one report. A
// leaked token is worth no more than the upload it was made for.
func Audience(server, project string, d Digest) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("the server URL %q must have the form https://HOST", server)
	}
	if !projectName.MatchString(project) {
		return "", fmt.Errorf("the project %q must have one to four parts of lower-case letters, digits, '.', '_' and '-', separated by '/'", project)
	}
	base := "https://" + strings.ToLower(u.Host) + strings.TrimRight(u.EscapedPath(), "/")
	return base + "/" + project + "?sha256=" + d.String(), nil
}
