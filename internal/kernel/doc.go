// Package kernel groups what belongs to one side of a comparison: the suite that describes it, how it is built and started,
// the device it runs on, and whether its results are correct. It must not know that there is another side, nor any
// verdict.
package kernel
