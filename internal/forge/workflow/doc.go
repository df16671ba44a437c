// Package workflow writes pawl's workflow files for GitHub Actions and checks workflows
// against security rules. It distinguishes unmodified from edited files. The rules keep a
// machine that runs kernels away from everything with write access.
//
// Tests apply the same rules to pawl's own files, and pawl doctor to the user's. The
// package reads and makes text; it must not know git, the network, or what a verdict is.
package workflow
