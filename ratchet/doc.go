// Package ratchet judges: evidence and a policy in, a verdict with its reasons
// out. It also says what a baseline is and when it may move.
//
// Everything here is a pure function of its arguments. The same record judged
// again, years later, gives the same verdict; what the policy was and what the evidence
// showed travels with it. The package must not know how rounds are measured, where a
// ledger lies or how a report looks.
package ratchet
