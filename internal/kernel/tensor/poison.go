package tensor

import "encoding/binary"

// Poison returns the content of an output before a kernel runs, so that an element that
// was never written can be recognized. The i-th 64-bit word is the i-th number of
// splitmix64 with the seed, with all but the sign and the lowest four bits of each 16
// replaced: every 16, 32 and 64 bits of it are a NaN in F16, BF16, F32 and F64. The last
// word is truncated. The harness protocol defines it bit by bit, because harnesses write
// it and pawl recognizes it.
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
