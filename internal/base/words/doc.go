// Package words formats numbers, names and sentences for people: one format for every number, and untrusted text made
// harmless for terminals and Markdown.
package words
