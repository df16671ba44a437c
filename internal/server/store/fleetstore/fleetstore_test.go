package fleetstore_test

import (
	stdcmp "cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// opened returns the fleet of a new database with two projects.
func opened(t *testing.T) (s *fleetstore.Store, project, other int64) {
	t.Helper()
	all, err := store.Open(t.Context(), store.Config{URL: storetest.URL(t), Conns: 8, AllowUnsafe: true, Now: func() time.Time { return noon }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	var ids []int64
	for _, slug := range []string{"kernels", "others"} {
		p, err := all.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: slug}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, p.ID)
	}
	return fleetstore.New(all.DB()), ids[0], ids[1]
}

func publication(id string, attempt int) gate.Publication {
	return gate.Publication{
		Gate: id, Commit: "head", Suite: "pawl.yaml", Model: "l4", Device: fmt.Sprint("card ", attempt),
		Result: job.Result{Attempt: attempt, Record: fmt.Sprint("record ", attempt), Exit: 1, Rounds: 8},
	}
}

func addGate(t *testing.T, s *fleetstore.Store, project int64, id, change string) {
	t.Helper()
	if err := s.AddGate(t.Context(), project, gate.Work{Gate: id, Base: "base", Head: "head", Suite: "pawl.yaml"}, []string{"h100", "l4"}, change); err != nil {
		t.Fatal(err)
	}
}

func TestPublish_OnceAndFenced(t *testing.T) {
	s, project, other := opened(t)
	addGate(t, s, project, "G", "")
	note := func(n int) {
		t.Helper()
		if err := s.Note(t.Context(), project, gate.Progress{Gate: "G", Model: "l4", State: gate.Measuring, Device: "d", Attempt: n}); err != nil {
			t.Fatal(err)
		}
	}
	note(1)
	note(2)
	var fenced *fleetstore.FencedError
	if err := s.Publish(t.Context(), project, publication("G", 1)); !errors.As(err, &fenced) {
		t.Errorf("attempt 1 after 2 has started: %v, want a FencedError", err)
	}
	for range 2 {
		if err := s.Publish(t.Context(), project, publication("G", 2)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Publish(t.Context(), project, publication("G", 3)); !errors.As(err, &fenced) {
		t.Errorf("attempt 3 after 2 has published: %v, want a FencedError", err)
	}
	note(4) // must not reopen it
	parts, err := s.Gate(t.Context(), project, "G")
	if err != nil || len(parts) != 2 {
		t.Fatalf("parts %+v, %v", parts, err)
	}
	if p := parts[1]; p.State != gate.Done || p.Device != "card 2" || p.Record != "record 2" || p.Exit == nil || *p.Exit != 1 || p.Attempt != 2 {
		t.Errorf("part %+v", p)
	}
	if p := parts[0]; p.State != gate.Waiting || p.Exit != nil {
		t.Errorf("part %+v of the other model", p)
	}
	if _, err := s.Gate(t.Context(), other, "G"); !errors.Is(err, pg.ErrNotFound) {
		t.Errorf("another project sees the gate: %v", err)
	}
}

// What an agent sends is either stored or refused for good: an activity would be tried for ever otherwise.
func TestPublish_HostileResults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*job.Result)
		stored bool
	}{
		"zero bytes in a text":    {func(r *job.Result) { r.Error, r.Driver = "pawl: \x00", "57\x00" }, true},
		"half a character":        {func(r *job.Result) { r.Error = "\xe2\x82" }, true},
		"a zero byte in a name":   {func(r *job.Result) { r.Record = "\x00" }, false},
		"no exit code":            {func(r *job.Result) { r.Exit = 1 << 40 }, false},
		"too many rounds":         {func(r *job.Result) { r.Rounds = 1 << 40 }, false},
		"less than no time":       {func(r *job.Result) { r.Seconds = -1 }, false},
		"more time than there is": {func(r *job.Result) { r.Seconds = 1e300 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, project, _ := opened(t)
			addGate(t, s, project, "G1", "")
			p := publication("G1", 1)
			c.change(&p.Result)
			err := s.Publish(t.Context(), project, p)
			if _, refused := errors.AsType[*pg.InvalidError](err); (err == nil) != c.stored || refused == c.stored {
				t.Errorf("%v, want stored: %v", err, c.stored)
			}
		})
	}
	s, project, _ := opened(t)
	addGate(t, s, project, "G1", "")
	if err := s.Note(t.Context(), project, gate.Progress{Gate: "G1", Model: "l4", State: gate.Failed, Reason: "an agent said \x00"}); err != nil {
		t.Error(err)
	}
	if err := s.SetDevice(t.Context(), fleetstore.Device{Device: placement.Device{ID: "GPU-a", Power: placement.Ready}, Model: "l4"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Calibrated(t.Context(), "GPU-a", calibration.Record{At: noon, Driver: "57\x00", Error: "\x00"}); err != nil {
		t.Error(err)
	}
}

// Attempts that publish at the same time: one of them wins.
func TestPublish_Concurrent(t *testing.T) {
	s, project, _ := opened(t)
	for n := range 20 {
		id := fmt.Sprint("G", n)
		addGate(t, s, project, id, "")
		var wg sync.WaitGroup
		var made atomic.Int32
		for attempt := 1; attempt <= 4; attempt++ {
			wg.Go(func() {
				if s.Publish(t.Context(), project, publication(id, attempt)) == nil {
					made.Add(1)
				}
			})
		}
		wg.Wait()
		if made.Load() != 1 {
			t.Fatalf("%d attempts of gate %s published, want 1", made.Load(), id)
		}
	}
}

func TestOlder_OfTheSameChange(t *testing.T) {
	s, project, _ := opened(t)
	addGate(t, s, project, "01", "pull/7")
	addGate(t, s, project, "02", "pull/7")
	addGate(t, s, project, "03", "pull/8")
	addGate(t, s, project, "04", "pull/7")
	for _, model := range []string{"l4", "h100"} {
		if err := s.Note(t.Context(), project, gate.Progress{Gate: "01", Model: model, State: gate.Canceled}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Older(t.Context(), project, "pull/7", "04")
	if err != nil || len(list) != 1 || list[0] != "02" {
		t.Errorf("older gates %v, %v: want 02", list, err)
	}
}

// A gate whose workflow never started has no attempt. It ends as failed unless something happens to it meanwhile.
func TestSilent_UntouchedByAWorkflow(t *testing.T) {
	s, project, other := opened(t)
	addGate(t, s, project, "started", "")
	addGate(t, s, project, "ended", "")
	addGate(t, s, other, "lost", "")
	note := func(id, model string, state gate.State) {
		t.Helper()
		if err := s.Note(t.Context(), project, gate.Progress{Gate: id, Model: model, State: state, Attempt: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for _, model := range []string{"l4", "h100"} {
		note("started", model, gate.Waiting)
		note("ended", model, gate.Canceled)
	}
	before, after := noon.Add(-time.Second), noon.Add(time.Second)
	list := func(unstarted, old time.Time) (names []string) {
		t.Helper()
		found, err := s.Silent(t.Context(), unstarted, old)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			names = append(names, p.Project+" "+p.Gate+" "+p.Model)
		}
		return names
	}
	for _, c := range []struct {
		unstarted, old time.Time
		want           []string
	}{
		{before, before, nil},
		{after, before, []string{"others lost h100", "others lost l4"}},
		{after, after, []string{"kernels started h100", "kernels started l4", "others lost h100", "others lost l4"}},
	} {
		if diff := cmp.Diff(c.want, list(c.unstarted, c.old)); diff != "" {
			t.Errorf("unstarted since %v, unchanged since %v (-want +got):\n%s", c.unstarted, c.old, diff)
		}
	}
	lost := fleetstore.Silent{ProjectID: other, Project: "others", Gate: "lost", Model: "l4", Changed: noon}
	stale := lost
	stale.Model, stale.Changed = "h100", before
	for _, p := range []fleetstore.Silent{lost, stale} {
		if err := s.EndSilent(t.Context(), p, "no workflow"); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := s.Gate(t.Context(), other, "lost")
	if err != nil || parts[0].State != gate.Waiting || parts[1].State != gate.Failed || parts[1].Reason != "no workflow" {
		t.Errorf("parts %+v, %v: want only l4 failed", parts, err)
	}
}

func TestDevices(t *testing.T) {
	s, _, _ := opened(t)
	d := fleetstore.Device{Device: placement.Device{ID: "GPU-1", Host: "h", Power: placement.Ready, Price: 0.8, Tier: tier.Own}, Model: "l4"}
	for _, power := range []placement.Power{placement.Ready, placement.Closed} {
		d.Power = power
		if err := s.SetDevice(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Devices(t.Context(), "l4")
	if err != nil || len(list) != 1 || list[0] != d {
		t.Errorf("devices %+v, %v: want %+v", list, err, d)
	}
	var invalid *pg.InvalidError
	if err := s.SetDevice(t.Context(), fleetstore.Device{Model: "l4"}); !errors.As(err, &invalid) {
		t.Errorf("a device without an ID: %v", err)
	}
	if err := s.RemoveDevice(t.Context(), "GPU-1"); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveDevice(t.Context(), "GPU-1"); !errors.Is(err, pg.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestBudget_ReservedAndSettledOnce(t *testing.T) {
	s, project, other := opened(t)
	if err := s.SetBudget(t.Context(), project, placement.Cost{Seconds: 1000}); err != nil {
		t.Fatal(err)
	}
	reserve := func(project int64, lease string) bool {
		t.Helper()
		r, err := s.Reserve(t.Context(), project, placer.Reservation{Lease: lease, Cost: placement.Cost{Seconds: 600, Money: 2}, Start: noon})
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK && !r.Until.Equal(placement.Until(noon)) {
			t.Errorf("refused until %v", r.Until)
		}
		return r.OK
	}
	for range 2 {
		if !reserve(project, "a") {
			t.Error("lease a was refused")
		}
	}
	if reserve(project, "b") || !reserve(other, "b") {
		t.Error("want lease b in the other project only")
	}
	for range 2 {
		if err := s.Settle(t.Context(), project, placer.Settlement{Lease: "a", Seconds: 150}); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := s.Budget(t.Context(), project); err != nil || b.Used != (placement.Cost{Seconds: 150, Money: 0.5}) {
		t.Errorf("budget %+v, %v", b, err)
	}
	if !reserve(project, "c") {
		t.Error("what a did not use is not there for c")
	}
}

// Placers of several models reserve and settle at the same time. What the budget says is read in between.
func TestBudget_NeverExceededConcurrently(t *testing.T) {
	s, project, other := opened(t)
	limit := placement.Cost{Seconds: 10_000, Money: 30}
	if err := s.SetBudget(t.Context(), project, limit); err != nil {
		t.Fatal(err)
	}
	within := func() {
		b, err := s.Budget(t.Context(), project)
		if err != nil || b.Used.Seconds > limit.Seconds || b.Used.Money > limit.Money {
			t.Errorf("used %+v of %+v, %v", b.Used, limit, err)
		}
	}
	var mu sync.Mutex
	var held, settled placement.Cost
	refused := 0
	var wg sync.WaitGroup
	for n := range 32 {
		wg.Go(func() {
			for i := range 8 {
				lease := fmt.Sprint(n, "-", i)
				cost := placement.Cost{Seconds: float64(100 * (1 + (n+i)%8)), Money: float64(1 + n%3)}
				for range 2 { // an activity may run twice
					if r, err := s.Reserve(t.Context(), other, placer.Reservation{Lease: lease, Cost: cost, Start: noon}); err != nil || !r.OK {
						t.Errorf("a project without a budget was refused: %+v, %v", r, err)
					}
				}
				var r placer.Reserved
				for range 2 {
					var err error
					if r, err = s.Reserve(t.Context(), project, placer.Reservation{Lease: lease, Cost: cost, Start: noon}); err != nil {
						t.Error(err)
					}
				}
				within()
				mu.Lock()
				switch {
				case !r.OK:
					refused++
				case i%2 == 0:
					settled.Seconds, settled.Money = settled.Seconds+cost.Seconds/4, settled.Money+cost.Money/4
				default:
					held.Seconds, held.Money = held.Seconds+cost.Seconds, held.Money+cost.Money
				}
				mu.Unlock()
				if r.OK && i%2 == 0 {
					if err := s.Settle(t.Context(), project, placer.Settlement{Lease: lease, Seconds: cost.Seconds / 4}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	b, err := s.Budget(t.Context(), project)
	want := placement.Cost{Seconds: held.Seconds + settled.Seconds, Money: held.Money + settled.Money}
	if err != nil || b.Used != want || refused == 0 || want == (placement.Cost{}) {
		t.Errorf("used %+v, %v; want %+v: what was granted and not given back; %d leases were refused", b.Used, err, want, refused)
	}
	within()
}

func TestTier_OfAProject(t *testing.T) {
	s, project, other := opened(t)
	if err := s.SetBudget(t.Context(), project, placement.Cost{Seconds: 1000}); err != nil {
		t.Fatal(err)
	}
	for _, set := range []tier.Tier{"", tier.Checked, tier.Unknown, tier.Own} {
		if set != "" {
			if err := s.SetTier(t.Context(), project, set); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Tier(t.Context(), project); err != nil || got != stdcmp.Or(set, tier.Own) {
			t.Errorf("tier %q, %v: want %q", got, err, set)
		}
		if got, err := s.Tier(t.Context(), other); err != nil || got != tier.Own {
			t.Errorf("tier of the other project %q, %v", got, err)
		}
	}
	if err := s.SetTier(t.Context(), project, "trusted"); err == nil {
		t.Error("a tier that does not exist")
	}
	if b, err := s.Budget(t.Context(), project); err != nil || b.Limit.Seconds != 1000 {
		t.Errorf("budget %+v, %v: want it unchanged", b, err)
	}
	if b, err := s.Budget(t.Context(), other); err != nil || b.Limit != (placement.Cost{}) || b.UsedOn(noon) != (placement.Cost{}) {
		t.Errorf("budget of a project without one: %+v, %v", b, err)
	}
}

func TestCalibrated_QuarantinesAndCounts(t *testing.T) {
	s, project, _ := opened(t)
	d := fleetstore.Device{Device: placement.Device{ID: "GPU-1", Host: "h", Power: placement.Ready}, Model: "l4"}
	if err := s.SetDevice(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Calibrated(t.Context(), "GPU-2", calibration.Record{At: noon}); !errors.Is(err, pg.ErrNotFound) {
		t.Errorf("an unknown device: %v", err)
	}
	seed := uint64(0)
	add := func(r calibration.Record) calibration.State {
		t.Helper()
		seed++
		r.At, r.Seed, r.Rounds, r.Noise, r.Smallest, r.Planted = noon.Add(time.Duration(seed)*time.Hour), seed, 8, 0.01, 0.02, 0.0625
		var after calibration.State
		for range 2 { // the second time changes nothing
			var err error
			if _, after, err = s.Calibrated(t.Context(), "GPU-1", r); err != nil {
				t.Fatal(err)
			}
		}
		return after
	}
	add(calibration.Record{Driver: "570", Found: true})
	add(calibration.Record{FalseAlarm: true, Found: true})
	if after := add(calibration.Record{}); after.Quarantine != calibration.Missed {
		t.Errorf("state %+v after two bad ones", after)
	}
	add(calibration.Record{Error: "no compiler"})
	if err := s.SetDevice(t.Context(), d); err != nil { // an operator's change keeps it
		t.Fatal(err)
	}
	list, err := s.Devices(t.Context(), "l4")
	if err != nil || len(list) != 1 {
		t.Fatalf("devices %+v, %v", list, err)
	}
	got := list[0]
	if got.Quarantine != calibration.Missed || !got.Since.Equal(noon.Add(3*time.Hour)) || got.Calibrations != 3 || got.FalseAlarms != 1 || got.Driver != "570" ||
		got.Calibration.Seed != 3 || got.Last().Error != "no compiler" || !got.Last().At.Equal(noon.Add(4*time.Hour)) {
		t.Errorf("device %+v", got)
	}
	addGate(t, s, project, "G", "")
	p := publication("G", 1)
	p.Device, p.Result.Driver = "GPU-1", "580"
	if err := s.Publish(t.Context(), project, p); err != nil {
		t.Fatal(err)
	}
	parts, err := s.Gate(t.Context(), project, "G")
	if err != nil || parts[1].Calibration.Seed != 3 || parts[1].Calibration.Found || !parts[0].Calibration.At.IsZero() {
		t.Errorf("parts %+v, %v: want the calibration that was valid then", parts, err)
	}
	if list, err = s.Devices(t.Context(), ""); err != nil || list[0].Driver != "580" {
		t.Errorf("devices %+v, %v: want the new driver", list, err)
	}
	for range 3 {
		add(calibration.Record{Found: true})
	}
	if list, err = s.Devices(t.Context(), ""); err != nil || list[0].Quarantine != "" || !list[0].Since.IsZero() || list[0].Tried.Error != "" {
		t.Errorf("devices %+v, %v: want no quarantine", list, err)
	}
	if err := s.RemoveDevice(t.Context(), "GPU-1"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetDevice(t.Context(), d); err != nil { // the same card comes back
		t.Fatal(err)
	}
	if list, err = s.Devices(t.Context(), ""); err != nil || list[0].Calibrations != 0 {
		t.Errorf("devices %+v, %v: want no calibration of a removed device", list, err)
	}
}

// A card that cannot be calibrated for days is still held to what was usual before.
func TestCalibrated_FailedOnesDoNotHideWhatIsUsual(t *testing.T) {
	s, _, _ := opened(t)
	if err := s.SetDevice(t.Context(), fleetstore.Device{Device: placement.Device{ID: "GPU-1", Host: "gpu1", Power: placement.Ready}, Model: "l4"}); err != nil {
		t.Fatal(err)
	}
	var state calibration.State
	add := func(times int, r calibration.Record) {
		t.Helper()
		for range times {
			r.At, r.Driver, r.Rounds, r.Smallest, r.Planted, r.Found = r.At.Add(time.Hour), "570", 8, 0.02, 0.0625, true
			r.Seed++
			var err error
			if _, state, err = s.Calibrated(t.Context(), "GPU-1", r); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(5, calibration.Record{At: noon, Seed: 100, Noise: 0.01})
	add(50, calibration.Record{At: noon.Add(10 * time.Hour), Seed: 200, Error: "no compiler"})
	add(2, calibration.Record{At: noon.Add(100 * time.Hour), Seed: 300, Noise: 0.05})
	if state.Quarantine != calibration.Noisy {
		t.Errorf("state %+v: want the card in quarantine", state)
	}
}

func TestGated_BelongsToAProject(t *testing.T) {
	s, project, other := opened(t)
	g := fleetstore.Gated{Repository: "octo/kernels", Suite: "pawl.yaml", Models: []string{"h100", "l4"}, ForkModels: []string{}, Branches: []string{"main"}, Secret: "0123456789abcdef"}
	for _, models := range [][]string{{"l4"}, g.Models} {
		first := g
		first.Models = models
		if err := s.SetGated(t.Context(), project, first); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Gated(t.Context(), project)
	if diff := cmp.Diff(g, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := s.Gated(t.Context(), other); !errors.Is(err, pg.ErrNotFound) {
		t.Errorf("another project: %v", err)
	}
	g.Models = nil
	if _, invalid := errors.AsType[*pg.InvalidError](s.SetGated(t.Context(), project, g)); !invalid {
		t.Error("no models, and no error")
	}
	digest := []byte("digest")
	for _, want := range []bool{false, true} {
		if found, err := s.HasDelivery(t.Context(), project, digest); err != nil || found != want {
			t.Errorf("delivery found: %t, %v", found, err)
		}
		if err := s.AddDelivery(t.Context(), project, digest); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := s.HasDelivery(t.Context(), other, digest); err != nil || found {
		t.Errorf("another project has the delivery: %t, %v", found, err)
	}
	if err := s.RemoveGated(t.Context(), project); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveGated(t.Context(), project); !errors.Is(err, pg.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
}
