package trial

import "math/rand/v2"

// orders yields the order of k sides for each round. Position matters: the first
// process of a round gets a cooler device than the second. So every block of rounds is
// balanced, and only the choice among balanced blocks is random:
//
//   - two sides alternate as AB BA or BA AB, block by block;
//   - more sides follow the rows of a Williams square, in which every side is in every
//     position equally often and follows every other side equally often, with the
//     sides renamed and the rows shuffled at random.
type orders struct {
	k   int
	rng *rand.Rand
	row [][]int // remaining rows of the current block
}

func newOrders(k int, seed uint64) *orders {
	return &orders{k: k, rng: rand.New(rand.NewPCG(seed, streamOrder))}
}

// Streams keep the random choices of one seed independent of each other.
const (
	streamOrder = 1 + iota
	streamRounds
)

func (o *orders) next() []int {
	if len(o.row) == 0 {
		o.row = o.block()
	}
	row := o.row[0]
	o.row = o.row[1:]
	return row
}

func (o *orders) block() [][]int {
	square := williams(o.k)
	names := o.rng.Perm(o.k)
	for _, row := range square {
		for i := range row {
			row[i] = names[row[i]]
		}
	}
	o.rng.Shuffle(len(square), func(i, j int) { square[i], square[j] = square[j], square[i] })
	return square
}

// Block returns the number of rounds that balances the given number of sides. After each
// block every side was in every position, and followed every other, equally often.
func Block(sides int) int { return len(williams(sides)) }

// williams returns a square that is balanced for position and for first-order carry-over,
// that is, for which side precedes which. It has k rows if k is even, 2k if odd.
func williams(k int) [][]int {
	if k <= 1 {
		return [][]int{make([]int, k)}
	}
	first := make([]int, k) // 0, 1, k-1, 2, k-2, ...
	for i, lo, hi := 1, 1, k-1; i < k; i++ {
		if i%2 == 1 {
			first[i] = lo
			lo++
		} else {
			first[i] = hi
			hi--
		}
	}
	var rows [][]int
	for shift := range k {
		row := make([]int, k)
		for i, v := range first {
			row[i] = (v + shift) % k
		}
		rows = append(rows, row)
	}
	if k%2 == 1 { // an odd square is balanced only together with its mirror
		for shift := range k {
			row := make([]int, k)
			for i, v := range rows[shift] {
				row[k-1-i] = v
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// roundSeed returns the seed of a round, independent of what happened before.
func roundSeed(seed uint64, round int) uint64 {
	return rand.New(rand.NewPCG(seed, streamRounds+uint64(round)<<8)).Uint64()
}
