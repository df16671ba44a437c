// Package wake decides when a sleeping GPU host is needed: which jobs wait, which host can take them,
// what a day may cost. State.Step contains all rules and has no side effects. Around it are a webhook
// receiver, a poller, a runner for the user's commands, and a file that survives kill -9. The package
// must not know what a job measures, nor any forge's API: the caller of Serve provides the jobs of a
// repository.
package wake
