// Package measure defines the run record pawl.run/v1, and reads and writes it. A record contains every
// raw sample in the order it was taken, the rounds, and the provenance that decides whether two numbers
// are comparable.
//
// Two files hold the same data. During a measurement, the journal (pawl.journal/v1, JSON lines, one line
// per round, fsynced) is authoritative: a crash loses at most the current round. When the run ends, the
// document (pawl.run/v1, one JSON object, case by case) is written from it. Load and Scan read either.
//
// The package stores samples and does not judge them: it has no statistics beyond what readers need for
// orientation, no clock and no logger. It must not depend on suites, harnesses or policies.
package measure
