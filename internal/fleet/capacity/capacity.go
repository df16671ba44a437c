// Package capacity computes what a load asks of a fleet: cards, Temporal, its database, money. The page
// docs/explanation/fleet-capacity.md shows its tables. It must not know the code that carries the load.
package capacity

// Load is what a fleet is asked to do.
type Load struct {
	Cards     int
	GatesADay float64
	Seconds   float64 // of a card, for a gate
	Beat      float64 // seconds between two heartbeats of a measurement
	Poll      float64 // seconds between two questions of a client whose gate measures
	QueuePoll float64 // the same, while it waits
	PeakHour  float64 // times the mean
	Models    int     // device models with equal load
	CardPrice float64 // dollars an hour
}

// Planned is the load that the fleet is planned for: 10,000 repositories with ten gates a day each.
var Planned = Load{Cards: 1000, GatesADay: 100_000, Seconds: 360, Beat: 2, Poll: 1, QueuePoll: 5, PeakHour: 5, Models: 8, CardPrice: 2}

// What a gate does. TestPlaced_SizeOfARequest and the workflows hold these.
const (
	activities   = 11  // 7 of the gate, and its placer and 3 signals, which cost about as much as 4
	requestBytes = 250 // of a waiting gate in the state of its placer
	deviceBytes  = 165 // of a device there
	leaseBytes   = 425 // of a lease there
	recordMB     = 2   // documents of a run: 0.2 to 16
	bundleMB     = 20  // both commits with their history
	requests     = 6   // to the forge for a gate: check, comment, status, at most
)

// What Temporal 1.32.1 and PostgreSQL 15 take for it, measured: see the units of the page.
const (
	workflowTransactions, activityTransactions, beatTransactions = 34.0, 12.0, 1.5
	workflowWAL, activityWAL, beatWAL                            = 75.0, 10.5, 1.6 // KB
	activityCPU, beatCPU                                         = 0.0087, 0.0023  // seconds of Temporal
	activityPostgres, beatPostgres                               = 0.004, 0.0005   // seconds of PostgreSQL; a beat's is by its transactions
	retentionDays                                                = 3.0
	serviceAction                                                = 50.0 / 1e6 // dollars, of Temporal as a service
	ownServers                                                   = 40.0       // dollars a day: 3 x 4 cores, PostgreSQL with 8 cores and a standby
	forgeLimit                                                   = 5000.0     // requests an hour and installation, usually; 15,000 at most
)

// KeptKB is what Temporal's databases keep for each gate: its history and state, and what searches find.
const KeptKB = 18.0 + 28.0

// Rates are the load at one time.
type Rates struct {
	Gates        float64 // a second
	CardsWanted  float64
	CardsBusy    float64
	Activities   float64 // a second
	Beats        float64 // a second
	Questions    float64 // a second, of clients that wait
	Transactions float64 // a second
	WAL          float64 // MB a second
	Temporal     float64 // cores
	Postgres     float64 // cores
}

// Mean returns the load of an average second.
func (l Load) Mean() Rates { return l.at(l.GatesADay/86400, 0) }

// Peak returns the load at the end of the peak hour, when all cards are busy and gates wait.
func (l Load) Peak() Rates { return l.at(l.GatesADay/86400*l.PeakHour, l.Backlog()) }

func (l Load) at(gates, waiting float64) Rates {
	r := Rates{Gates: gates, CardsWanted: gates * l.Seconds}
	r.CardsBusy = min(r.CardsWanted, float64(l.Cards))
	served := r.CardsBusy / l.Seconds
	r.Activities = served * activities
	r.Beats = r.CardsBusy / l.Beat
	r.Questions = r.CardsBusy/l.Poll + waiting/l.QueuePoll
	r.Transactions = served*(workflowTransactions+activityTransactions*(activities-1)) + r.Beats*beatTransactions
	r.WAL = (served*(workflowWAL+activityWAL*(activities-1)) + r.Beats*beatWAL) / 1000
	r.Temporal = r.Activities*activityCPU + r.Beats*beatCPU
	r.Postgres = r.Activities*activityPostgres + r.Beats*beatPostgres
	return r
}

// Backlog returns how many gates wait at the end of the peak hour.
func (l Load) Backlog() float64 {
	return max(0, 3600*(l.GatesADay/86400*l.PeakHour-float64(l.Cards)/l.Seconds))
}

// LongestWait returns how many seconds a gate waits that comes last in the peak hour.
func (l Load) LongestWait() float64 { return l.Backlog() * l.Seconds / float64(l.Cards) }

// Drained returns how many seconds after the peak hour no gate waits any more.
func (l Load) Drained() float64 {
	rest := l.GatesADay * (24 - l.PeakHour) / 24 / (23 * 3600)
	return l.Backlog() / (float64(l.Cards)/l.Seconds - rest)
}

// PlacerBytes returns the state of the placer of one model at the end of the peak hour.
func (l Load) PlacerBytes() float64 {
	return (l.Backlog()*requestBytes + float64(l.Cards)*(deviceBytes+leaseBytes)) / float64(l.Models)
}

// Actions returns the actions of a gate that Temporal as a service bills. It bills heartbeats.
func (l Load) Actions() float64 { return activities + 5 + l.Seconds/l.Beat }

// Installations returns over how many installations of a forge's app the peak hour must be spread.
func (l Load) Installations() float64 {
	return l.GatesADay / 24 * l.PeakHour * requests / forgeLimit
}
