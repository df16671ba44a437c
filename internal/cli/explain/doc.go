// Package explain has the commands that say why: profile, diagnose and device.
package explain
