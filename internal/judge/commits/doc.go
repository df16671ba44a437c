// Package commits measures commits of a repository: it finds the one that made a kernel slower, and fills a history.
//
// In a bisect the judge is the predicate. Each commit on the way is built by its own recipe and measured beside the good
// one, and a commit without an answer is skipped. The commit that is left is confirmed beside its parent in fresh rounds,
// since only that shows that it alone is to blame. The search has no side effects and takes the judge as a function. Its
// steps are kept in a file, so that a killed bisect goes on where it was.
package commits
