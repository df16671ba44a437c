// Package remote is the pawl server that commands send to: its address, credentials, and live updates of a run.
package remote
