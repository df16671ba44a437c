// Package store keeps what reports say in PostgreSQL: receipts, points, events, and
// who may see them. With package queue it is the only place that knows pgx. Every
// statement about a project runs in a transaction that named it, and rows of others do
// not exist there: the database says so, not this code.
//
// What can be said in SQL alone stands in queries/ and is checked by sqlc (package db).
// Written by hand is what sqlc cannot say: a report as one statement over arrays, batches
// of one round trip, lists with conditions that are put together, tiles.
//
// The package must not know HTTP, nor what a change in a history means.
package store
