// Package failpoint names the places where a crash is tried out. In a normal build a
// place is nothing at all; built with the tag failpoint, a process or its database is
// killed there when the environment says so:
//
//	PAWLD_FAILPOINT=ingest.before-commit:3:self       kills this process at the third passing
//	PAWLD_FAILPOINT=ingest.before-commit:1:postgres   kills the process in PAWLD_FAILPOINT_PID
//	PAWLD_FAILPOINT_FILE=order                        reads "NAME:N:postgres PID" from a file at every place,
//	                                                  and renames it to order.fired before it kills
//
// The package must not know what is done at the places.
package failpoint

import "slices"

// names are all places, each of which stands somewhere in the code: a test compares.
var names = []string{
	// The store's transaction of a report, in the order they are passed.
	"ingest.checked",       // nothing was written
	"ingest.series-known",  // rows of series and testbeds are there, the report is not
	"ingest.begun",         // the transaction is open
	"ingest.written",       // receipt, report and points are written, not committed
	"ingest.enqueued",      // so is the follow-up work
	"ingest.before-commit", // the last moment without an effect
	"ingest.after-commit",  // the report is kept, and nobody was told
	"blob.noted",           // a blob's row is there, and nobody was told
	"resolve.moved",        // points of a resolved commit were moved, not committed
	"resolve.after-commit", // a batch of reports has moved, others wait
	"login.account",        // an account was made, its login was not
	"login.kept",           // the login is there, and the browser has no cookie
	"key.kept",             // a key is there, and nobody was told it
	"audit.before-commit",  // a line of the audit log is written, not committed
	"partition.made",       // a month has its partition, and no point
	"token.used",           // a CI token is used up, its report is not kept

	// Keeping house.
	"migrate.written", // a step is written, not committed
	"migrate.applied", // a step is applied, those that follow are not
	"migrate.store",   // the store has its tables, the queue may not
	"queue.swept",     // what was forgotten is known, and no job asks for it

	"compact.before-take",   // nothing was taken
	"compact.after-take",    // hot points are deleted, their tiles are not written, nothing is committed
	"compact.before-commit", // the tiles are written, not committed
	"compact.after-commit",  // one portion is in tiles, others are not
	"retain.before-commit",  // old runs are deleted, not committed
	"collect.rows-gone",     // rows of blobs are gone, their bytes are not
	"collect.orphan",        // bytes that no row knows were found, and are there
	"delete.marked",         // a project is marked as going, and whole
	"delete.emptied",        // a table of it is empty, others are not
	"delete.blobs",          // bytes of its blobs are gone, their rows are not
	"delete.before-commit",  // only its own row is left

	// A report on its way: the sender's spool, and the server's blobs.
	"spool.begun",    // a report is being written, and does not count
	"spool.written",  // it is whole, and not under its name
	"spool.placed",   // it waits, and nothing of it was sent
	"push.blob-sent", // the server has a blob, and no report that names it
	"push.answered",  // the receipt came, and the report still waits
	"spool.leaving",  // the report waits no more, its files are there
	"blob.written",   // the bytes are whole, and not under their name
	"blob.placed",    // they are, and the folder is not flushed
	"blob.kept",      // they are flushed, and not noted

	// A look at what came in, and telling people of it.
	"look.taken",          // nothing is dirty any more, not committed
	"look.events-written", // events of some series are written, not committed
	"look.groups-written", // so are groups of events
	"look.before-commit",  // the last moment without an effect
	"look.after-commit",   // all is written, and the job is not done
	"tell.marked",         // people count as told, and no delivery is queued
	"tell.after-commit",   // deliveries are queued, the job is not done
	"deliver.sent",        // a hook has its digest, the job is not done
}

// Names lists the places in order.
func Names() []string { return slices.Clone(names) }
