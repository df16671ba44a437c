package artifact

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
)

// tables returns all tables of a sweep, most informative first.
func tables(r *sweep.Result) []table {
	return []table{overallTable(r), speedupTable(r), rankingTable(r), speedupsTable(r), powerTable(r)}
}

// timeColumns returns the columns of a standing.
func timeColumns(head string) []column {
	return []column{
		{head: "rank", right: true, fields: []string{"rank", "rank_to"}},
		{head: "implementation", fields: []string{"implementation"}},
		{head: "rounds", right: true, fields: []string{"rounds"}},
		{head: head, right: true, fields: []string{"time_ns"}},
		{head: "95 % interval", right: true, fields: []string{"time_low_ns", "time_high_ns"}},
		{head: "remark", fields: []string{"tied_with", "lacks"}},
	}
}

func standingCells(s sweep.Standing) []cell {
	return []cell{
		{Rank(s), []string{strconv.Itoa(s.Rank), strconv.Itoa(s.RankTo)}},
		textCell(s.Implementation), count(s.Rounds), nanoseconds(s.Time), nanosecondRange(s.Interval),
		remark(s.Tied),
	}
}

func remark(tied []string) cell {
	if len(tied) == 0 {
		return blank(2)
	}
	return cell{"tied with " + strings.Join(tied, ", "), []string{strings.Join(tied, ";"), ""}}
}

// Rank formats a rank: 1, or 1-2 if two are tied.
func Rank(s sweep.Standing) string {
	if s.Rank == s.RankTo {
		return strconv.Itoa(s.Rank)
	}
	return fmt.Sprintf("%d-%d", s.Rank, s.RankTo)
}

func overallTable(r *sweep.Result) table {
	t := table{
		name: "overall", title: "Overall",
		note:    fmt.Sprintf("Geometric means over the %s that every implementation has, and over the rounds.", words.Plural(len(r.Overall.Configs), "config")),
		columns: timeColumns("geometric mean"),
	}
	for _, s := range r.Overall.Standings {
		t.rows = append(t.rows, standingCells(s))
	}
	return t
}

func speedupTable(r *sweep.Result) table {
	t := table{
		name: "speedup", title: "Speed-up of " + r.Subject,
		note: "Geometric means over the configs that both have. Above 1x, " + r.Subject + " is faster.",
		columns: []column{
			{head: "against", fields: []string{"against"}},
			{head: "speed-up", right: true, fields: []string{"speedup"}},
			{head: "95 % interval", right: true, fields: []string{"speedup_low", "speedup_high"}},
			{head: "configs", right: true, fields: []string{"configs"}},
			{head: "rounds", right: true, fields: []string{"rounds"}},
		},
	}
	for _, s := range r.Speedups {
		if s.Rounds == 0 {
			t.rows = append(t.rows, []cell{textCell(s.Against), blank(1), blank(2), count(s.Configs), count(0)})
			continue
		}
		t.rows = append(t.rows, []cell{textCell(s.Against), factor(s.Value), factorRange(s.Interval), count(s.Configs), count(s.Rounds)})
	}
	return t
}

func rankingTable(r *sweep.Result) table {
	t := table{
		name: "ranking", title: "Rank on every config",
		note: "Implementations that cannot be told apart share their ranks. All claims about one config hold together with 99 % confidence " +
			"(paired differences by round, Holm over the pairs).",
		columns: append([]column{{head: "config", fields: []string{"config"}}}, timeColumns("time")...),
	}
	for _, c := range r.Configs {
		for _, s := range c.Standings {
			t.rows = append(t.rows, append([]cell{textCell(c.Name)}, standingCells(s)...))
		}
		for _, l := range c.Lacking {
			t.rows = append(t.rows, []cell{
				textCell(c.Name), {"-", []string{"", ""}}, textCell(l.Name), count(0), blank(1), blank(2), {l.Reason, []string{"", l.Reason}},
			})
		}
	}
	return t
}

func speedupsTable(r *sweep.Result) table {
	t := table{
		name: "speedup-by-config", title: "Speed-up of " + r.Subject + " on every config",
		note: "P is the p-value for no difference, adjusted for the pairs of the config. It decides ties. " +
			"The intervals are not adjusted: one that just excludes 1x can belong to a tie.",
		columns: []column{
			{head: "config", fields: []string{"config"}},
			{head: "against", fields: []string{"against"}},
			{head: "speed-up", right: true, fields: []string{"speedup"}},
			{head: "95 % interval", right: true, fields: []string{"speedup_low", "speedup_high"}},
			{head: "P", right: true, fields: []string{"p_holm"}},
			{head: r.Subject + " is", fields: []string{"says"}},
		},
	}
	for _, c := range r.Configs {
		for _, p := range c.Pairs {
			if p.Of == r.Subject {
				t.rows = append(t.rows, []cell{textCell(c.Name), textCell(p.Against), factor(p.Value), factorRange(p.Interval), chance(p.Holm), textCell(outcomeWord(p))})
			}
		}
	}
	return t
}

// outcomeWord describes a comparison in one word.
func outcomeWord(p sweep.Pair) string {
	switch {
	case !p.Told:
		return "tied"
	case p.Value > 1:
		return "faster"
	default:
		return "slower"
	}
}

func powerTable(r *sweep.Result) table {
	t := table{
		name: "power", title: "Detectable differences",
		note: "The smallest difference between any two implementations that these rounds find 19 times in 20, and how many rounds smaller differences need. " +
			"The spread is that of the ratio of a round.",
		columns: []column{
			{head: "config", fields: []string{"config"}},
			{head: "rounds", right: true, fields: []string{"rounds"}},
			{head: "spread", right: true, fields: []string{"spread"}},
			{head: "detectable difference", right: true, fields: []string{"detectable"}},
			{head: "rounds for 3 %", right: true, fields: []string{"rounds_for_3_percent"}},
			{head: "rounds for 1 %", right: true, fields: []string{"rounds_for_1_percent"}},
		},
	}
	for _, c := range r.Configs {
		if p := c.Power; p != nil {
			t.rows = append(t.rows, []cell{textCell(c.Name), count(p.Rounds), share(p.Spread), share(p.Detectable), rounds(p.For3), rounds(p.For1)})
		}
	}
	return t
}

// rounds formats the number of rounds needed, where 0 means out of reach.
func rounds(n int) cell {
	if n == 0 {
		return cell{"out of reach", []string{""}}
	}
	return count(n)
}
