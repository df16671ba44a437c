// Package lazyregexp compiles patterns when they are first used. A command uses few of
// pawl's two hundred, and compiling all of them took longer than most commands do.
package lazyregexp

import (
	"errors"
	"regexp"
	"sync"
)

// Regexp is a pattern that is compiled when it is first asked.
type Regexp struct{ get func() *regexp.Regexp }

// New is for package variables, as regexp.MustCompile is: a pattern that cannot be compiled
// panics, when it is used. A test asks Broken before.
func New(text string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	mu.Lock()
	defer mu.Unlock()
	texts = append(texts, text)
	return r
}

var (
	mu    sync.Mutex
	texts []string // of all there are
)

// Broken is what is wrong with the patterns of this program.
func Broken() error {
	mu.Lock()
	defer mu.Unlock()
	var all []error
	for _, text := range texts {
		_, err := regexp.Compile(text)
		all = append(all, err)
	}
	return errors.Join(all...)
}

// The methods are those of package regexp that pawl uses.

// MatchString is regexp's.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// Match is regexp's.
func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

// FindString is regexp's.
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindStringIndex is regexp's.
func (r *Regexp) FindStringIndex(s string) []int { return r.get().FindStringIndex(s) }

// FindStringSubmatch is regexp's.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// FindStringSubmatchIndex is regexp's.
func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }

// FindAllString is regexp's.
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

// FindAllStringSubmatch is regexp's.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is regexp's.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

// FindSubmatch is regexp's.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.get().FindSubmatch(b) }

// FindAllSubmatch is regexp's.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte { return r.get().FindAllSubmatch(b, n) }

// ReplaceAllString is regexp's.
func (r *Regexp) ReplaceAllString(s, with string) string { return r.get().ReplaceAllString(s, with) }

// ReplaceAllStringFunc is regexp's.
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, with)
}

// String is the pattern.
func (r *Regexp) String() string { return r.get().String() }

// SubexpNames is regexp's.
func (r *Regexp) SubexpNames() []string { return r.get().SubexpNames() }

// ExpandString is regexp's.
func (r *Regexp) ExpandString(dst []byte, template, src string, match []int) []byte {
	return r.get().ExpandString(dst, template, src, match)
}
