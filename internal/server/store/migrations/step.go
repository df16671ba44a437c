package migrations

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// step is one file of migrations. Its first lines say how it is applied:
//
//	-- oldest: 0008      the oldest binary that can run beside it, by its version
//	-- concurrent        each statement runs alone, outside a transaction
//	-- contracts: why    it takes away what binaries before oldest still used
type step struct {
	name, text, digest string
	oldest             string // empty in steps from before they named it: no other binary can run beside those
	concurrent         bool
	contracts          string
}

var header = lazyregexp.New(`(?m)^-- (oldest|concurrent|contracts)(?:: *(.+?))? *$`)

func newStep(name, text string) step {
	sum := sha256.Sum256([]byte(text))
	s := step{name: name, text: text, digest: hex.EncodeToString(sum[:])}
	for _, m := range header.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "oldest":
			s.oldest = m[2]
		case "concurrent":
			s.concurrent = true
		case "contracts":
			s.contracts = m[2]
		}
	}
	return s
}

// version returns the number of a step: the first four characters of its name.
func version(name string) string { return name[:min(4, len(name))] }

// Version returns the version of this binary's schema.
func Version() (string, error) {
	all, err := steps()
	if err != nil || len(all) == 0 {
		return "", err
	}
	return version(all[len(all)-1].name), nil
}

func steps() ([]step, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var list []step
	for _, n := range names {
		text, err := fs.ReadFile(files, n)
		if err != nil {
			return nil, fmt.Errorf("cannot read migration %s: %w", n, err)
		}
		list = append(list, newStep(n, string(text)))
	}
	return list, nil
}

var comment = lazyregexp.New(`--[^\n]*`)

// statements splits SQL at its semicolons, except within $$ quotes, and drops comments.
func statements(sql string) []string {
	var list []string
	var open strings.Builder
	for n, part := range strings.Split(comment.ReplaceAllString(sql, ""), "$$") {
		if n > 0 {
			open.WriteString("$$")
		}
		for k, piece := range strings.Split(part, ";") {
			if n%2 == 1 { // within quotes
				open.WriteString(part)
				break
			}
			if k > 0 {
				list = appendStatement(list, &open)
			}
			open.WriteString(piece)
		}
	}
	return appendStatement(list, &open)
}

func appendStatement(list []string, open *strings.Builder) []string {
	text := strings.TrimSpace(open.String())
	open.Reset()
	if text == "" {
		return list
	}
	return append(list, text)
}
