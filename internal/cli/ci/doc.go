// Package ci has the commands that workflows run: comment, affected and cost.
package ci
