// Package client defines the API between pawl and its server, and implements a client for it: reports of
// runs, stored results, and events in their history. A report is made from a run record, waits in a spool
// on disk, and is sent until the server acknowledges it.
//
// The types are those of the API; the server stores and shows its data in them. The package must not know
// how the server stores anything, nor how a suite is measured.
package client
