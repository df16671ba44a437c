// Package bisect finds the commit that made a kernel slower. The judge is the predicate: each commit on the way is
// built by its own recipe and measured beside the good one, and a commit without an answer is skipped. The commit
// that is left is confirmed beside its parent in fresh rounds, since only that shows that it alone is to blame.
//
// The search itself has no side effects and takes the judge as a function. Its steps are kept in a file, so that a
// killed bisect goes on where it was.
package bisect
