package pointcodec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

// Version is the first byte of a tile.
const Version = 1

// ErrCorrupt means that the bytes are not a tile.
var ErrCorrupt = errors.New("not a valid tile")

// maxRaw limits the unpacked size of a tile: a count, a unit, and for each point at most two long
// varints, one varint each for rounds and flags, and five numbers.
const maxRaw = 16 + MaxPoints*(2*binary.MaxVarintLen64+2*binary.MaxVarintLen32+5*4)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the CRC-32C checksum that is stored beside a tile.
func Sum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// Both are safe for concurrent use. They are created once and use little memory.
var (
	packer   = must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<15), zstd.WithEncoderLevel(zstd.SpeedBetterCompression)))
	unpacker = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxRaw), zstd.WithDecoderMaxWindow(1<<15)))
)

// must panics on an error. It is for options that are constants.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Encode packs 1 to MaxPoints points, sorted by Compare, into a tile.
//
// It writes columns one after the other, because values within a column are similar. Times use the
// coarsest unit that fits all, each as the difference from the previous one; reports likewise. Interval
// bounds are stored as the difference of their bits from the value's. The bytes of numbers are shuffled:
// all first bytes, then all second ones. The result is compressed with zstd.
func Encode(points []Point) ([]byte, error) {
	if err := check(points); err != nil {
		return nil, err
	}
	raw := binary.AppendUvarint(make([]byte, 0, 32*len(points)+32), uint64(len(points)))
	raw = appendTimes(raw, points)
	report := int64(0)
	for _, p := range points {
		raw = binary.AppendVarint(raw, p.Report-report)
		report = p.Report
	}
	for _, p := range points {
		raw = binary.AppendUvarint(raw, uint64(p.Rounds))
	}
	for _, p := range points {
		raw = binary.AppendUvarint(raw, uint64(p.Flags))
	}
	for _, c := range columns {
		raw = appendShuffled(raw, points, c)
	}
	return packer.EncodeAll(raw, []byte{Version}), nil
}

// units lists the units of commit times in microseconds, coarsest first.
var units = [...]int64{1_000_000, 1_000, 1}

func appendTimes(raw []byte, points []Point) []byte {
	unit := 0
	for _, p := range points {
		for p.At%units[unit] != 0 {
			unit++
		}
	}
	raw = append(raw, byte(unit))
	last := int64(0)
	for _, p := range points {
		at := p.At / units[unit]
		raw = binary.AppendVarint(raw, at-last)
		last = at
	}
	return raw
}

// column is one number of a point, as 32 bits that are small or similar between points.
type column struct {
	get func(Point) uint32
	set func(*Point, uint32)
}

// columns lists the columns in the order they are stored. An interval bound is near its value, and so is
// its bit pattern: positive numbers are ordered like their bits.
var columns = [...]column{
	{func(p Point) uint32 { return math.Float32bits(p.Value) }, func(p *Point, b uint32) { p.Value = math.Float32frombits(b) }},
	{func(p Point) uint32 { return fold(p.Value, p.Low) }, func(p *Point, b uint32) { p.Low = unfold(p.Value, b) }},
	{func(p Point) uint32 { return fold(p.Value, p.High) }, func(p *Point, b uint32) { p.High = unfold(p.Value, b) }},
	{func(p Point) uint32 { return math.Float32bits(p.Spread) }, func(p *Point, b uint32) { p.Spread = math.Float32frombits(b) }},
	{func(p Point) uint32 { return math.Float32bits(p.Baseline) }, func(p *Point, b uint32) { p.Baseline = math.Float32frombits(b) }},
}

// fold returns the difference of the bits of two numbers, zigzag encoded so that it is small in both
// directions.
func fold(from, to float32) uint32 {
	d := math.Float32bits(to) - math.Float32bits(from)
	return d<<1 ^ uint32(int32(d)>>31)
}

func unfold(from float32, folded uint32) float32 {
	d := folded>>1 ^ -(folded & 1)
	return math.Float32frombits(math.Float32bits(from) + d)
}

func appendShuffled(raw []byte, points []Point, c column) []byte {
	for plane := range 4 {
		for _, p := range points {
			raw = append(raw, byte(c.get(p)>>(8*(3-plane))))
		}
	}
	return raw
}

// Decode unpacks a tile. For any input it uses little memory, and its result is valid input for Encode.
func Decode(data []byte) ([]Point, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrCorrupt)
	}
	if data[0] != Version {
		return nil, fmt.Errorf("%w: it has version %d, this pawl reads version %d", ErrCorrupt, data[0], Version)
	}
	raw, err := unpacker.DecodeAll(data[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	r := reader{rest: raw}
	n := r.unsigned(MaxPoints)
	if n == 0 || r.bad {
		return nil, fmt.Errorf("%w: it has no points, or too many", ErrCorrupt)
	}
	points := make([]Point, n)
	r.times(points)
	report := int64(0)
	for i := range points {
		report = r.add(report)
		points[i].Report = report
	}
	for i := range points {
		points[i].Rounds = int32(r.unsigned(math.MaxInt32))
	}
	for i := range points {
		points[i].Flags = Flags(r.unsigned(allBits))
	}
	for _, c := range columns {
		r.shuffled(points, c)
	}
	if r.bad || len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: its columns do not match", ErrCorrupt)
	}
	if err := check(points); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return points, nil
}

// reader reads columns from unpacked bytes. After an error it stays bad and returns zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) fail() {
	r.bad, r.rest = true, nil
}

func (r *reader) unsigned(limit uint64) uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > limit {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// add reads a difference and refuses a sum that overflows int64.
func (r *reader) add(to int64) int64 {
	d, n := binary.Varint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	sum := to + d
	if (sum > to) != (d > 0) {
		r.fail()
		return 0
	}
	return sum
}

func (r *reader) times(points []Point) {
	unit := r.unsigned(uint64(len(units) - 1))
	last := int64(0)
	for i := range points {
		last = r.add(last)
		high, low := bits.Mul64(uint64(max(last, -last)), uint64(units[unit]))
		if high != 0 || low > maxAt {
			r.fail()
			return
		}
		points[i].At = last * units[unit]
	}
}

func (r *reader) shuffled(points []Point, c column) {
	n := len(points)
	if len(r.rest) < 4*n {
		r.fail()
		return
	}
	for i := range points {
		c.set(&points[i], uint32(r.rest[i])<<24|uint32(r.rest[n+i])<<16|uint32(r.rest[2*n+i])<<8|uint32(r.rest[3*n+i]))
	}
	r.rest = r.rest[4*n:]
}
