// Package fleet runs gates on a whole fleet: Temporal, PostgreSQL, pawld, pawl-agent and pawl are real processes. It
// has no code of its own beside its tests.
package fleet
