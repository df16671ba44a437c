package learn

import (
	"fmt"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/internal/report"
)

// Terminal writes what the lab found.
func (l *Lab) Terminal(w io.Writer, style report.Style) error {
	var b strings.Builder
	for _, part := range l.parts() {
		b.WriteString(style.Bold(part.title) + "\n")
		if err := report.Table(&b, style, part.right, part.rows); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes it for docs/lab/learning.md.
func (l *Lab) Markdown(w io.Writer) error {
	var b strings.Builder
	for _, part := range l.parts() {
		b.WriteString("**" + part.title + "**\n\n")
		for i, row := range part.rows {
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
			if i > 0 {
				continue
			}
			for _, right := range part.right {
				b.WriteString(map[bool]string{true: "| ---: ", false: "| --- "}[right])
			}
			b.WriteString("|\n")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// part is a table with its title.
type part struct {
	title string
	right []bool
	rows  [][]string
}

func (l *Lab) parts() []part {
	return []part{l.promisesPart(), l.ratesPart(), l.coveragePart(), l.poisonPart(), l.forecastPart()}
}

func (l *Lab) promisesPart() part {
	p := part{fmt.Sprintf("What is asked for: %d of %d do not hold", l.Broken(), len(l.Promises)), []bool{false, true, true, true}, [][]string{{"what", "limit", "measured", "holds"}}}
	for _, promise := range l.Promises {
		p.rows = append(p.rows, []string{promise.What, promise.Limit, percent(promise.Measured), map[bool]string{true: "yes", false: "no"}[promise.Holds]})
	}
	return p
}

func (l *Lab) ratesPart() part {
	p := part{
		fmt.Sprintf("The first recommendation is the best: %d worlds, seeds %d to %d, %d questions each time", l.Worlds, l.Seed, l.Seed+uint64(l.Worlds)-1, l.Questions),
		[]bool{false},
		[][]string{{"sessions before"}},
	}
	for _, n := range l.After {
		p.right = append(p.right, true)
		p.rows[0] = append(p.rows[0], fmt.Sprint(n))
	}
	p.right, p.rows[0] = append(p.right, true), append(p.rows[0], "regret at the end")
	for _, r := range l.Rankers {
		row := []string{r.Name}
		for _, s := range r.Scores {
			row = append(row, percent(s.Right))
		}
		p.rows = append(p.rows, append(row, fmt.Sprintf("%.3f", r.Scores[len(r.Scores)-1].Regret)))
	}
	return p
}

func (l *Lab) coveragePart() part {
	p := part{"True gains inside the model's interval of 80 %", []bool{false}, [][]string{{"sessions before"}}}
	row := []string{"all candidates"}
	for i, n := range l.After {
		p.right = append(p.right, true)
		p.rows[0] = append(p.rows[0], fmt.Sprint(n))
		row = append(row, percent(l.ranker("model").Scores[i].Coverage))
	}
	p.right, p.rows[0] = append(p.right, true), append(p.rows[0], "what was tried")
	p.rows = append(p.rows, append(row, percent(l.ranker("model").Played.Coverage)))
	return p
}

func (l *Lab) ranker(name string) LabRanker {
	for _, r := range l.Rankers {
		if r.Name == name {
			return r
		}
	}
	return LabRanker{}
}

func (l *Lab) poisonPart() part {
	p := part{"A lesson that always claims half of the time: its fix stands above the best one, by outcomes of it so far", []bool{false}, [][]string{{"it speaks for"}}}
	for n := range poisonOutcomes + 1 {
		p.right = append(p.right, true)
		p.rows[0] = append(p.rows[0], fmt.Sprint(n))
	}
	p.right, p.rows[0] = append(p.right, true), append(p.rows[0], "sessions until then")
	for _, kind := range l.Poison {
		row := []string{kind.Name}
		for _, v := range kind.Above {
			row = append(row, percent(v))
		}
		p.rows = append(p.rows, append(row, fmt.Sprintf("%.0f", kind.Sessions[len(kind.Sessions)-1])))
	}
	return p
}

func (l *Lab) forecastPart() part {
	p := part{"The next session inside its forecast's interval of 80 %", []bool{false, true, true, true}, [][]string{{"made from", "minutes", "speed-up", "forecasts"}}}
	for _, f := range l.Forecasts {
		p.rows = append(p.rows, []string{fmt.Sprintf("%d to %d sessions", f.From, f.To), percent(f.Minutes), percent(f.Speedup), fmt.Sprint(f.Number)})
	}
	return p
}
