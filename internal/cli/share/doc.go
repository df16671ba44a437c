// Package share has the commands that show and send results: report and push.
package share
