//go:build race

package github_test

// detecting says that the race detector watches: everything takes five times as long.
const detecting = true
