// Package identity establishes the identity of a job. It requests tokens from GitHub
// Actions, verifies such tokens for a server, records which were used, and makes the tokens
// of a GitHub App. It must not know what is uploaded, nor where it is stored: a report is a
// digest here, and a baseline a kind of grant.
//
// Decisions use the IDs of a repository and its owner, the event, the ref and the workflow
// file. Names and the subject never decide, because they can change hands.
package identity
