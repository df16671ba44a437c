//go:build !race

package github_test

const detecting = false
