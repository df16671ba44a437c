package placement

import (
	"fmt"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func ready(ids ...string) Table {
	var t Table
	for _, id := range ids {
		t.Devices = append(t.Devices, Device{ID: id, Host: "host-" + id, Power: Ready, Seen: noon})
	}
	return t
}

func ask(project string, n int) Ask {
	id := fmt.Sprintf("%s-%d", project, n)
	return Ask{Request{Lease: id, Gate: "gate/" + id, Project: project, Seconds: 360}}
}

// one runs a step that must grant one lease.
func one(t *testing.T, s *State, e Event, now time.Time) Lease {
	t.Helper()
	granted, _ := s.Step(e, now)
	if len(granted) != 1 {
		t.Fatalf("granted %d leases, want 1: %+v", len(granted), granted)
	}
	return granted[0]
}

func none(t *testing.T, s *State, e Event, now time.Time) {
	t.Helper()
	if granted, _ := s.Step(e, now); len(granted) != 0 {
		t.Fatalf("granted %+v, want none", granted)
	}
}

func TestStep_SecondProjectStartsAmongTheNextTwo(t *testing.T) {
	s := &State{}
	none(t, s, ready("a"), noon)
	running := one(t, s, ask("big", 0), noon)
	for i := 1; i < 40; i++ {
		none(t, s, ask("big", i), noon.Add(time.Duration(i)*time.Second))
	}
	now := noon
	for range 5 { // the backlog has been served for a while
		now = now.Add(6 * time.Minute)
		running = one(t, s, Release{Lease: running.Lease, Seconds: 350}, now)
	}
	for i := range 6 {
		none(t, s, ask("small", i), now)
	}
	var order []string
	for range 12 {
		now = now.Add(6 * time.Minute)
		running = one(t, s, Release{Lease: running.Lease, Seconds: 350}, now)
		order = append(order, running.Project)
	}
	if order[0] != "small" && order[1] != "small" {
		t.Errorf("order %v: want the first of small among the next two", order)
	}
	n := 0
	for _, p := range order {
		if p == "small" {
			n++
		}
	}
	if n < 5 {
		t.Errorf("order %v: want the projects to take turns", order)
	}
}

func TestStep_UrgentRequestIsFirst(t *testing.T) {
	s := &State{}
	none(t, s, ready("a"), noon)
	running := one(t, s, ask("a", 0), noon)
	none(t, s, ask("b", 0), noon)
	urgent := ask("a", 1)
	urgent.Priority = 1
	none(t, s, urgent, noon)
	if l := one(t, s, Release{Lease: running.Lease, Seconds: 10}, noon.Add(time.Minute)); l.Lease != "a-1" {
		t.Errorf("granted %s, want the urgent a-1", l.Lease)
	}
}

func TestStep_AskingAgainRepeatsTheAnswer(t *testing.T) {
	s := &State{}
	none(t, s, ready("a"), noon)
	first := one(t, s, ask("p", 0), noon)
	again := one(t, s, ask("p", 0), noon.Add(time.Minute))
	if again != first || len(s.Leases) != 1 {
		t.Errorf("the second answer is %+v, want %+v", again, first)
	}
	none(t, s, ask("p", 1), noon)
	none(t, s, ask("p", 1), noon)
	if len(s.Requests) != 1 {
		t.Errorf("%d requests wait, want 1", len(s.Requests))
	}
}

func TestStep_LostDeviceIsNotUsedBeforeItIsHeard(t *testing.T) {
	s := &State{}
	none(t, s, ready("a"), noon)
	l := one(t, s, ask("p", 0), noon)
	none(t, s, Release{Lease: l.Lease, Seconds: 40, Failed: true, Lost: true}, noon.Add(time.Minute))
	none(t, s, ask("p", 1), noon.Add(time.Minute))
	none(t, s, ready("a"), noon.Add(2*time.Minute)) // last heard before it was lost
	heard := ready("a")
	heard.Devices[0].Seen = noon.Add(3 * time.Minute)
	if l := one(t, s, heard, noon.Add(3*time.Minute)); l.Lease != "p-1" {
		t.Errorf("granted %s, want p-1", l.Lease)
	}
}

func TestStep_LostDeviceIsTriedAgainAfterSomeTime(t *testing.T) {
	s := &State{}
	none(t, s, ready("a"), noon)
	l := one(t, s, ask("p", 0), noon)
	none(t, s, Release{Lease: l.Lease, Failed: true, Lost: true}, noon)
	none(t, s, ask("p", 1), noon)
	none(t, s, Tick{}, noon.Add(retryLost-time.Second))
	one(t, s, Tick{}, noon.Add(retryLost))
}

func TestStep_FailedDeviceIsLast(t *testing.T) {
	s := &State{}
	none(t, s, ready("a", "b"), noon)
	l := one(t, s, ask("p", 0), noon)
	if l.Device != "a" {
		t.Fatalf("first lease on %s, want a", l.Device)
	}
	none(t, s, Release{Lease: l.Lease, Failed: true}, noon.Add(time.Minute))
	if l := one(t, s, ask("p", 1), noon.Add(time.Minute)); l.Device != "b" {
		t.Errorf("next lease on %s, want b", l.Device)
	}
}

func TestStep_OneLeaseOfAHost(t *testing.T) {
	s := &State{}
	table := ready("a", "b")
	table.Devices[0].Host, table.Devices[1].Host = "one", "one"
	none(t, s, table, noon)
	l := one(t, s, ask("p", 0), noon)
	none(t, s, ask("q", 0), noon)
	one(t, s, Release{Lease: l.Lease}, noon.Add(time.Minute))
}

func TestStep_ForgottenLeaseExpires(t *testing.T) {
	s := &State{}
	none(t, s, ready("a"), noon)
	l := one(t, s, ask("p", 0), noon)
	none(t, s, ask("p", 1), noon)
	if !s.Next().Equal(l.Until) {
		t.Errorf("next step at %v, want %v", s.Next(), l.Until)
	}
	none(t, s, Tick{}, l.Until.Add(-time.Second))
	granted, expired := s.Step(Tick{}, l.Until)
	if len(granted) != 1 || len(expired) != 1 || expired[0].Lease != l.Lease {
		t.Errorf("granted %+v, expired %+v", granted, expired)
	}
}

func TestStep_WithdrawnRequestNeverStarts(t *testing.T) {
	s := &State{}
	none(t, s, ready("a"), noon)
	l := one(t, s, ask("p", 0), noon)
	none(t, s, ask("p", 1), noon)
	none(t, s, Withdraw{Lease: "p-1"}, noon)
	none(t, s, Withdraw{Lease: l.Lease}, noon)
	if len(s.Leases)+len(s.Requests) != 0 {
		t.Errorf("left: %+v %+v", s.Leases, s.Requests)
	}
}

func TestStep_RefusedRequestWaitsAndLetsOthersPass(t *testing.T) {
	s := &State{}
	none(t, s, ready("a"), noon)
	l := one(t, s, ask("poor", 0), noon)
	none(t, s, ask("rich", 0), noon)
	if l := one(t, s, Refuse{Lease: l.Lease, Until: Until(noon)}, noon); l.Project != "rich" {
		t.Fatalf("granted %s, want rich", l.Project)
	}
	q := s.Queue(noon)
	if len(q) != 1 || q[0].Reason != NoBudget || !q[0].Start.Equal(Until(noon)) {
		t.Errorf("queue %+v", q)
	}
	_, _ = s.Step(Release{Lease: "rich-0"}, noon.Add(time.Minute))
	if l := one(t, s, Tick{}, Until(noon)); l.Lease != "poor-0" {
		t.Errorf("granted %s, want poor-0", l.Lease)
	}
}

func TestQueue_SaysWhy(t *testing.T) {
	for _, c := range []struct {
		name   string
		table  Table
		reason string
	}{
		{"no devices", Table{}, None},
		{"closed", Table{[]Device{{ID: "a", Power: Closed}}}, None},
		{"asleep", Table{[]Device{{ID: "a", Power: Closed}, {ID: "b", Power: Asleep}}}, Wake},
		{"asleep and in quarantine", Table{[]Device{{ID: "a", Power: Asleep, Quarantine: "noisy"}}}, AllQuarantined},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &State{}
			none(t, s, c.table, noon)
			none(t, s, ask("p", 0), noon)
			if q := s.Queue(noon); len(q) != 1 || q[0].Reason != c.reason || !q[0].Start.IsZero() {
				t.Errorf("queue %+v, want %q", q, c.reason)
			}
		})
	}
}

