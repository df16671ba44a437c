// Package server serves pawld over HTTP: the API under /v1, whose contract is openapi.yaml in this folder,
// the pages, and access control. One table (routes.go) lists every route with the right that it needs. A
// handler runs only with a project that the caller may use.
//
// The package must not know how data is stored, nor what a change in a history means.
package server
