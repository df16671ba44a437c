// Package fleet groups what spreads work over several machines. It must not know what is measured there.
package fleet