func TestQueue_LatestStart(t *testing.T) {
	s := &State{}
	none(t, s, ready("a"), noon)
	one(t, s, ask("p", 0), noon)
	none(t, s, ask("p", 1), noon)
	none(t, s, ask("p", 2), noon)
	none(t, s, ask("q", 0), noon)
	var got []string
	for _, w := range s.Queue(noon.Add(time.Minute)) {
		got = append(got, fmt.Sprintf("%d %s %v %s", w.Position, w.Lease, w.Start.Sub(noon), w.Reason))
	}
	want := []string{"1 q-0 6m0s " + Busy, "2 p-1 12m0s " + Busy, "3 p-2 18m0s " + Busy}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("queue\n%v, want\n%v", got, want)
	}
}

func TestBudget_WorstCaseIsReserved(t *testing.T) {
	b := Budget{Limit: Cost{Seconds: 1000, Money: 5}}
	c := Cost{Seconds: 600, Money: 1}
	if !b.Reserve(c, noon) || b.Reserve(c, noon) {
		t.Fatal("want one of two reservations")
	}
	b.Settle(c, 100, noon)
	if b.Used.Seconds != 100 || !b.Reserve(c, noon) {
		t.Errorf("used %+v", b.Used)
	}
	if b.Reserve(Cost{Seconds: 1, Money: 4}, noon) {
		t.Error("reserved more money than the limit")
	}
	tomorrow := Until(noon)
	if !b.Reserve(c, tomorrow) {
		t.Error("a new day has a full budget")
	}
	b.Settle(c, 0, noon) // of yesterday
	if b.Used.Seconds != 600 {
		t.Errorf("used %+v: yesterday's lease must not be returned to today", b.Used)
	}
}

