// Package report says in words, tables and pictures what a run record holds and
// what the judge made of it. A Document is what is said, in order; there is one renderer
// a format: terminal, Markdown, HTML, PNG, JUnit XML, JSON. It computes only what is
// shown, never a verdict, and writes to whatever writer it is given. It must not
// measure, read devices or talk to a forge.
package report
