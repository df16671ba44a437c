package smi

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// row is one line of a query: values by field, without missing values.
type row map[string]string

// renamed maps a field to its older name.
var renamed = map[string]string{
	"clocks_event_reasons.active": "clocks_throttle_reasons.active",
}

// query reads fields of one GPU, or of all if gpu is empty. Only the last field may
// contain commas, because nvidia-smi does not quote.
func (t *Tool) query(ctx context.Context, gpu string, fields ...string) ([]row, error) {
	for {
		args := []string{"--query-gpu=" + strings.Join(fields, ","), "--format=csv,noheader,nounits"}
		if gpu != "" {
			args = append(args, "--id="+gpu)
		}
		out, err := t.run(ctx, args...)
		if err == nil {
			return parse(out, fields)
		}
		bad := refused(out)
		i := slices.Index(fields, bad)
		if i < 0 {
			return nil, err
		}
		fields = slices.Clone(fields)
		if old, ok := renamed[bad]; ok {
			fields[i] = old
		} else {
			fields = slices.Delete(fields, i, i+1)
		}
		if len(fields) == 0 {
			return nil, err
		}
	}
}

// refused returns the field that nvidia-smi reports as unknown, or "".
func refused(out string) string {
	for line := range strings.Lines(out) {
		before, _, ok := strings.Cut(line, "\" is not a valid field to query")
		if ok {
			_, name, _ := strings.Cut(before, "\"")
			return name
		}
	}
	return ""
}

// parse parses the lines of a query into rows of the given fields.
func parse(out string, fields []string) ([]row, error) {
	var rows []row
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		values := strings.SplitN(line, ",", len(fields))
		if len(values) != len(fields) {
			return nil, fmt.Errorf("nvidia-smi printed %d values for %d fields: %q", len(values), len(fields), firstLine(line))
		}
		r := row{}
		for i, name := range fields {
			if v := strings.TrimSpace(values[i]); isKnown(v) {
				r[current(name)] = strings.ToValidUTF8(v, "?")
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// isKnown reports whether v is a real value, not one of nvidia-smi's spellings of "unknown".
func isKnown(v string) bool {
	switch strings.ToLower(strings.Trim(v, "[] ")) {
	case "", "n/a", "not supported", "not found", "unknown", "unknown error", "insufficient permissions",
		"gpu is lost", "gpu requires reset", "requested functionality has been deprecated":
		return false
	}
	return true
}

// current returns the current name of a field, given its old or current name.
func current(name string) string {
	for now, old := range renamed {
		if name == old {
			return now
		}
	}
	return name
}
