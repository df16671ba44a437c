// Package sweep compares several implementations on every config of one run: which is
// fastest, which are tied, by how much, and what difference was detectable at all.
//
// It is pure: the same run record always gives the same result. It must not measure, read
// files, or know how a result is shown.
//
// The rules in short: a round gives one number per implementation and config, the median of
// its samples. Two implementations are compared by the ratios of the rounds they share (a
// paired t-test on logarithms). The pairs of a config are tested together (Holm), so that
// all claims about one config hold at once with the stated confidence. Statements about
// several configs also use the round as the unit, because the machine's state in a round
// affects all configs of that round.
package sweep
