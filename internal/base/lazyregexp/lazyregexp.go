// Package lazyregexp compiles patterns on first use. A command uses few of pawl's two
// hundred patterns, and compiling all of them took longer than most commands run.
package lazyregexp

import (
	"errors"
	"regexp"
	"sync"
)

// Regexp is a pattern that is compiled on first use.
type Regexp struct{ get func() *regexp.Regexp }

// New returns a pattern for a package variable, like regexp.MustCompile. An invalid pattern
// panics on first use. A test calls Broken to find it earlier.
func New(text string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	mu.Lock()
	defer mu.Unlock()
	texts = append(texts, text)
	return r
}

var (
	mu    sync.Mutex
	texts []string // of all patterns of the program
)

// CompileAll returns an error for the patterns of this program that do not compile.
func CompileAll() error {
	mu.Lock()
	defer mu.Unlock()
	var all []error
	for _, text := range texts {
		_, err := regexp.Compile(text)
		all = append(all, err)
	}
	return errors.Join(all...)
}

// The methods are the ones of package regexp that pawl uses.

// MatchString is regexp.Regexp.MatchString.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// Match is regexp.Regexp.Match.
func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

// FindString is regexp.Regexp.FindString.
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindStringIndex is regexp.Regexp.FindStringIndex.
func (r *Regexp) FindStringIndex(s string) []int { return r.get().FindStringIndex(s) }

// FindStringSubmatch is regexp.Regexp.FindStringSubmatch.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// FindStringSubmatchIndex is regexp.Regexp.FindStringSubmatchIndex.
func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }

// FindAllString is regexp.Regexp.FindAllString.
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

// FindAllStringSubmatch is regexp.Regexp.FindAllStringSubmatch.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is regexp.Regexp.FindAllStringSubmatchIndex.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

// FindSubmatch is regexp.Regexp.FindSubmatch.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.get().FindSubmatch(b) }

// FindAllSubmatch is regexp.Regexp.FindAllSubmatch.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte { return r.get().FindAllSubmatch(b, n) }

// ReplaceAllString is regexp.Regexp.ReplaceAllString.
func (r *Regexp) ReplaceAllString(s, with string) string { return r.get().ReplaceAllString(s, with) }

// ReplaceAllStringFunc is regexp.Regexp.ReplaceAllStringFunc.
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, with)
}

// String returns the source text of the pattern.
func (r *Regexp) String() string { return r.get().String() }

// SubexpNames is regexp.Regexp.SubexpNames.
func (r *Regexp) SubexpNames() []string { return r.get().SubexpNames() }

// ExpandString is regexp.Regexp.ExpandString.
func (r *Regexp) ExpandString(dst []byte, template, src string, match []int) []byte {
	return r.get().ExpandString(dst, template, src, match)
}
