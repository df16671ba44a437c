package runner

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/measure"
)

// addComparability adds to cases what makes their times comparable with stored ones: the definition and the
// method. A computed metric follows the time of its case and needs neither.
func (r *Setup) addComparability(cases []measure.Case) error {
	for i := range cases {
		c := &cases[i]
		if c.Metric != "" && !c.Reported {
			continue
		}
		definition, err := r.definitionDigest(c.Implementation, c.Benchmark)
		if err != nil {
			return err
		}
		c.Definition, c.Method = definition, r.method(*c)
	}
	return nil
}

// definitionDigest returns the digest of the definition by which a side measures a benchmark. It reads the
// definition files where the side runs, so the digest is of the files used.
func (r *Setup) definitionDigest(side, benchmark string) (string, error) {
	key := side + "\n" + benchmark
	if known, ok := r.definitionDigests[key]; ok {
		return known, nil
	}
	dir := r.Dir
	for _, s := range r.sides {
		if s.name == side {
			dir = s.dir
		}
	}
	files, err := build.Digests(dir, r.Suite.Definition)
	if err != nil {
		return "", err
	}
	parts := []string{r.Suite.Question(benchmark)}
	for _, f := range files {
		parts = append(parts, f.Path, f.Digest)
	}
	if r.definitionDigests == nil {
		r.definitionDigests = map[string]string{}
	}
	r.definitionDigests[key] = digestOf(parts...)
	return r.definitionDigests[key], nil
}

// method describes how a case is timed: the version of pawl's timing, the clock, the cache state,
// the trust in the harness, and the format of a command that times itself.
func (r *Setup) method(c measure.Case) string {
	text := fmt.Sprintf("v%d %s %s %s", trial.MethodVersion, c.Timer, cmp.Or(c.Cache, measure.Hot), r.trust())
	if r.plain() {
		text += " " + r.variants(r.sides[0])[0].Harness.Format
	}
	return text
}

// digestOf returns 16 hex digits that identify the parts.
func digestOf(parts ...string) string {
	sum := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(sum, "%d:%s\n", len(p), p)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
