// Package tile knows how the points of a series rest: up to 256 of them in columns,
// compressed, told apart by when and in which report they were measured. It packs what
// is said of a point into flags, merges and splits tiles, and thins out long histories
// for a chart so that no extreme is lost.
//
// It is pure, and must not know where tiles are kept, nor what a change in them means.
package tile
