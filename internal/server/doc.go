// Package server is pawld over HTTP: the API under /v1, whose contract is
// openapi.yaml beside this file, the pages, and who may see and do what. Every route
// stands in one table (routes.go) with the right that it needs; a handler is called with
// a project that the visitor may use, or not at all.
//
// The package must not know how anything is kept, nor what a change in a history means.
package server
