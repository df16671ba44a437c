// Package spell finds the known word that a user probably meant. It compares letters, and knows
// nothing about what the words stand for.
package spell

import "strings"

// Nearest returns the known word closest to word, or "" if none is close enough to suggest. Of
// equally close words the first wins.
func Nearest(word string, known []string) string {
	const longest = 100 // no valid name is longer, and the cost grows with the square of the length
	if word == "" || len(word) > longest {
		return ""
	}
	best, bestDistance := "", limit(word)+1
	for _, k := range known {
		if strings.EqualFold(word, k) {
			return k
		}
		if len(k) > longest {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// limit returns how many letters may differ: none in a single letter, one in a short word, a
// third of a long one. Beyond that, a suggestion would mislead.
func limit(word string) int { return min(len(word)-1, max(1, len(word)/3)) }

// distance returns how many letters must be inserted, deleted, replaced or swapped with a
// neighbor to turn a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before := make([]int, len(y)+1) // the row two above the current one
	last := make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			replace := last[j-1]
			if x[i-1] != y[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}
