// Package client defines the types of the API between pawl and its server, and sends reports to it. A
// report is made from a run record, waits in a spool on disk, and is sent until the server acknowledges it.
//
// The types are those of the API; the server stores and shows its data in them. The package must not know
// how the server stores anything, nor how a suite is measured.
package client
