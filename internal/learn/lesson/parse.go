package lesson

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
)

// MaxFile is the maximum size of a lesson, in bytes.
const MaxFile = 64 << 10

const (
	maxTitle = 120 // characters
	maxText  = 2000
	maxList  = 20
	fence    = "---\n"
)

// Classes returns what a lesson can be about: the bottlenecks of a diagnosis, and what goes wrong
// before and besides them.
func Classes() []string {
	var list []string
	for _, b := range Bottlenecks {
		list = append(list, string(b))
	}
	return append(list, "build", "correctness", "environment", "measurement", "method")
}

// Bottlenecks are the classes whose lessons name a fix for a kernel.
var Bottlenecks = []diagnose.Bottleneck{diagnose.Memory, diagnose.Compute, diagnose.Latency, diagnose.Launch, diagnose.Occupancy, diagnose.Balanced}

var (
	fixIDForm  = lazyregexp.New(`^([a-z0-9][a-z0-9-]{0,79}/[1-9]|lesson/[a-z0-9][a-z0-9-]{0,79})$`)
	gpuForm    = lazyregexp.New(`^(cpu|sm_[0-9]{1,3}[a-z]?|sm_[0-9]{0,2}\*)$`)
	familyForm = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,39}$`)
	nameForm   = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,79}$`)
	notSlug    = lazyregexp.New(`[^a-z0-9]+`)
	hexForm    = lazyregexp.New(`^[0-9a-f]{6}$`)
)

// Parse reads the text of a lesson; errors name the file. The name is not in the text.
func Parse(file string, data []byte) (*Lesson, error) {
	l, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return l, nil
}

func parse(data []byte) (*Lesson, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("more than %d bytes", MaxFile)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	if err := visible(text); err != nil {
		return nil, err
	}
	rest, found := strings.CutPrefix(text, fence)
	front, body, closed := strings.Cut(rest, "\n"+fence)
	if !found || !closed {
		return nil, errors.New("a lesson starts with front matter between two lines of ---: title, symptom, class, cause, fix and source")
	}
	l := &Lesson{}
	d := yaml.NewDecoder(strings.NewReader("\n" + front)) // so that lines count from the file's start
	d.KnownFields(true)
	if err := d.Decode(l); err != nil {
		return nil, fmt.Errorf("front matter: %w", err)
	}
	l.Body = strings.Trim(body, "\n")
	return l, l.check()
}

// visible refuses characters that a reader does not see.
func visible(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("not UTF-8 text")
	}
	line := 1
	for _, r := range text {
		if r == '\n' {
			line++
		} else if r != '\t' && words.Invisible(r) {
			return fmt.Errorf("line %d: invisible character U+%04X: remove it", line, r)
		}
	}
	return nil
}

// check returns what is wrong with a lesson, and compiles its symptom.
func (l *Lesson) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, t := range []struct {
		key  string
		text *string
		most int
		must bool
	}{{"title", &l.Title, maxTitle, true}, {"symptom", &l.Symptom, maxText, false}, {"cause", &l.Cause, maxText, true}, {"fix", &l.Fix, maxText, true}, {"author", &l.Author, maxTitle, false}} {
		*t.text = paragraph(*t.text)
		switch {
		case t.must && *t.text == "":
			bad("%s is missing", t.key)
		case utf8.RuneCountInString(*t.text) > t.most:
			bad("%s: more than %d characters", t.key, t.most)
		case visible(*t.text) != nil: // escapes of YAML can hide some
			bad("%s: invisible character", t.key)
		}
	}
	if !slices.Contains(Classes(), l.Class) {
		bad("class: %.40q must be one of %s", l.Class, strings.Join(Classes(), ", "))
	}
	if l.FixID != "" && !fixIDForm.MatchString(l.FixID) {
		bad("fix_id: %.60q must be a rule and the number of its fix, such as bank-conflicts/1", l.FixID)
	}
	for _, g := range l.GPUs {
		if !gpuForm.MatchString(g) {
			bad("gpus: %.60q must be sm_89, sm_9* or cpu", g)
		}
	}
	for _, k := range l.Kernels {
		if !familyForm.MatchString(k) {
			bad("kernels: %.60q must be a family in lower case, such as attention", k)
		}
	}
	if n := len(l.Source); n == 0 {
		bad("source is missing: a run, a session or a document that shows it")
	} else if n > maxList || len(l.Tests) > maxList {
		bad("source and tests: at most %d each", maxList)
	}
	for _, text := range l.Source {
		if utf8.RuneCountInString(text) > maxText || visible(text) != nil {
			bad("source: at most %d visible characters each", maxText)
		}
	}
	if !(l.Claim >= 0 && l.Claim < 1) { // also not a number
		bad("claim: must be a share of the time that is saved, above 0 and below 1")
	}
	if err := l.Compile(); err != nil {
		errs = append(errs, err)
	} else {
		errs = append(errs, l.hold()...)
	}
	return errors.Join(errs...)
}

// hold returns the examples that the lesson does not match as they say.
func (l *Lesson) hold() []error {
	var errs []error
	for i, t := range l.Tests {
		got := "silent"
		if l.Matches(Facts{Numbers: t.Facts, GPU: t.GPU, Kernel: t.Kernel}) {
			got = "speaks"
		}
		if got != t.Want {
			errs = append(errs, fmt.Errorf("tests: example %d wants %q, and the lesson is %q", i+1, t.Want, got))
		}
	}
	return errs
}

// paragraph joins a text to one line.
func paragraph(s string) string { return strings.Join(strings.Fields(s), " ") }

// Write returns the text of a lesson as Parse reads it.
func Write(l *Lesson) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(fence)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(l), e.Close()); err != nil {
		return nil, fmt.Errorf("cannot write the lesson: %w", err)
	}
	b.WriteString(fence)
	if body := strings.Trim(l.Body, "\n"); body != "" {
		b.WriteString(body + "\n")
	}
	if _, err := parse(b.Bytes()); err != nil {
		return nil, fmt.Errorf("cannot write the lesson: %w", err)
	}
	return b.Bytes(), nil
}

// Name returns the name of a lesson with this text: words of its title and part of the text's digest,
// so that no two lessons have the same.
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

func digest(data []byte, digits int) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:digits]
}

// edited reports whether a text is not the one that its name was made for. Names without a digest say
// nothing.
func edited(name string, text []byte) bool {
	i := strings.LastIndexByte(name, '-')
	return i >= 0 && hexForm.MatchString(name[i+1:]) && name[i+1:] != digest(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), 6)
}
