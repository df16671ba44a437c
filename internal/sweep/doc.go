// Package sweep compares several implementations on every config of one run: which
// is fastest, which cannot be told apart, by how much, and what difference could have
// been seen at all.
//
// It is pure: a run record in, a result out, the same every time. It must not
// measure, read files, or know how a result is shown.
//
// The rules, in short. A round gives one number for an implementation and a config:
// the median of its samples. Two implementations are compared by the ratios of the
// rounds they share (a paired t on logarithms). The pairs of a config are tested
// together (Holm), so that all claims about one config hold at once with the stated
// confidence. What is said of several configs takes the round as the unit too: what
// the machine did in a round it did to all configs of it.
package sweep
