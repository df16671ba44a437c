// Package improve has the command that searches for faster parameters: tune.
package improve
