package lesson

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Write gives the text of a lesson as Parse reads it, with every text of the front matter
// as one paragraph. A lesson that could not be read back is an error.
func Write(l *Lesson) ([]byte, error) {
	var b bytes.Buffer
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, scalar(value, "  "))
		}
	}
	list := func(key string, values []string) {
		if len(values) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:\n", key)
		for _, v := range values {
			fmt.Fprintf(&b, "  - %s\n", scalar(v, "    "))
		}
	}
	b.WriteString(fence + "\n")
	line("title", l.Title)
	line("symptom", l.Symptom)
	line("class", l.Class)
	line("cause", l.Cause)
	line("fix", l.Fix)
	line("fix_id", l.FixID)
	list("gpus", l.GPUs)
	list("kernels", l.Kernels)
	list("source", l.Source)
	line("author", l.Author)
	line("state", string(l.State))
	if l.Claim != nil {
		fmt.Fprintf(&b, "claim: %s\n", number(*l.Claim))
	}
	if !l.Written.IsZero() {
		line("written", l.Written.UTC().Format(time.RFC3339))
	}
	writeTests(&b, l.Tests)
	b.WriteString(fence + "\n")
	if body := strings.Trim(strings.ReplaceAll(l.Body, "\r\n", "\n"), "\n"); body != "" {
		b.WriteString(body + "\n")
	}
	if _, err := Parse("lesson", b.Bytes()); err != nil {
		return nil, fmt.Errorf("this lesson cannot be written: %w", err)
	}
	return b.Bytes(), nil
}

func writeTests(b *bytes.Buffer, tests []Test) {
	if len(tests) > 0 {
		b.WriteString("tests:\n")
	}
	for _, t := range tests {
		b.WriteString("  - {")
		for _, p := range [][2]string{{"name", t.Name}, {"gpu", t.GPU}, {"kernel", t.Kernel}} {
			if p[1] != "" {
				fmt.Fprintf(b, "%s: %s, ", p[0], quoted(paragraph(p[1])))
			}
		}
		word := "silent"
		if t.Speaks {
			word = "speaks"
		}
		var facts []string
		for _, name := range slices.Sorted(maps.Keys(t.Facts)) {
			facts = append(facts, name+": "+number(t.Facts[name]))
		}
		fmt.Fprintf(b, "want: %s, facts: {%s}}\n", word, strings.Join(facts, ", "))
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// width is how long lines of the front matter get.
const width = 96

// plainForm is text that YAML takes for itself wherever it stands.
var plainForm = lazyregexp.New(`^[a-z_][A-Za-z0-9_/.-]*( [A-Za-z0-9_/.+*()<>=-]+)*$`)

// scalar is a text as YAML: as it is where that is safe, folded where it is long, else in
// quotes.
func scalar(s, indent string) string {
	s = paragraph(s)
	switch {
	case len(s)+len(indent) <= width && plainForm.MatchString(s) && !yamlWord(s):
		return s
	case len(s) > width-len(indent) && !strings.ContainsFunc(s, func(r rune) bool { return hidden(r) || !unicode.IsPrint(r) }):
		return ">-\n" + indent + strings.Join(wrap(s, width-len(indent)), "\n"+indent)
	}
	return quoted(s)
}

// yamlWord tells of words that YAML, or one of its older releases, takes for something else.
func yamlWord(s string) bool {
	return slices.Contains([]string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s))
}

// quoted is a text in double quotes. What Go escapes in its own way YAML does not know, but
// such characters are in no lesson: Parse refuses them.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(s) + `"`
}

// wrap breaks a paragraph into lines.
func wrap(s string, most int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && len(line)+1+len(word) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

var notSlug = lazyregexp.New(`[^a-z0-9]+`)

// Name is the name of a lesson with this text: words of its title and a part of the text's
// digest, so that no two lessons meet under one.
func Name(title string, text []byte) string {
	slug := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(title), "-"), "-")
	if len(slug) > 48 {
		slug = slug[:48]
		if i := strings.LastIndexByte(slug, '-'); i > 16 {
			slug = slug[:i]
		}
	}
	if slug == "" {
		slug = "lesson"
	}
	return strings.Trim(slug, "-") + "-" + digest(text, 6)
}

var nameForm = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,79}$`)

func digest(data []byte, digits int) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:digits]
}

// edited tells of a text that is not the one its name was given for. Names without a digest
// are people's own, and say nothing.
func edited(name string, text []byte) bool {
	i := strings.LastIndexByte(name, '-')
	if i < 0 || !hexForm.MatchString(name[i+1:]) {
		return false
	}
	return name[i+1:] != digest(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), 6)
}

var hexForm = lazyregexp.New(`^[0-9a-f]{6}$`)
