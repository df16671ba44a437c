package trial

import "math/rand/v2"

// orders gives the order of k sides for each round. Position matters: the first
// process of a round finds a cooler device than the second. So every block of rounds is
// balanced, and only the choice among balanced blocks is left to chance:
//
//   - two sides alternate as AB BA or BA AB, block by block;
//   - more follow the rows of a Williams square, in which every side stands in
//     every position equally often and behind every other side equally often, with the
//     sides renamed and the rows shuffled at random.
type orders struct {
	k   int
	rng *rand.Rand
	row [][]int // what is left of the current block
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

// Block is how many rounds balance so many sides: after each block of them every side
// stood in every place, and behind every other, equally often.
func Block(sides int) int { return len(williams(sides)) }

// williams is a square balanced for position and, for first-order carry-over,
// for which side precedes which: k rows when k is even, 2k when it is odd.
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

// roundSeed gives each round its own seed, the same whatever happened before.
func roundSeed(seed uint64, round int) uint64 {
	return rand.New(rand.NewPCG(seed, streamRounds+uint64(round)<<8)).Uint64()
}
