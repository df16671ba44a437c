// Package db contains the code that sqlc generates from internal/server/store/queries: one function per query,
// checked against the schema. scripts/generate writes everything except this comment. It must not know
// access rights.
package db
