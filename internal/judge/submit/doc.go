// Package submit judges single candidates for agents and search loops: kernel in, facts out.
//
// A Grant says what is judged: a suite, the base commit that every speed-up is relative to, how far a
// candidate is trusted, and how much time all candidates may take together. A Submission is a commit, a
// diff or files on top of that base. It is turned into a commit of its own, checked out in a fresh
// worktree, and taken through stages that end early: compile, smoke, quick, full. The answer is one flat
// JSON document of at most MaxAnswer bytes, made only from what this submission's own run returned.
//
// A candidate is untrusted. What defines the measurement (suite, oracle, harness) comes from the base, and
// a refusal for integrity gives no details.
package submit