func TestStep_QuarantinedDeviceIsOnlyCalibrated(t *testing.T) {
	s := &State{}
	table := ready("a", "b")
	table.Devices[0].Quarantine = "it missed a planted slowdown"
	none(t, s, table, noon)
	if l := one(t, s, ask("p", 0), noon); l.Device != "b" {
		t.Errorf("granted %s, want b", l.Device)
	}
	none(t, s, ask("p", 1), noon)
	calibrate := ask("", 0)
	calibrate.Only = "a"
	if l := one(t, s, calibrate, noon); l.Device != "a" {
		t.Errorf("calibrating %s, want a", l.Device)
	}
	table.Devices = table.Devices[:1]
	none(t, s, table, noon)
	if q := s.Queue(noon); len(q) != 1 || q[0].Reason != AllQuarantined || !q[0].Start.IsZero() || !q[0].Since.Equal(noon) {
		t.Errorf("queue %+v", q)
	}
}

func TestStep_CalibrationWaitsForItsDeviceAndLetsOthersPass(t *testing.T) {
	s := &State{}
	none(t, s, ready("a", "b"), noon)
	first := one(t, s, ask("p", 0), noon)
	calibrate := ask("", 0)
	calibrate.Only = first.Device
	none(t, s, calibrate, noon)
	if l := one(t, s, ask("p", 1), noon); l.Device == first.Device {
		t.Errorf("granted %s twice", l.Device)
	}
	if l := one(t, s, Release{Lease: first.Lease, Seconds: 300}, noon.Add(time.Minute)); l.Only != first.Device || l.Device != first.Device {
		t.Errorf("granted %+v, want the calibration", l)
	}
}
