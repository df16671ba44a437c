package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// The first line of a written file contains the digest of the rest, the second line the
// settings. So an upgrade can detect unmodified files and write them again with the same
// settings.
const (
	headerPrefix   = "# Written by pawl "
	settingsPrefix = "# settings: "
	digestOf       = "; pawl init --github --upgrade brings it up to date. digest: sha256:"
)

var headerLine = lazyregexp.New(`^# Written by pawl ([0-9A-Za-z.+-]{1,100}); pawl init --github --upgrade brings it up to date\. digest: sha256:([0-9a-f]{64})$`)

// stamp puts the two lines before a text.
func stamp(path string, s Settings, version string, text []byte) (File, error) {
	settings, err := json.Marshal(s)
	if err != nil {
		return File{}, err
	}
	body := append([]byte(settingsPrefix+string(settings)+"\n"), text...)
	sum := sha256.Sum256(body)
	return File{Path: path, Text: append([]byte(headerPrefix+version+digestOf+hex.EncodeToString(sum[:])+"\n"), body...)}, nil
}

// Stamp is the parsed header of a written file.
type Stamp struct {
	Version  string // of the pawl that wrote it
	Edited   bool   // modified since
	Settings Settings
}

// ReadStamp parses the lines that stamp wrote; false for a file that pawl did not write.
func ReadStamp(text []byte) (Stamp, bool) {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) // git may convert line endings; that is not an edit
	first, body, _ := bytes.Cut(text, []byte("\n"))
	m := headerLine.FindSubmatch(first)
	if m == nil {
		return Stamp{}, false
	}
	sum := sha256.Sum256(body)
	st := Stamp{Version: string(m[1]), Edited: hex.EncodeToString(sum[:]) != string(m[2])}
	line, _, _ := bytes.Cut(body, []byte("\n"))
	if text, ok := bytes.CutPrefix(line, []byte(settingsPrefix)); ok && len(text) < 1<<14 {
		if json.Unmarshal(text, &st.Settings) != nil || st.Settings.Check() != nil {
			st.Settings = Settings{}
		}
	}
	return st, true
}
