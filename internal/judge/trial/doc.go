// Package trial measures implementations side by side on one device. It runs rounds of
// fresh processes in a balanced random order and warms them up until they are steady. It
// drops rounds in which the hardware slowed itself down, and adds rounds until every case
// is decided or the budget is spent.
//
// The unit of evidence is the round: one fresh process per side, which measures all
// undecided cases in the same shuffled order with the same seeds. The package
// decides nothing about the numbers: a callback says which cases need more rounds.
// It must not know suites, git, builds or reports.
package trial
