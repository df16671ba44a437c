// Package web renders the stored data of a project as HTML pages. The pages are complete without scripts;
// scripts make the charts interactive. A page is a view, a struct with its content; Render writes it.
// html/template escapes everything, and pages load only their own assets, so the strictest content security
// policy works.
//
// The package must not know where a view comes from, any access rights, nor HTTP beyond serving its assets.
package web
