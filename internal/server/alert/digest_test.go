package alert_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/server/alert"
)

func group(id int64, change float64, series int, events ...client.Event) client.Group {
	g := client.Group{ID: id, From: strings.Repeat("a1", 20), To: strings.Repeat("b2", 20), At: start, Worst: change, Series: series, Worse: series}
	if len(events) == 0 {
		events = []client.Event{{ID: id, Series: 100 + id, Name: fmt.Sprintf("attention/B32_H%d", id), Kind: "step", Worse: change > 0, Change: change, Testbed: 1, State: client.EventNew}}
	}
	g.Events = events
	return g
}

func news() alert.News {
	drift := group(2, 0.031, 1)
	drift.Events[0].Kind, drift.Events[0].Commits = "drift", 41
	owned := group(3, 0.18, 4)
	owned.Events[0].Owners = []string{"@kernels/attention", "@ada"}
	machine := group(5, 0.06, 42)
	machine.Machine, machine.Testbed = true, 2
	judged := group(7, 0.3, 1)
	judged.Events = nil // people have spoken about all of them
	return alert.News{
		Project: client.Project{Slug: "flash"}, Told: start, Testbeds: map[int64]string{1: "NVIDIA L4", 2: "NVIDIA H100"},
		Groups: []client.Group{
			group(1, 0.05, 1), drift, owned, group(4, -0.12, 3), machine, group(6, -0.03, 1), judged,
		},
	}
}

func TestDigest(t *testing.T) {
	d := alert.NewDigest(news(), "https://pawl.example.org/")
	golden.Check(t, "digest.slack.txt", d.Slack()+"\n")
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "digest.json", string(b)+"\n")
}

func TestADigestIsNoFlood(t *testing.T) {
	n := news()
	n.Groups = nil
	for i := range int64(300) {
		n.Groups = append(n.Groups, group(i+1, 0.02+float64(i)/1000, 5), group(i+1000, -0.02-float64(i)/1000, 5))
	}
	d := alert.NewDigest(n, "")
	text := d.Slack()
	if lines := strings.Count(text, "\n") + 1; lines > 14 || len(d.Worse) != 10 || d.More != 290 {
		t.Errorf("%d lines, %d groups, %d more:\n%s", lines, len(d.Worse), d.More, text)
	}
	if !strings.Contains(text, "+31.9 %") || !strings.Contains(text, "and 290 more") || !strings.Contains(text, "1500 series in 300 changes") {
		t.Errorf("the worst is not there:\n%s", text)
	}
	if b, err := json.Marshal(d); err != nil || len(b) > 64<<10 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestNothingInASlackDigestIsMarkup(t *testing.T) {
	hostile := []string{
		"<!channel> a", "<https://evil.example|click>", "x|y>z", "see https://evil.example/a", "@here #general",
		"*bold* ~gone~ `code`", "a\nb\r\n• fake line", "\u202eabc\u200b\x00\x1b[31m", strings.Repeat("long", 1000), "&lt;!here&gt;",
	}
	for _, name := range hostile {
		n := news()
		e := client.Event{Series: 1, Name: name, Kind: "step", Worse: true, Change: 0.1, Testbed: 1, Owners: []string{name}}
		n.Groups = []client.Group{group(1, 0.1, 1, e)}
		n.Groups[0].From, n.Groups[0].To = name, name
		n.Testbeds[1] = name
		n.Project.Slug = name
		d := alert.NewDigest(n, "")
		text := d.Slack()
		if strings.Count(text, "\n") != 1 || len(text) > 3000 {
			t.Errorf("%q: %d lines, %d bytes", name, strings.Count(text, "\n")+1, len(text))
		}
		if strings.ContainsAny(text, "<>|\x00\x1b\u202e\u200b") || strings.Contains(text, "://") || strings.Contains(text, "@here") {
			t.Errorf("%q became %q", name, text)
		}
	}
}

func FuzzSlackText(f *testing.F) {
	f.Add("a<b>|&@#*")
	f.Fuzz(func(t *testing.T, name string) {
		n := news()
		n.Groups = []client.Group{group(1, 0.1, 1, client.Event{Name: name, Worse: true, Change: 0.1})}
		d := alert.NewDigest(n, "")
		if text := d.Slack(); strings.ContainsAny(text, "<>|\r") || strings.Count(text, "\n") != 1 {
			t.Errorf("%q became %q", name, text)
		}
	})
}

func TestSign(t *testing.T) {
	const want = "t=1767225600,v1=96a067a1c95eb143fc00b9097bcfcbcd5456adda508c443ff219748e764dbed7" // by Python's hmac
	got := alert.Sign("secret", start, []byte(`{"a":1}`))
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, other := range map[string]string{
		"secret": alert.Sign("other", start, []byte(`{"a":1}`)),
		"time":   alert.Sign("secret", start.Add(time.Second), []byte(`{"a":1}`)),
		"body":   alert.Sign("secret", start, []byte(`{"a":2}`)),
	} {
		if other[len(other)-64:] == got[len(got)-64:] {
			t.Errorf("another %s, and the same signature", name)
		}
	}
}
