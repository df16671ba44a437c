// Package failpoint names the places where tests simulate a crash. In a normal build a
// failpoint does nothing. With the build tag failpoint, it kills the process or its database
// if the environment asks for it:
//
//	PAWLD_FAILPOINT=ingest.after-commit:3:self        kills this process the third time it is reached
//	PAWLD_FAILPOINT=ingest.after-commit:1:postgres    kills the process in PAWLD_FAILPOINT_PID
//	PAWLD_FAILPOINT_FILE=order                        reads "NAME:N:postgres PID" from a file at every failpoint,
//	                                                  and renames it to order.fired before it kills
//	PAWLD_FAILPOINT_CLOCK_FILE=clock                  moves the clock by the duration in a file: "1h", "-1h"
//
// The package must not know what the code around a failpoint does.
package failpoint

import "slices"

// names lists all failpoints. A test checks that each of them is used in the code.
var names = []string{
	// The store's transaction for a report, in the order of execution.
	"ingest.checked",       // nothing is written
	"ingest.series-known",  // rows of series and testbeds exist, the report does not
	"ingest.written",       // receipt, report and points are written, and may be committed
	"ingest.after-commit",  // the report is stored, the client has no reply, and no scan is requested
	"blob.noted",           // the row of a blob exists, the client has no reply
	"resolve.moved",        // points of a resolved commit are moved, not committed
	"resolve.after-commit", // one batch of reports is moved, others are pending
	"login.account",        // an account exists, its login does not
	"login.kept",           // the login is stored, the browser has no cookie
	"key.kept",             // a key is stored, the client has no reply
	"audit.before-commit",  // a line of the audit log is written, not committed
	"partition.made",       // a month has its partition, but no points
	"token.used",           // a CI token is used up, its report is not stored

	// Maintenance.
	"migrate.written", // a step is written, not committed
	"migrate.applied", // a step is applied, later steps are not
	"migrate.store",   // the store has its tables, the queue may not
	"queue.swept",     // lost work is found, no job is queued for it

	"compact.before-take",   // nothing is taken
	"compact.after-take",    // hot points are deleted, their tiles are not written, nothing is committed
	"compact.before-commit", // the tiles are written, not committed
	"compact.after-commit",  // one batch is in tiles, others are not
	"retain.before-commit",  // old runs are deleted, not committed
	"collect.rows-gone",     // rows of blobs are deleted, their bytes are not
	"collect.orphan",        // bytes without a row are found, not yet deleted
	"delete.marked",         // a project is marked for deletion, nothing is deleted
	"delete.emptied",        // one of its tables is empty, others are not
	"delete.blobs",          // the bytes of its blobs are deleted, their rows are not
	"delete.before-commit",  // only its own row is left

	// Sending a report: the client's spool and the server's blobs.
	"spool.begun",    // a report is being written and does not count yet
	"spool.written",  // it is complete, but not under its final name
	"spool.placed",   // it is queued, nothing of it is sent
	"push.blob-sent", // the server has a blob, but no report that names it
	"push.answered",  // the receipt has arrived, the report is still queued
	"spool.leaving",  // the report is no longer queued, its files still exist
	"blob.written",   // the bytes are complete, but not under their final name
	"blob.placed",    // they have their name, the folder is not flushed
	"blob.kept",      // they are flushed, but have no row

	// Scanning new results and sending alerts.
	"look.taken",          // nothing is dirty any more, not committed
	"look.events-written", // events of some series are written, not committed
	"look.groups-written", // groups of events are also written, not committed
	"look.before-commit",  // the last point without an effect
	"look.after-commit",   // everything is committed, the job is not done
	"tell.marked",         // event groups are marked as sent, no delivery is queued
	"tell.after-commit",   // deliveries are queued, the job is not done
	"deliver.sent",        // a hook has received its digest, the job is not done

	// A run of pawl, from a line of its journal to its record.
	"run.sealed",   // the digest of a line is in the seal, the line is not in the journal
	"run.recorded", // a round is in the journal
	"run.ended",    // the end is in the journal, there is no record
	"run.saved",    // there is a record, the gate has not ended
}

// Names returns the names of all failpoints in order.
func Names() []string { return slices.Clone(names) }
