package store

import (
	"context"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Limits of a search in the index of words.
const (
	termWords   = 100    // words of a term that are read in id order
	termEntries = 20_000 // entries of a term with more words
	stepEntries = 2_000  // entries of a term that one step reads, or wordEntries of each word if these are more
	wordEntries = 100
	searchSteps = 30
	checkedRows = 500 // series whose texts are read at once
)

// posting is a term in the index: the words that start with it or, if these are too many, the ids of their series.
type posting struct {
	words []string
	ids   []int64
}

// afterTerm returns the end of the range of words that start with a term.
func afterTerm(term string) string { return term + "\U0010FFFF" }

// postings looks terms up in the index, except for those with too many words and too many entries. found is false if a
// term starts no word.
func (s *Store) postings(ctx context.Context, project int64, terms []string) (list []posting, found bool, err error) {
	const theWords = `with recursive known as (
		  (select word, 1 as n from pawl.series_word where project_id = $1 and word >= $2 and word < $3 order by word limit 1)
		  union all
		  select (select w.word from pawl.series_word w where w.project_id = $1 and w.word > known.word and w.word < $3 order by w.word limit 1), n + 1
		  from known where word is not null and n <= $4)
		select word from known where word is not null`
	const theIDs = `select series_id from pawl.series_word where project_id = $1 and word >= $2 and word < $3 order by word, lane, series_id limit $4`
	if len(terms) == 0 {
		return nil, true, nil
	}
	words := make([][]string, len(terms))
	err = s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		for i, t := range terms {
			pg.Queue(b, pgx.RowTo[string], &words[i], theWords, project, t, afterTerm(t), termWords)
		}
	})
	if err != nil || slices.ContainsFunc(words, func(of []string) bool { return len(of) == 0 }) {
		return nil, false, err
	}
	for i, t := range terms {
		if len(words[i]) <= termWords {
			list = append(list, posting{words: words[i]})
			continue
		}
		ids, err := pg.List(ctx, s.db, project, pgx.RowTo[int64], theIDs, project, t, afterTerm(t), termEntries)
		if err != nil {
			return nil, false, err
		}
		if len(ids) < termEntries {
			slices.Sort(ids)
			list = append(list, posting{ids: slices.Compact(ids)})
		}
	}
	return list, true, nil
}

// eachMatch calls read with conditions on the id of series s, with a value for their parameter $2, until it says that it has
// enough. Together they select at least the series above an id in which every term starts a word, in id order. read must
// compare the texts of the series as well.
func (s *Store) eachMatch(ctx context.Context, project int64, terms []string, above int64, read func(where string, value any) (enough bool, err error)) error {
	list, found, err := s.postings(ctx, project, terms)
	if err != nil || !found {
		return err
	}
	for step := 0; len(list) > 0 && step < searchSteps; step++ {
		parts, err := s.nextParts(ctx, project, list, above)
		if err != nil {
			return err
		}
		ids, end := overlap(parts)
		for some := range slices.Chunk(ids, checkedRows) {
			if enough, err := read("s.id = any($2)", some); enough || err != nil {
				return err
			}
		}
		if end == math.MaxInt64 {
			return nil
		}
		above = end
	}
	_, err = read("s.id > $2", above)
	return err
}

// nextParts reads the next entries of each posting above an id.
func (s *Store) nextParts(ctx context.Context, project int64, list []posting, above int64) ([]part, error) {
	const ofWords = `select array(select e.series_id from pawl.series_word e
		  where e.project_id = $1 and e.word = w and e.lane = l and e.series_id > $3 order by e.series_id limit $4)
		from unnest($2::text[]) w, unnest(array[0, 1, 2]::smallint[]) l`
	entries := make([][][]int64, len(list))
	sizes := make([]int, len(list))
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		for i, p := range list {
			if len(p.words) == 0 {
				n, _ := slices.BinarySearch(p.ids, above+1)
				sizes[i] = stepEntries
				entries[i] = [][]int64{p.ids[n:min(n+stepEntries, len(p.ids))]}
				continue
			}
			sizes[i] = max(stepEntries/len(p.words), wordEntries)
			pg.Queue(b, pgx.RowTo[[]int64], &entries[i], ofWords, project, p.words, above, sizes[i])
		}
	})
	parts := make([]part, len(list))
	for i := range list {
		parts[i] = joined(entries[i], sizes[i])
	}
	return parts, err
}

// part lists, in ascending order, all series with a term from where a step starts to an end, which is [math.MaxInt64] if there are
// no more.
type part struct {
	ids []int64
	end int64
}

// joined merges the entries of words. A list of the given size may continue, so the part ends with the first of these.
func joined(lists [][]int64, size int) part {
	p := part{end: math.MaxInt64}
	for _, list := range lists {
		if len(list) == size {
			p.end = min(p.end, list[size-1])
		}
	}
	for _, list := range lists {
		p.ids = append(p.ids, upTo(list, p.end)...)
	}
	slices.Sort(p.ids)
	p.ids = slices.Compact(p.ids)
	return p
}

// upTo returns the ids that are not above one.
func upTo(ids []int64, one int64) []int64 {
	n, found := slices.BinarySearch(ids, one)
	if found {
		n++
	}
	return ids[:n]
}

// overlap returns series that may have all terms, and the id up to which there are no others; [math.MaxInt64] if there are no more.
// It leaves out terms that are much more frequent than another: their parts are short, and the texts of the few series tell.
func overlap(parts []part) (ids []int64, end int64) {
	var first, last int64
	for _, p := range parts {
		if len(p.ids) == 0 {
			return nil, math.MaxInt64
		}
		first, last = max(first, p.ids[0]), max(last, p.ids[len(p.ids)-1])
	}
	end = math.MaxInt64
	for _, p := range parts {
		reach := p.ids[len(p.ids)-1]
		if reach < first {
			return nil, max(p.end, first-1) // the part ends before another starts
		}
		if reach-first < (last-first)/8 {
			continue
		}
		end = min(end, p.end)
		if ids == nil {
			ids = p.ids
		} else {
			ids = both(ids, p.ids)
		}
	}
	return upTo(ids, end), end
}

// both returns the ids that are in two ascending lists.
func both(a, b []int64) []int64 {
	list := []int64{}
	for _, id := range a {
		n, found := slices.BinarySearch(b, id)
		if b = b[n:]; found {
			list = append(list, id)
		}
	}
	return list
}
