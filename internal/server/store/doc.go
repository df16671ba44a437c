// Package store keeps reports in PostgreSQL: receipts, points, events, and access rights. Only
// this package and package queue use pgx. Every statement about a project runs in a transaction
// that names the project. Row security in the database, not this code, hides the rows of other
// projects.
//
// Plain SQL is in queries/ and is checked by sqlc (package db). Code that sqlc cannot express is
// written by hand: a report as one statement over arrays, batches in one round trip, lists with
// composed conditions, and tiles.
//
// The package must not know HTTP, nor what a change in a history means.
package store
