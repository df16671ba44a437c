// Package pointcodec stores points of a series compactly: up to 256 of them in compressed columns, identified
// by time and report. It packs the properties of a point into flags, merges and splits tiles, and thins
// out long histories for a chart without losing extremes.
//
// It is pure, and must not know where tiles are kept, nor what a change in them means.
package pointcodec
