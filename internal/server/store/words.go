package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Limits on the words of a series and of a search. The names of series are untrusted.
const (
	wordBytes   = 40
	seriesWords = 64
	searchTerms = 8
)

// wordsOf returns the words of texts, sorted, each once, in lower case: runs of letters and digits, and the parts of such a run
// that start at a digit after a letter or at a capital after a small letter. Of hdim128 it returns 128 and hdim128.
func wordsOf(texts ...string) []string {
	var list []string
	for _, text := range texts {
		for run := range strings.FieldsFuncSeq(text, separates) {
			list = append(list, cutWord(run))
			for i := 1; i < len(run); i++ {
				if before, here := run[i-1], run[i]; isDigit(here) && isLetter(before) || isCapital(here) && isLetter(before) && !isCapital(before) {
					list = append(list, cutWord(run[i:]))
				}
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), seriesWords)]
}

// terms splits a search text into words. It keeps only the first few.
func terms(text string) []string {
	var list []string
	for run := range strings.FieldsFuncSeq(text, separates) {
		if word := cutWord(run); len(list) < searchTerms && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}

// separates reports whether a character is between words. Characters beyond ASCII are parts of words.
func separates(r rune) bool {
	return r < utf8.RuneSelf && !isLetter(byte(r)) && !isDigit(byte(r)) || r == utf8.RuneError
}

func isCapital(b byte) bool { return 'A' <= b && b <= 'Z' }
func isLetter(b byte) bool  { return isCapital(b) || 'a' <= b && b <= 'z' }
func isDigit(b byte) bool   { return '0' <= b && b <= '9' }

// cutWord returns a word as it is stored. It lowers only ASCII letters: kernel names have no others.
func cutWord(word string) string {
	for len(word) > wordBytes {
		_, size := utf8.DecodeLastRuneInString(word)
		word = word[:len(word)-size]
	}
	return strings.Map(small, word)
}

func small(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// wordText joins words as the column words has them.
func wordText(words []string) string { return " " + strings.Join(words, " ") }

// likeTerms returns the patterns of texts of words in which every term starts a word.
func likeTerms(terms []string) []string {
	list := make([]string, len(terms))
	for i, t := range terms {
		list[i] = "% " + t + "%" // a word contains no character that a pattern treats specially
	}
	return list
}

// seriesTexts returns what a series is found by.
func seriesTexts(name, suite, implementation, path, owners string) []string {
	if implementation == "candidate" {
		implementation = "" // nearly every series has it
	}
	return []string{name, suite, implementation, path, owners}
}

// queueWords adds to a batch what changes the words of series. With fresh, only series that have none yet change. A concurrent
// change may leave a word behind that no longer applies: a search reads the text of the words as well, so it is not found.
func queueWords(b *pgx.Batch, project int64, ids []int64, words []string, fresh bool) {
	b.Queue(`delete from pawl.series_word w using (select s.id, s.lane, unnest(string_to_array(ltrim(s.words), ' ')) word from pawl.series s
		  where s.project_id = $1 and s.id = any($2)) old
		where w.project_id = $1 and w.word = old.word and w.lane = old.lane and w.series_id = old.id`, project, ids)
	b.Queue(`update pawl.series s set words = t.words from unnest($2::bigint[], $3::text[]) as t(id, words)
		where s.project_id = $1 and s.id = t.id and (s.words is null or not $4)`, project, ids, words, fresh)
	b.Queue(`insert into pawl.series_word (project_id, word, lane, series_id)
		select s.project_id, word, s.lane, s.id from pawl.series s, unnest(string_to_array(ltrim(s.words), ' ')) word
		where s.project_id = $1 and s.id = any($2) and word <> '' on conflict do nothing`, project, ids)
}

// indexBatch is the number of series that [Store.IndexWords] indexes per transaction.
const indexBatch = 2_000

// IndexWords indexes the words of series that have none: those of a version without search. It returns their number.
func (s *Store) IndexWords(ctx context.Context) (done int, err error) {
	projects, err := s.db.Projects(ctx, 0)
	if err != nil {
		return 0, err
	}
	for _, project := range projects {
		for after := int64(0); after >= 0; {
			n, last, err := s.indexSome(ctx, project, after)
			if err != nil {
				return done, fmt.Errorf("cannot index the words of series in project %d: %w", project, err)
			}
			done, after = done+n, last
		}
	}
	return done, nil
}

// indexSome indexes the next series above an id. It returns their number and the last id; -1 at the end.
func (s *Store) indexSome(ctx context.Context, project, after int64) (n int, last int64, err error) {
	type unindexed struct {
		ID                                        int64
		Name, Suite, Implementation, Path, Owners string
	}
	list, err := pg.List(ctx, s.db, project, pgx.RowToStructByPos[unindexed], `select id, name, suite, implementation, path, array_to_string(owners, ' ')
		from pawl.series where project_id = $1 and id > $2 and words is null order by id limit $3`, project, after, indexBatch)
	if err != nil || len(list) == 0 {
		return 0, -1, err
	}
	ids, words := make([]int64, len(list)), make([]string, len(list))
	for i, r := range list {
		ids[i], words[i] = r.ID, wordText(wordsOf(seriesTexts(r.Name, r.Suite, r.Implementation, r.Path, r.Owners)...))
	}
	return len(list), ids[len(ids)-1], s.db.ReadBatch(ctx, project, func(b *pgx.Batch) { queueWords(b, project, ids, words, true) })
}
