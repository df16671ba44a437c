// Package wake knows when a sleeping GPU host is needed: which jobs wait, which host can
// take them, what a day may cost. State.Step holds every rule and has no effects; around
// it stand a receiver of webhooks, a poller, a runner of the user's commands and a file
// that survives kill -9. It must not know what a job measures, nor any forge's API:
// whoever serves hands it the jobs of a repository.
package wake
