// Package identity knows who a job is. It asks GitHub Actions for a token that says so,
// judges such tokens for a server, remembers which were used, and makes the tokens of a
// GitHub App. It must not know what is uploaded, nor where it is kept: a report is a
// digest here, and a baseline a kind of grant.
//
// Who may do what is decided by the numbers of a repository and its owner, the event, the
// ref and the workflow file. Names and the subject are never asked: they change hands.
package identity
