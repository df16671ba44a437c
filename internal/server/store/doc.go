// Package store keeps what a server knows in PostgreSQL: reports with their series and files, projects,
// and access rights. Only this package, its subpackages and package queue use pgx.
//
//	pg          connects, and binds each statement to a project
//	migrations  the schema
//	pointstore  the points of series: hot rows, tiles, partitions
//	eventstore  changes found in histories, and what people decided about them
//	fsck        checks everything that is stored
//	rowcache    caches of rows that do not change
//	db          plain SQL of queries/, generated and checked by sqlc
//
// The methods of a pointstore.Store and of an eventstore.Store are methods of a Store. SQL that sqlc cannot
// express is written by hand: a report as one statement over arrays, batches in one round trip, lists with
// composed conditions, and tiles.
//
// The package must not know HTTP, nor what a change in a history means.
package store
