package tensor

import "encoding/binary"

// Poison is what stands in an output before a kernel runs, so that an element which
// was never written can be told from one that was. Word i of 64 bits is the i-th
// number of splitmix64 under the seed, with all but the sign and the lowest four bits
// of each 16 replaced: every half, word and double of it is a NaN, in F16, BF16, F32
// and F64 alike. The last word is cut. The harness protocol fixes it bit by bit,
// because harnesses write it and pawl recognises it.
func Poison(seed uint64, n int) []byte {
	out := make([]byte, 0, n+8)
	for state := seed; len(out) < n; {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		out = binary.LittleEndian.AppendUint64(out, 0x7ff07ff07ff07ff0|z&0x800f800f800f800f)
	}
	return out[:n]
}
