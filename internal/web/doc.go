// Package web is how the memory of a project looks: pages of HTML that say everything
// without script, and charts that come alive with it. A page is a view, a struct of what
// it says; Render writes it. All that is shown is escaped by html/template, and pages
// load nothing but their own assets, so that the strictest policy fits them.
//
// The package must not know where a view comes from, who may see it, nor HTTP beyond
// handing out its assets.
package web
