package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/goatnote-inc/pawl/client"
)

// commit is a commit of the default branch, merged from a pull request.
type commit struct {
	client.Commit
	pull int
	fork bool // the pull request came from a fork
}

var (
	authors = []string{"ada", "lin", "noor", "tomas", "wren", "kofi"}
	doing   = []string{
		"kernels: widen the tile", "kernels: narrow the tile", "attention: keep the scale in a register", "matmul: swizzle shared memory",
		"softmax: one pass instead of two", "reduce: shuffle instead of shared memory", "kernels: drop a barrier", "build: update the compiler",
		"rope: tables in constant memory", "norm: read four values at once", "attention: split the keys", "decode: pages of 32",
		"docs: say how to choose a tile", "tests: more shapes", "matmul: copy asynchronously", "ci: run the gate on two cards",
		"kernels: name the launch bounds", "attention: mask by blocks", "transpose: pad the tile", "bindings: pass the stream",
		"examples: show the small model", "softmax: handle rows of one", "matmul: epilogue with bias", "attention: exponentials in base two",
	}
)

// history generates the commits: a few on each working day, oldest first.
func history(r *rand.Rand, size Size) []commit {
	var list []commit
	parent, pull := "", 100
	day := size.End.AddDate(0, 0, -size.Days)
	for ; day.Before(size.End); day = day.AddDate(0, 0, 1) {
		if w := day.Weekday(); w == time.Saturday || w == time.Sunday {
			continue
		}
		hour := 8 * 60
		for range size.Commits - 1 + r.IntN(3) {
			hour += 20 + r.IntN(11*60/(size.Commits+1))
			at := day.Add(time.Duration(hour) * time.Minute)
			pull += 1 + r.IntN(2)
			c := commit{pull: pull, fork: r.IntN(12) == 0, Commit: client.Commit{
				Parent: parent, At: &at, Author: authors[r.IntN(len(authors))], Title: doing[r.IntN(len(doing))],
			}}
			c.SHA = sha(fmt.Sprint(r.Uint64(), pull, parent))
			parent = c.SHA
			list = append(list, c)
		}
	}
	return list
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:20])
}
