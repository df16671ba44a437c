package calibration

import (
	"math"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// grade makes calibrations from letters: g good, n noisy, f false alarm, m missed, e failed, d good with another driver.
func grade(letters string) (list []Record) {
	for i, l := range letters {
		r := Record{At: noon.Add(time.Duration(i) * time.Hour), Driver: "570", Rounds: 8, Noise: 0.01, Smallest: 0.02, Planted: 0.0625, Found: true}
		switch l {
		case 'n':
			r.Noise = 0.03
		case 'f':
			r.FalseAlarm = true
		case 'm':
			r.Found = false
		case 'e':
			r = Record{At: r.At, Error: "no compiler"}
		case 'd':
			r.Driver, r.Noise = "580", 0.03
		}
		list = append(list, r)
	}
	return list
}

// after returns the state after a list of calibrations.
func after(list []Record) (s State) {
	for i, r := range list {
		s = s.Next(list[max(0, i-Kept):i], r)
	}
	return s
}

func TestNext(t *testing.T) {
	for name, c := range map[string]struct{ letters, want string }{
		"a new card":                                     {"", ""},
		"one false alarm can be chance":                  {"gggggf", ""},
		"a false alarm and a good one":                   {"gggggfg", ""},
		"two of three":                                   {"gggggfgf", FalseAlarm},
		"the newest bad one is the reason":               {"fm", Missed},
		"bad from the start":                             {"mm", Missed},
		"noise without a usual noise":                    {"nnnn", ""},
		"noise after five good ones":                     {"gggggnn", Noisy},
		"noisy ones do not become usual":                 {"gggggnnnnnnnnnn", Noisy},
		"released and good since":                        {"ffggggggggg", ""},
		"two good ones are not enough":                   {"ffgg", FalseAlarm},
		"three good ones release":                        {"ffggg", ""},
		"bad every other time stays":                     {"ffgfgfgfgfgf", FalseAlarm},
		"good ones from before the quarantine":           {"gggff", FalseAlarm},
		"failed ones count for nothing":                  {"gfefeg", FalseAlarm},
		"failed ones release nothing":                    {"ffeeee", FalseAlarm},
		"another driver has a usual noise of its own":    {"gggggdd", ""},
		"quarantine survives another driver":             {"ffd", FalseAlarm},
		"noisy for weeks":                                {"gggggggggg" + strings.Repeat("n", 500), Noisy},
		"quiet again after weeks":                        {"ggggg" + strings.Repeat("n", 500) + "ggg", ""},
		"bad again after the release":                    {"ffggggff", FalseAlarm},
		"released though two of the window before stood": {"fgfgggg", ""},
	} {
		if got := after(grade(c.letters)); got.Quarantine != c.want {
			t.Errorf("%s: %q is %q, want %q", name, c.letters, got.Quarantine, c.want)
		}
	}
	if s := after(grade("gff")); !s.Since.Equal(noon.Add(2 * time.Hour)) {
		t.Errorf("since %v", s.Since)
	}
}

func TestDue(t *testing.T) {
	good := grade("g")[0]
	failed, missed := grade("e")[0], grade("m")[0]
	failed.At, missed.At = noon, noon
	for name, c := range map[string]struct {
		last   Record
		state  State
		driver string
		after  time.Duration
		want   string
	}{
		"never":                       {want: "never"},
		"just now":                    {last: good, after: time.Minute},
		"a day ago":                   {last: good, after: 24 * time.Hour, want: "old"},
		"another driver":              {last: good, driver: "580", after: time.Second, want: "driver"},
		"another driver, failed":      {last: Record{At: noon, Driver: "570", Error: "x"}, driver: "580", after: time.Second},
		"quarantine, just now":        {last: good, state: State{Quarantine: Noisy}, after: time.Minute},
		"quarantine, an hour ago":     {last: good, state: State{Quarantine: Noisy}, after: time.Hour, want: "quarantine"},
		"bad an hour ago":             {last: missed, after: time.Hour, want: "bad"},
		"failed an hour ago":          {last: failed, after: time.Hour, want: "failed"},
		"failed a minute ago":         {last: failed, after: time.Minute},
		"good an hour ago, no driver": {last: good, after: time.Hour},
	} {
		got := c.state.Due(c.last, c.driver, 24*time.Hour, noon.Add(c.after))
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCheck_RefusesWhatAnAgentMayInvent(t *testing.T) {
	good := grade("g")[0]
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Record){
		"one round": func(r *Record) { r.Rounds = 1 }, "endless rounds": func(r *Record) { r.Rounds = 1 << 40 },
		"no number": func(r *Record) { r.Noise = math.NaN() }, "infinite": func(r *Record) { r.Smallest = math.Inf(1) },
		"negative": func(r *Record) { r.Noise = -1 }, "nothing planted": func(r *Record) { r.Planted = 0 },
		"a long driver": func(r *Record) { r.Driver = strings.Repeat("x", 101) }, "a long error": func(r *Record) { r.Error = strings.Repeat("x", 501) },
	} {
		r := good
		change(&r)
		if r.Check() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
