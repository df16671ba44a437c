// Package ratchet turns evidence and a policy into a verdict with its reasons. It also defines baselines and
// when they may move.
//
// Everything here is a pure function of its arguments: judging the same record again, even years later, gives
// the same verdict. A verdict contains its policy and its evidence. The package must not know how rounds are
// measured, where a ledger is stored or how a report looks.
package ratchet
