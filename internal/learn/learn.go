// Package learn uses what sessions taught: it ranks fixes by their outcomes, and reports the five
// measures of every session with what had been forecast.
//
// It joins journal, gates and lesson. It must not know how anything is measured, and it writes
// nothing but what it is asked for.
package learn
