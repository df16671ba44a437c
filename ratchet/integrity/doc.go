// Package integrity decides which measurements can be trusted. It reads only the record, never the
// measured process. The samples must agree with pawl's own clock outside the process, and no time
// may be below the physical minimum. A result too good to be true must be accepted by a person.
//
// It is pure, so that the same record always gives the same answer. It must not know how a process
// is run, nor what its results are compared with.
package integrity
