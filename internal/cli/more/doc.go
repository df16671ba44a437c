// Package more has the commands that operators and harness authors need: wake, build and sdk.
package more
