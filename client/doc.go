// Package client has the words that pawl and its server share, and speaks them:
// what is reported of a run, what is kept of it, what was found in its history. A
// report is made from a record, waits in a spool on disk, and is sent until the
// server has answered for it.
//
// The types are the API's: what the server stores and shows is said in them. The
// package must not know how the server keeps anything, nor how a suite is measured.
package client
