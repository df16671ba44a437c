// Package report renders a run record and its verdict as text, tables and figures. A
// Document holds the content in order; each format has one renderer: terminal, Markdown,
// HTML, PNG, JUnit XML, JSON. Package summary has the numbers of a run, package roofline its
// kernels under the limits of their device. The package computes only what it shows, never a
// verdict, and writes to the writer it is given. It must not measure, read devices or talk to
// a forge.
package report
