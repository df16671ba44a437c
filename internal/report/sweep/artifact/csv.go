package artifact

import (
	"bytes"
	"encoding/csv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// writeCSV writes a table for programs: plain numbers, one column per value.
func writeCSV(t table) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	var head []string
	for _, c := range t.columns {
		head = append(head, c.fields...)
	}
	_ = w.Write(head) // a bytes.Buffer does not fail
	for _, row := range t.rows {
		var fields []string
		for _, c := range row {
			for _, v := range c.values {
				fields = append(fields, csvField(v))
			}
		}
		_ = w.Write(fields)
	}
	w.Flush()
	return b.Bytes()
}

// csvField keeps a spreadsheet from executing a benchmark name as a formula. All numbers in
// these tables are positive, so only names are changed.
func csvField(s string) string {
	s = words.Sanitize(s)
	if strings.HasPrefix(s, "=") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "@") {
		return "'" + s
	}
	return s
}
