package main

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// repository is where links lead that leave the documentation.
const repository = "https://github.com/goatnote-inc/pawl"

var (
	destination = lazyregexp.New(`\]\(([^()\s]+)\)`)
	fence       = lazyregexp.New("^ *```")
)

// outwardLinks makes links to files outside of the documentation lead to the repository on the web.
// Code stays as it is.
func outwardLinks(docs, source string, raw []byte) []byte {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(string(raw)) {
		if fence.MatchString(line) {
			fenced = !fenced
		}
		if fenced || strings.HasPrefix(line, "    ") {
			b.WriteString(line)
			continue
		}
		at := 0
		for _, m := range destination.FindAllStringSubmatchIndex(line, -1) {
			b.WriteString(line[at:m[2]])
			b.WriteString(outward(docs, source, line[m[2]:m[3]]))
			at = m[3]
		}
		b.WriteString(line[at:])
	}
	return []byte(b.String())
}

// outward returns the URL of a link that leaves the documentation, and any other link as it is.
func outward(docs, source, target string) string {
	file, anchor, _ := strings.Cut(target, "#")
	if file == "" || strings.Contains(file, ":") {
		return target
	}
	name := path.Join("docs", path.Dir(source), file)
	local := filepath.Join(filepath.Dir(docs), filepath.FromSlash(name))
	info, err := os.Stat(local)
	if strings.HasPrefix(name, "docs/") {
		if err == nil && info.IsDir() { // a static host shows index.html of a folder; a file system does not
			return strings.TrimSuffix(target, "/") + "/README.md"
		}
		return target
	}
	kind := "/blob/main/"
	if err == nil && info.IsDir() {
		kind = "/tree/main/"
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	return repository + kind + name + anchor
}
