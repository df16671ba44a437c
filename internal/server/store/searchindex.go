package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// commonTerm is the number of entries of the index from which on a term is common. Entries of a common term are not all read.
const commonTerm = 20_000

// entriesOf selects the entries of the index whose word starts with a term. Its parameters are the project, the term and the end
// of its range.
const entriesOf = `select series_id from pawl.series_word where project_id = $1 and word >= $%d and word < $%d`

// afterTerm returns the end of the range of words that start with a term.
func afterTerm(term string) string { return term + "\U0010FFFF" }

// matches returns the ids of series in which every term that is not common starts a word, ascending. If all are common, it returns
// some series with the longest term, and whole is false.
func (s *Store) matches(ctx context.Context, project int64, terms []string) (ids []int64, whole bool, err error) {
	counts := make([]int, len(terms))
	err = s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		for i, t := range terms {
			b.Queue(`select count(*) from (`+fmt.Sprintf(entriesOf, 2, 3)+` limit $4) few`, project, t, afterTerm(t), commonTerm).
				QueryRow(func(row pgx.Row) error { return row.Scan(&counts[i]) })
		}
	})
	if err != nil {
		return nil, false, err
	}
	if slices.Contains(counts, 0) {
		return nil, true, nil
	}
	args, longest := []any{project}, terms[0]
	var sets []string
	for i, t := range terms {
		if len(t) > len(longest) {
			longest = t
		}
		if counts[i] < commonTerm {
			args = append(args, t, afterTerm(t))
			sets = append(sets, fmt.Sprintf(entriesOf, len(args)-1, len(args)))
		}
	}
	whole = len(sets) > 0
	if !whole {
		args = append(args, longest, afterTerm(longest))
		sets = []string{"(" + fmt.Sprintf(entriesOf, 2, 3) + fmt.Sprintf(` order by word, lane, series_id limit %d)`, commonTerm/10)}
	}
	ids, err = pg.List(ctx, s.db, project, pgx.RowTo[int64], strings.Join(sets, " intersect "), args...)
	slices.Sort(ids)
	return slices.Compact(ids), whole, err
}

// eachMatch calls read with growing parts of ids until it says that it has enough. Most searches need only the first part.
func eachMatch(ids []int64, read func(part []int64) (enough bool, err error)) error {
	for size := 200; len(ids) > 0; size *= 4 {
		part := ids[:min(size, len(ids))]
		if enough, err := read(part); enough || err != nil {
			return err
		}
		ids = ids[len(part):]
	}
	return nil
}

// after returns the ids above one.
func after(ids []int64, one int64) []int64 {
	n, found := slices.BinarySearch(ids, one)
	if found {
		n++
	}
	return ids[n:]
}
