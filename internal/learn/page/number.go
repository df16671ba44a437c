package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

func number(n int) string { return strconv.Itoa(n) }

// noun is a word for so many, without their number.
func noun(n int, word string) string {
	_, text, _ := strings.Cut(words.Plural(n, word), " ")
	return text
}

// formatTimes writes a speed-up as people say it.
func formatTimes(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0fx", v)
	}
	return fmt.Sprintf("%.2fx", v)
}
