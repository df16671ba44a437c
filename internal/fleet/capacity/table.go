package capacity

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
)

// Rows returns the load as a table: an average second beside the peak.
func (l Load) Rows() string {
	mean, peak := l.Mean(), l.Peak()
	var b strings.Builder
	b.WriteString("| | mean | end of the peak hour |\n| --- | ---: | ---: |\n")
	for _, row := range []struct {
		name       string
		mean, peak float64
		unit       string
	}{
		{"gates that arrive", mean.Gates, peak.Gates, "/s"},
		{"cards wanted", mean.CardsWanted, peak.CardsWanted, ""},
		{"cards busy", mean.CardsBusy, peak.CardsBusy, ""},
		{"gates that wait", 0, l.Backlog(), ""},
		{"activities", mean.Activities, peak.Activities, "/s"},
		{"heartbeats", mean.Beats, peak.Beats, "/s"},
		{"questions of waiting clients", mean.Questions, peak.Questions, "/s"},
		{"transactions of Temporal", mean.Transactions, peak.Transactions, "/s"},
		{"WAL", mean.WAL, peak.WAL, " MB/s"},
		{"Temporal", mean.Temporal, peak.Temporal, " cores"},
		{"PostgreSQL of Temporal", mean.Postgres, peak.Postgres, " cores"},
	} {
		fmt.Fprintf(&b, "| %s | %s%s | %s%s |\n", row.name, figure(row.mean), row.unit, figure(row.peak), row.unit)
	}
	return b.String()
}

// Beats compares intervals between heartbeats.
func (l Load) Beats(intervals ...float64) string {
	var b strings.Builder
	b.WriteString("| a beat every | heartbeats, all cards busy | of them Temporal's cores | transactions | actions of a gate, as a service |\n| ---: | ---: | ---: | ---: | ---: |\n")
	for _, every := range intervals {
		l.Beat = every
		beats := float64(l.Cards) / l.Beat
		fmt.Fprintf(&b, "| %g s | %s/s | %s | %s/s | %s |\n", l.Beat, figure(beats), figure(beats*beatCPU), figure(beats*beatTransactions), figure(l.Actions()))
	}
	return b.String()
}

// Breaks returns what gives way, in the order in which it does.
func (l Load) Breaks() string {
	peak := l.Peak()
	var b strings.Builder
	b.WriteString("| | what | at this load |\n| ---: | --- | --- |\n")
	for i, row := range []struct{ what, at string }{
		{"cards at the peak", fmt.Sprintf("%s wanted, %s there: the last gate of the peak hour waits %.1f hours, and the queue is empty %.1f hours later", figure(peak.CardsWanted), figure(float64(l.Cards)), l.LongestWait()/3600, l.Drained()/3600)},
		{"the queue of one model", fmt.Sprintf("%s gates wait for each of %d models, and `pawld` refuses more than %s: the placer keeps them in one payload of Temporal, here %s KB of at most 2 MiB", figure(l.Backlog()/float64(l.Models)), l.Models, figure(placement.MaxWaiting), figure(l.PlacerBytes()/1000))},
		{"clients that ask how far their gate is", fmt.Sprintf("%s questions a second at the peak: each client asks every %g s while its gate measures, every %g s while it waits", figure(peak.Questions), l.Poll, l.QueuePoll)},
		{"files", fmt.Sprintf("documents of %s GB and git bundles of %s GB a day, at %d and %d MB a gate", figure(l.GatesADay*recordMB/1000), figure(l.GatesADay*bundleMB/1000), recordMB, bundleMB)},
		{"the forge", fmt.Sprintf("%s requests in the peak hour: %s installations at %s an hour each", figure(l.GatesADay/24*l.PeakHour*requests), figure(l.Installations()), figure(forgeLimit))},
		{"Temporal and its PostgreSQL", fmt.Sprintf("%s and %s cores, %s transactions a second, %s GB kept", figure(peak.Temporal), figure(peak.Postgres), figure(peak.Transactions), figure(l.GatesADay*KeptKB*retentionDays/1e6))},
	} {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", i+1, row.what, row.at)
	}
	return b.String()
}

// Costs returns what a day and a gate cost in dollars.
func (l Load) Costs() string {
	cards := float64(l.Cards) * 24 * l.CardPrice
	service := l.GatesADay * l.Actions() * serviceAction
	var b strings.Builder
	b.WriteString("| cost | a day | a gate |\n| --- | ---: | ---: |\n")
	for _, row := range []struct {
		name string
		day  float64
	}{
		{fmt.Sprintf("%s cards at $%g an hour", figure(float64(l.Cards)), l.CardPrice), cards},
		{"of them idle", cards * (1 - l.Mean().CardsBusy/float64(l.Cards))},
		{"Temporal and PostgreSQL on own servers", ownServers},
		{fmt.Sprintf("or Temporal as a service, a beat every %g s", l.Beat), service},
	} {
		fmt.Fprintf(&b, "| %s | $%s | $%s |\n", row.name, figure(row.day), figure(row.day/l.GatesADay))
	}
	return b.String()
}

// figure formats a number with three digits that count, and commas.
func figure(v float64) string {
	if v == 0 {
		return "0"
	}
	text := strconv.FormatFloat(v, 'g', 3, 64)
	rounded, err := strconv.ParseFloat(text, 64)
	if err != nil || rounded < 1000 {
		return strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	digits := strconv.FormatFloat(rounded, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
